"""Compares the rights that were used with those that are granted, both ways, in sentences."""

from collections.abc import Mapping

from tests.rights.rbac import FILE, OPTIONS, Right, filled, granted
from tests.rights.used_rights import ANYONE, DRAINER, PLANNER

Rights = Mapping[str, set[Right] | frozenset[Right]]
OF_PEOPLE = frozenset(
    {
        Right("create", "authorization.k8s.io", "selfsubjectaccessreviews"),
        Right("get", "admissionregistration.k8s.io", "validatingadmissionpolicies"),
        Right("get", "admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        Right("get", "rbac.authorization.k8s.io", "clusterroles"),
        Right("get", "rbac.authorization.k8s.io", "clusterrolebindings"),
    }
)
"""What only a person asks for, with rights of his own: `ebb doctor`."""
_FILE = f"{FILE.parent.name}/{FILE.name}"


def lacking(used: Rights, grants: Rights) -> list[str]:
    """Say what was used and is not granted; whoever is not named may have been either function."""
    anyone = OF_PEOPLE.union(*grants.values())
    allowed = {**grants, ANYONE: anyone}
    return [
        f"{identity} used `{right}`, which {_FILE} does not grant"
        for identity, rights in sorted(used.items())
        for right in sorted(set(rights) - allowed[identity])
    ]


def idle(used: Rights, grants: Rights, file: str = _FILE) -> list[str]:
    """Say what is granted and was never used."""
    return [
        f"{file} grants {identity} `{right}`, which no test ever saw it use"
        for identity in (PLANNER, DRAINER)
        for right in sorted(grants.get(identity, frozenset()) - used.get(identity, frozenset()))
    ]


def idle_options(used: Rights) -> list[str]:
    """Say what an option grants and nobody ever used, whoever it was."""
    by_anyone = {each: frozenset(used.get(each, ())) | frozenset(used.get(ANYONE, ())) for each in (PLANNER, DRAINER)}
    emails = {"planner": PLANNER, "drainer": DRAINER}
    granting = {f"infra/options/{name}.yaml": filled(file, **emails) for name, file in OPTIONS.items()}
    return [said for file, text in granting.items() for said in idle(by_anyone, granted(text), file)]
