"""The rights of the functions: as the shipped files have them, as the cluster has them, and those of options."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from functions.cli.doctor.installation import CheckResult, InstallationParts, RightsReview, ok, warn
from functions.cli.output.format import count
from shared.core.cluster.names import SURGE
from shared.core.policy import Policy, PoolPolicy, SingleReplicas
from shared.core.rules.surges import FORBIDS
from shared.errors import Forbidden, Gone

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
    return {(thing["kind"], thing["metadata"]["name"]): thing for thing in safe_load_all(text)}


def rights_in(role: Mapping[str, Any]) -> tuple[Right, ...]:
    """Return what a ClusterRole grants, in its order; a path of the API server itself stands as a resource."""
    return tuple(
        Right(verb, group, resource)
        for rule in role.get("rules") or ()
        for group in rule.get("apiGroups") or ("",)
        for resource in (*(rule.get("resources") or ()), *(rule.get("nonResourceURLs") or ()))
        for verb in rule["verbs"]
    )


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
"""Whose name a placeholder became where no binding shows it; one that was never filled in limits nobody."""
_UNSAID: Final = {"matchPolicy": "Equivalent", "scope": "*"} | dict.fromkeys(
    (
        *("excludeResourceRules", "matchConditions", "matchResources", "namespaceSelector", "objectSelector"),
        *("paramKind", "paramRef", "resourceNames", "variables"),
    ),
    "",
)
"""What a file leaves unsaid, with the API server's default for it: anything else changes which users it limits.

Source: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/validating-admission-policy-v1/
"""


@dataclass(frozen=True)
class PolicyCheck:
    """Admission policies of a file: the names of missing ones, and a finding for each that differs."""

    missing: tuple[str, ...]
    differing: tuple[CheckResult, ...]


def admission_policies(check: str, file: str, reviews: RightsReview) -> PolicyCheck:
    """Compare the admission policies that stand with a file's; one that nothing binds is missing. Raises Forbidden."""
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
    return PolicyCheck(tuple(missing), tuple(differing))


def roles(check: str, file: str, reviews: RightsReview) -> Iterator[CheckResult]:
    """Report which ClusterRoles grant more than a file's; other checks find what they lack. Raises Forbidden."""
    for name in _names(_ROLE, file):
        granted = rights_in(_standing(_ROLE, name, reviews) or {})
        if more := sorted({str(right) for right in {*granted} - {*rights_in(manifests(file)[_ROLE, name])}}):
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


def _fill_in(shipped: Any, identities: Mapping[str, str]) -> Any:
    text = json.dumps(shipped)
    for placeholder, name in identities.items():
        text = text.replace(placeholder, json.dumps(name)[1:-1])
    return json.loads(text)


def _again(file: str) -> str:
    return (
        f"Apply infra/{file} again, as its comment shows, or by terraform apply where the submodule rbac made it; "
        "if ebb is older than the functions, renew ebb."
    )


def _differs(
    check: str, file: str, key: tuple[str, str], standing: Mapping[str, Any], identities: Mapping[str, str]
) -> Iterator[CheckResult]:
    shipped = _fill_in(manifests(file)[key]["spec"], identities)
    if fields := list(_differing(shipped, standing.get("spec") or {})):
        kind, name = key
        whose = f"The binding of {name}" if kind == _BINDING else name
        weighs = "it may refuse what Ebb writes, or let through more than it should"
        sentence = f"{whose} is not as this version of ebb ships it ({', '.join(fields)}): {weighs}."
        yield warn(check, sentence, _again(file))


def _differing(shipped: Mapping[str, Any], standing: Mapping[str, Any]) -> Iterator[str]:
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
        return isinstance(standing, list) and len(shipped) == len(standing) and all(map(_agrees, shipped, standing))
    if isinstance(shipped, str) and isinstance(standing, str):
        return re.fullmatch(_FILLED.join(map(re.escape, _PLACEHOLDER.split(shipped))), standing) is not None
    return bool(shipped == standing)


