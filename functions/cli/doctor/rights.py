"""What the functions must be allowed in the cluster, read from the files that grant it. Must not ask the API."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

OPTIONAL_GROUPS: Final = frozenset({"autoscaling.k8s.io", "autoscaling.x-k8s.io", "cloud.google.com"})
"""API groups that only some clusters have: elsewhere nothing is read of them, and no right is missed."""


class Right(NamedTuple):
    """A verb on a resource in RBAC's words; a subresource as RBAC writes it, `pods/eviction`."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


def rights() -> Mapping[str, tuple[Right, ...]]:
    """Return the rights of planner and drainer, in the order of infra/rbac.yaml."""
    return _roles("rbac.yaml")


def rights_of_option(name: str) -> tuple[Right, ...]:
    """Return what a function needs besides where the policy has that option on (infra/options)."""
    return next(iter(_roles(f"options/{name}.yaml").values()))


def _roles(file: str) -> Mapping[str, tuple[Right, ...]]:
    roles = {name: role for (kind, name), role in manifests(file).items() if kind == "ClusterRole"}
    return {name.removeprefix("ebb-"): rights_in(role) for name, role in roles.items()}


@cache
def manifests(file: str) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the objects of a file of infra, by kind and name, in its order, placeholders and all."""
    from yaml import safe_load_all

    text = files("infra").joinpath(file).read_text(encoding="utf-8")
    return {(each["kind"], each["metadata"]["name"]): each for each in safe_load_all(text)}


def rights_in(role: Mapping[str, Any]) -> tuple[Right, ...]:
    """Return what a ClusterRole grants, in its order; a path of the API server itself stands as a resource."""
    return tuple(
        Right(verb, group, resource)
        for rule in role.get("rules") or ()
        for group in rule.get("apiGroups") or ("",)
        for resource in (*(rule.get("resources") or ()), *(rule.get("nonResourceURLs") or ()))
        for verb in rule["verbs"]
    )
