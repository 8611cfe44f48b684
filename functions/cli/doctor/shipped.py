"""Whether the policies and roles that stand are those that this version ships in infra.

After an upgrade an older fence refuses what Ebb writes, or lets through more than it should. What a file states is
compared, for the API server writes defaults beside it. Must not judge whether rights suffice: that is asked elsewhere.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from functions.cli.doctor.findings import CheckResult, warn
from functions.cli.doctor.installation import RightsReview
from functions.cli.doctor.rights import manifests, rights_in
from shared.errors import Forbidden

_POLICY: Final = "ValidatingAdmissionPolicy"
_BINDING: Final = "ValidatingAdmissionPolicyBinding"
_ROLE: Final = "ClusterRole"
_ROLE_BINDING: Final = "ClusterRoleBinding"
_SERVED: Final = {
    _POLICY: ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    _BINDING: ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    _ROLE: ("rbac.authorization.k8s.io", "clusterroles"),
    _ROLE_BINDING: ("rbac.authorization.k8s.io", "clusterrolebindings"),
}
_HELD_BY: Final = {"${drainer}": "ebb-drainer", "${planner}": "ebb-planner"}
"""The ClusterRoleBinding whose subject each placeholder is."""
_PLACEHOLDER: Final = re.compile(re.escape("${") + r"\w+}")
_FILLED: Final = "[^'$]+"
"""Whose name a placeholder became where no binding shows it; one that was never filled in fences nobody."""
_UNSAID: Final = {"matchPolicy": "Equivalent", "scope": "*"} | dict.fromkeys(
    (
        *("excludeResourceRules", "matchConditions", "matchResources", "namespaceSelector", "objectSelector"),
        *("paramKind", "paramRef", "resourceNames", "variables"),
    ),
    "",
)
"""What a file leaves unsaid, with the API server's default for it: anything else there changes whom the fence holds.

Source: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/validating-admission-policy-v1/
"""


@dataclass(frozen=True)
class Fences:
    """Of the fences of a file: those that are missing, by name, and a finding for each that is another one."""

    missing: tuple[str, ...]
    differing: tuple[CheckResult, ...]


def fences(check: str, file: str, reviews: RightsReview) -> Fences:
    """Compare the admission policies that stand with those of a file of infra; one that nothing binds is missing.

    Raises:
        Forbidden: the one who asks may not see them. Retryable, Terminal: the API server does not say.
    """
    missing: list[str] = []
    differing: list[CheckResult] = []
    identities = dict(_identities(reviews))
    for name in _names(_POLICY, file):
        policy, binding = (_standing(kind, name, reviews) for kind in (_POLICY, _BINDING))
        if policy is None or binding is None:
            missing.append(name)
        else:
            differing += _differs(check, file, (_POLICY, name), policy, identities)
            differing += _differs(check, file, (_BINDING, name), binding, identities)
    return Fences(tuple(missing), tuple(differing))


def roles(check: str, file: str, reviews: RightsReview) -> Iterator[CheckResult]:
    """Say which ClusterRoles grant more than those of a file of infra; what they lack is asked elsewhere.

    Raises:
        Forbidden: the one who asks may not see them. Retryable, Terminal: the API server does not say.
    """
    for name in _names(_ROLE, file):
        granted = rights_in(_standing(_ROLE, name, reviews) or {})
        if more := sorted({str(each) for each in {*granted} - {*rights_in(manifests(file)[_ROLE, name])}}):
            sentence = f"{name} grants more than this version of ebb ships: {'; '.join(more)}."
            yield warn(check, sentence, _again(file))


def _names(kind: str, file: str) -> list[str]:
    return [name for found, name in manifests(file) if found == kind]


def _standing(kind: str, name: str, reviews: RightsReview) -> Mapping[str, Any] | None:
    return reviews.standing(*_SERVED[kind], name)


def _identities(reviews: RightsReview) -> Iterator[tuple[str, str]]:
    """Yield whose name each placeholder is, where the binding of the role shows one."""
    for placeholder, name in _HELD_BY.items():
        try:
            binding = _standing(_ROLE_BINDING, name, reviews)
        except Forbidden:
            continue
        subjects: list[Mapping[str, Any]] = list((binding or {}).get("subjects") or [])
        if len(subjects) == 1:
            yield placeholder, str(subjects[0].get("name", ""))


def _filled(shipped: Any, identities: Mapping[str, str]) -> Any:
    """Return what a file states with the names filled in."""
    if isinstance(shipped, Mapping):
        return {name: _filled(value, identities) for name, value in shipped.items()}
    if isinstance(shipped, list):
        return [_filled(value, identities) for value in shipped]
    for placeholder, name in identities.items() if isinstance(shipped, str) else ():
        shipped = shipped.replace(placeholder, name)
    return shipped


def _again(file: str) -> str:
    return (
        f"Apply infra/{file} again, as its comment says, or by terraform apply where the submodule rbac made it; "
        "if ebb is older than the functions, renew ebb."
    )


def _differs(
    check: str, file: str, key: tuple[str, str], standing: Mapping[str, Any], identities: Mapping[str, str]
) -> Iterator[CheckResult]:
    shipped = _filled(manifests(file)[key]["spec"], identities)
    if fields := list(_differing(shipped, standing.get("spec") or {})):
        kind, name = key
        whose = f"The binding of {name}" if kind == _BINDING else name
        weighs = "it may refuse what Ebb writes, or let through more than it should"
        sentence = f"{whose} is not as this version of ebb ships it ({', '.join(fields)}): {weighs}."
        yield warn(check, sentence, _again(file))


def _differing(shipped: Mapping[str, Any], standing: Mapping[str, Any]) -> Iterator[str]:
    """Return the fields that say something else than what is shipped."""
    for name, value in shipped.items():
        if not _agrees(value, standing.get(name)):
            yield name
    for name, default in _UNSAID.items():
        if name not in shipped and standing.get(name) and standing[name] != default:
            yield name


def _agrees(shipped: Any, standing: Any) -> bool:
    if isinstance(shipped, Mapping):
        return _all_fields_agree(shipped, standing or {})
    if isinstance(shipped, list):
        return isinstance(standing, list) and _all_agree(shipped, standing)
    if isinstance(shipped, str) and isinstance(standing, str):
        return re.fullmatch(_FILLED.join(map(re.escape, _PLACEHOLDER.split(shipped))), standing) is not None
    return bool(shipped == standing)


def _all_fields_agree(shipped: Mapping[str, Any], standing: Any) -> bool:
    """Whether two objects say the same; one that is shipped empty, as a selector of everything, stands empty."""
    if not isinstance(standing, Mapping) or (standing and not shipped):
        return False
    return not any(_differing(shipped, standing))


def _all_agree(shipped: list[Any], standing: list[Any]) -> bool:
    return len(shipped) == len(standing) and all(map(_agrees, shipped, standing))