def _all_fields_agree(shipped: Mapping[str, Any], standing: Any) -> bool:
    """Whether two objects mean the same; one that is shipped empty, as a selector of everything, stands empty."""
    if not isinstance(standing, Mapping) or (standing and not shipped):
        return False
    return not any(_differing(shipped, standing))


NAME: Final = "optional_rights"
_WIDE: Final = Right("delete", "", "pods")


@dataclass(frozen=True, slots=True)
class Option:
    """A file of infra/options: whose the right is, and what of a pool's policy asks for it."""

    name: str
    function: str
    field: str
    is_on: Callable[[PoolPolicy], bool]

    @property
    def file(self) -> str:
        return f"infra/options/{self.name}.yaml"


OPTIONS: Final = (
    Option("steer", "planner", "steerScaleIn: true", lambda pool: pool.steer_scale_in),
    Option("surge", "drainer", "singleReplicas: surge", lambda pool: pool.single_replicas is SingleReplicas.SURGE),
)


def optional_rights(policy: Policy, parts: InstallationParts) -> Iterable[CheckResult]:
    """Look at each option; an API server that reviews no rights, as the simulated GKE's, ends it."""
    reviews = parts.reviews()
    try:
        wide = reviews.may(*_WIDE)
        for option in OPTIONS:
            need = _asked_by_pools(option, policy)
            if option.name == "surge" and not need and not wide:
                need = _asked_by_annotations(policy, parts)
            yield from _check_found(option, need, reviews, wide=wide)
    except Gone:
        return


def _check_found(option: Option, need: str, reviews: RightsReview, *, wide: bool) -> Iterator[CheckResult]:
    lacking = [str(right) for right in rights_of_option(option.name) if not reviews.may(*right)]
    if need and lacking:
        yield warn(NAME, f"{need}, and this identity may not: {'; '.join(lacking)}.", _apply(option))
    elif need:
        yield ok(NAME, f"{need}, and this identity may.")
    elif not lacking and not wide:
        remedy = f"Delete what {option.file} made, as its comment shows, or drop {option.name} from optional_rights."
        yield warn(NAME, f"This identity has the right of {option.file}, and nothing asks for it.", remedy)
    yield from _stands(option, reviews, needed=bool(need) and not lacking)


def _stands(option: Option, reviews: RightsReview, *, needed: bool) -> Iterator[CheckResult]:
    """Report what is not this version's; a missing admission policy only where it is needed."""
    file = f"options/{option.name}.yaml"
    try:
        found = admission_policies(NAME, file, reviews)
        if needed and found.missing:
            sentence = f"{', '.join(found.missing)} missing: nothing limits the right of {option.file}."
            yield warn(NAME, sentence, _apply(option))
        yield from found.differing
        yield from roles(NAME, file, reviews)
    except Forbidden:
        return  # the check of the other admission policies has shown it


def _apply(option: Option) -> str:
    return f"Apply {option.file}, as its comment shows; if you ran it as a person, run it as the {option.function}."


def _asked_by_pools(option: Option, policy: Policy) -> str:
    pools = sorted(name for name, pool in policy.pools.items() if pool.enabled and option.is_on(pool))
    return f"{option.field} is on in {', '.join(pools)}" if pools else ""


def _asked_by_annotations(policy: Policy, parts: InstallationParts) -> str:
    """The policy's `never` holds against annotations."""
    if all(pool.single_replicas is SingleReplicas.NEVER for pool in policy.pools.values() if pool.enabled):
        return ""
    found = filter(None, (workload.deployment for workload in parts.cluster().read().workloads.values()))
    asking = {deployment.name for deployment in found if deployment.wish not in {"", FORBIDS}}
    return f"{count(len(asking), 'Deployment')} with the annotation {SURGE}" if asking else ""
