"""What an API server holds once infra's files are applied: names filled in, its own defaults beside what they state."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.rights.rbac import FILE, OPTIONS, filled, objects

Raw = dict[str, Any]
Key = tuple[str, str]  # A resource with its group, and a name.
ADMISSION = FILE.with_name("admission.yaml")
_PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
}
POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
ROLES = "clusterroles.rbac.authorization.k8s.io"


def applied(*files: Path, **emails: str) -> dict[Key, Raw]:
    """Return the objects of those files as the API server holds them; a test may change what it is given."""
    found = (thing for file in files for thing in objects(filled(file, **emails)))
    return keyed(map(_defaulted, found))


def keyed(found: Iterable[Raw]) -> dict[Key, Raw]:
    return {(_resource(raw), raw["metadata"]["name"]): raw for raw in found}


def everything() -> dict[Key, Raw]:
    return applied(ADMISSION, FILE, *OPTIONS.values())


def fences_of(*files: Path) -> frozenset[str]:
    return frozenset(name for resource, name in applied(*files) if resource == POLICIES)


def _resource(raw: Raw) -> str:
    return f"{_PLURALS[raw['kind']]}.{raw['apiVersion'].partition('/')[0]}"


def _defaulted(raw: Raw) -> Raw:
    """Write beside it what a real API server does; tests/real holds its answers against the same comparison."""
    raw["metadata"] |= {"uid": "u", "resourceVersion": "1", "generation": 1, "managedFields": []}
    constraints = raw.get("spec", {}).get("matchConstraints")
    if constraints:
        constraints |= {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
        for rule in constraints["resourceRules"]:
            rule["scope"] = "*"
        raw["status"] = {"observedGeneration": 1, "typeChecking": {}}
    return raw
