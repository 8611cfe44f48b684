"""RBAC's words for what is asked of the Kubernetes API, and the rights that `infra/rbac.yaml` and the options grant.

Shares no code with the adapters: the request itself is read, not what the adapter calls it.
"""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import yaml

FILE = Path(__file__).resolve().parents[2] / "infra" / "rbac.yaml"
OPTIONS = {path.stem: path for path in sorted((FILE.parent / "options").glob("*.yaml"))}
"""Files with rights that only somebody who wants an option applies."""
PLACEHOLDERS = ("planner", "drainer")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Right(NamedTuple):
    """One verb on one resource; a subresource is written as RBAC writes it, `pods/eviction`."""

    verb: str
    group: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*text.split(" "))

    def __str__(self) -> str:
        return f"{self.verb} {self.group} {self.resource}"


@lru_cache(maxsize=100_000)
def right_of(method: str, path: str) -> Right:
    """Return the right that a request needs.

    Source: https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb

    Raises:
        ValueError: the path names no resource of the API.
    """
    root, *rest = urlsplit(path).path.strip("/").split("/")
    group, rest = (rest[0], rest[2:]) if root == "apis" and len(rest) > 2 else ("", rest[1:])
    if root not in {"api", "apis"} or not rest:
        raise ValueError(f"{method} {path} names no resource of the Kubernetes API")
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource = "/".join([rest[0], *rest[2:]])
    read = "get" if len(rest) > 1 else "list"
    many = "deletecollection" if method == "DELETE" and len(rest) == 1 else ""
    return Right(many or _VERBS.get(method, read), group, resource)


def is_discovery(path: str) -> bool:
    """Whether the request asks which kinds there are, which everybody may who has credentials.

    Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#discovery-roles (system:discovery).
    """
    root, *rest = urlsplit(path).path.strip("/").split("/")
    return root == "apis" and len(rest) <= len(("group", "version"))


def filled(file: Path = FILE, /, **emails: str) -> str:
    """Return a file with its placeholders replaced, as its comment tells to."""
    text = file.read_text(encoding="utf-8")
    for name in PLACEHOLDERS:
        text = text.replace(f"${{{name}}}", emails.get(name, f"{name}@example.com"))
    return text


def objects(text: str) -> list[dict[str, Any]]:
    """Return the objects of a file; a test may change what it is given."""
    return deepcopy(_parsed(text))


@cache
def _parsed(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def granted(text: str) -> Mapping[str, frozenset[Right]]:
    """Return the rights of each subject by the subject's name."""
    found = objects(text)
    roles = {thing["metadata"]["name"]: _rights(thing) for thing in found if thing["kind"] == "ClusterRole"}
    bindings = [thing for thing in found if thing["kind"] == "ClusterRoleBinding"]
    return {
        subject["name"]: roles[binding["roleRef"]["name"]] for binding in bindings for subject in binding["subjects"]
    }


def with_options(**emails: str) -> Mapping[str, frozenset[Right]]:
    """Return the rights of each subject where every option is applied, too."""
    found = [granted(filled(file, **emails)) for file in (FILE, *OPTIONS.values())]
    names = {name for rights in found for name in rights}
    return {name: frozenset().union(*(rights.get(name, frozenset()) for rights in found)) for name in names}


def _rights(role: Mapping[str, Any]) -> frozenset[Right]:
    return frozenset(
        Right(verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    )
