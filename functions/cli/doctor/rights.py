"""What the functions must be allowed in the cluster, read from the files that grant it. Must not ask the API."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, NamedTuple

FENCES: Final = ("ebb-drainer-nodes", "ebb-drainer-evictions")
"""The policies of infra/admission.yaml."""


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
    from yaml import safe_load_all

    text = files("infra").joinpath(file).read_text(encoding="utf-8")
    roles = (each for each in safe_load_all(text) if each["kind"] == "ClusterRole")
    return {each["metadata"]["name"].removeprefix("ebb-"): _of(each["rules"]) for each in roles}


def _of(rules: list[dict[str, Any]]) -> tuple[Right, ...]:
    return tuple(
        Right(verb, group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    )
