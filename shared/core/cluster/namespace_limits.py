"""What namespaces limit: LimitRanges, ResourceQuotas, and what follows for a pod that comes back.

A LimitRange changes or refuses a pod only when it is created. A ResourceQuota counts a pod that ends until it is gone:
with a quota that is used up the next pod comes only then, and with one that is exceeded none comes.
Source: kubernetes, plugin/pkg/admission/limitranger; apiserver, pkg/admission/plugin/resourcequota.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from typing import Final, TypeVar

from shared.core.cluster.names import Namespaced
from shared.core.cluster.requests import Container, ContainerRequests, pod_requests
from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources, total


@dataclass(frozen=True, slots=True)
class LimitItem:
    """One row of a LimitRange: about each container, or about the pod as a whole."""

    of_pod: bool = False
    least: Resources = NOTHING
    most: Resources = NOTHING
    ratios: Mapping[str, Fraction] = field(default_factory=dict)
    """How many times its request a limit may be, by resource."""
    default_requests: Resources = NOTHING
    default_limits: Resources = NOTHING
    """As the API server completes them: from `max`, from the default limits, from `min`."""


@dataclass(frozen=True, slots=True)
class LimitRange(Namespaced):
    items: tuple[LimitItem, ...] = ()

    def refuses(
        self, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
    ) -> Iterator[str]:
        """Yield why the range would refuse a pod that is `sent` so."""
        # `limits_of` names the containers whose limits are known.
        # Webhooks wrote `written`: they respect a LimitRange when they lower a request, and not when they raise it.
        for item in self.items:
            for low, high in _measure_row(item, sent, written, limits_of):
                yield from _find_breaches(item, low, high)


def _with_defaults(rows: Sequence[LimitItem], container: Container) -> Container:
    return replace(
        container,
        requests=_with_missing(container.requests, (row.default_requests for row in rows)),
        limits=_with_missing(container.limits, (row.default_limits for row in rows)),
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    name: str
    requests: Resources
    limits: Resources
    known: bool  # Whether it has no other limits than these.


def _measure_row(
    item: LimitItem, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
) -> Iterator[tuple[_Measured, _Measured]]:
    """Yield each thing that a row measures, with what it requests at least and at most."""
    if item.of_pod:
        if sent.containers and not sent.pod_level.amounts:
            known = all(container.name in limits_of for container in sent.containers)
            yield _whole(written, known=known), _whole(sent, known=known)
        return
    for low, high in zip(written.containers, sent.containers, strict=True):
        about, known = f"container {low.name}", low.name in limits_of
        yield _Measured(about, low.requests, low.limits, known), _Measured(about, high.requests, high.limits, known)


def _whole(made: ContainerRequests, *, known: bool) -> _Measured:
    limits = pod_requests(replace(row, requests=row.limits) for row in made.containers)
    return _Measured("the pod", pod_requests(made.containers), limits, known)


def _find_breaches(item: LimitItem, low: _Measured, high: _Measured) -> Iterator[str]:
    for name, least in item.least.amounts:
        if low.requests.get(name) < least or 0 < low.limits.get(name) < least:
            yield f"{low.name} requests less {name} than the minimum"
    # A known limit of none is above every maximum and ratio.
    for name, most in item.most.amounts:
        limit = high.limits.get(name)
        if max(high.requests.get(name), limit) > most or (high.known and not limit):
            yield f"{low.name} requests more {name} than the maximum"
    for name, ratio in item.ratios.items():
        limit = high.limits.get(name)
        if limit > high.requests.get(name) * ratio or (high.known and not limit):
            yield f"{low.name} has a limit of {name} too far above its request"


def _with_missing(given: Resources, defaults: Iterable[Resources]) -> Resources:
    return Resources.of(dict(reduce(Resources.largest, defaults, NOTHING).amounts) | dict(given.amounts))


COUNTS: Final = ("pods", "count/pods")
LIMITS: Final = "limits."
_REQUIRED: Final = (CPU, MEMORY)  # What each container must request, if a quota counts it.


class ScopeName(StrEnum):
    """Which pods a quota counts (scopes and scopeSelector)."""

    TERMINATING = "Terminating"
    NOT_TERMINATING = "NotTerminating"
    BEST_EFFORT = "BestEffort"
    NOT_BEST_EFFORT = "NotBestEffort"
    PRIORITY_CLASS = "PriorityClass"
    CROSS_NAMESPACE_AFFINITY = "CrossNamespacePodAffinity"


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """One condition; all of a quota must hold. Operator and values are about priority classes."""

    name: str
    operator: str = "Exists"
    values: frozenset[str] = frozenset()

    def holds(self, requested: Mapping[str, int], priority_class: str) -> bool:
        """Whether a pod may be in scope; what is not known counts as in scope."""
        empty = not any(name not in COUNTS and amount for name, amount in requested.items())
        if self.name == ScopeName.PRIORITY_CLASS:
            return self._names(priority_class)
        return {ScopeName.BEST_EFFORT.value: empty, ScopeName.NOT_BEST_EFFORT.value: not empty}.get(self.name, True)

    def _names(self, priority_class: str) -> bool:
        if self.operator == "Exists":
            return bool(priority_class)
        if self.operator == "DoesNotExist":
            return not priority_class
        return (priority_class in self.values) is (self.operator == "In")


@dataclass(frozen=True, slots=True)
class ResourceQuota(Namespaced):
    """One quota: by `cpu`, `memory`, an extended resource; `limits.cpu`; `pods` and `count/pods`."""

    hard: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[QuotaScope, ...] = ()

    def counts(self, requested: Mapping[str, int], priority_class: str) -> bool:
        return all(scope.holds(requested, priority_class) for scope in self.scopes)

    def missing_requests(self, sent: ContainerRequests, limits_of: AbstractSet[str]) -> Iterator[str]:
        """Yield what a container must request and does not; `limits_of` names those whose limits are known."""
        if sent.pod_level.amounts:
            return
        for container, name in product(sent.containers, _REQUIRED):
            if name in self.hard and not container.requests.get(name):
                yield f"container {container.name} has no request of {name}"
            if container.name in limits_of and LIMITS + name in self.hard and not container.limits.get(name):
                yield f"container {container.name} has no limit of {name}"

    def over(self, requested: Mapping[str, int], freed: Mapping[str, int]) -> tuple[str, ...]:
        """Return the resources that a pod with these requests would exceed, once `freed` is used no more."""
        return tuple(
            name
            for name, hard in sorted(self.hard.items())
            if requested.get(name, 0) and self.used.get(name, 0) - freed.get(name, 0) + requested[name] > hard
        )


def amounts_in_quota(requests: Resources, sent: ContainerRequests) -> Mapping[str, int]:
    """Return what quotas count of a pod with these requests; limits as far as they are known."""
    limits = total(container.limits for container in sent.containers if container.sidecar or not container.init)
    of_limits = {LIMITS + name: amount for name, amount in limits.amounts}
    return {**dict.fromkeys(COUNTS, 1), **dict(requests.amounts), **of_limits}


Bounding = TypeVar("Bounding", LimitRange, ResourceQuota)
LIMIT_RANGES: Final = "limitranges"
QUOTAS: Final = "resourcequotas"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replacement: what its controller sends, what webhooks may have written, what the scheduler books."""

    sent: ContainerRequests
    written: ContainerRequests
    needs: Resources
    takes: Resources  # What the replaced pod counts as until it is gone.
    priority_class: str = ""
    limits_of: frozenset[str] = frozenset()  # The containers whose limits are known: those of a template.


@dataclass(frozen=True)
class LimitsOfNamespace:
    ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()

    def with_defaults_of_ranges(self, made: ContainerRequests) -> ContainerRequests:
        """Return what is sent, with the defaults of all ranges: of two that both have one, the API server takes any."""
        rows = [item for range_ in self.ranges for item in range_.items if not item.of_pod]
        return made.with_changed(partial(_with_defaults, rows)) if rows else made

    def refuses(self, given: Replacement) -> Iterator[str]:
        """Yield what would refuse the pod, and why, even once the replaced one is gone."""
        for limit_range in self.ranges:
            refusals = limit_range.refuses(given.sent, given.written, given.limits_of)
            yield from (f"LimitRange {limit_range.key}: {why}" for why in refusals)
        for quota, requested, freed in self._amounts_of_quotas(given):
            unsaid = quota.missing_requests(given.sent, given.limits_of)
            yield from (f"ResourceQuota {quota.key}: {why}" for why in unsaid)
            yield from (
                f"ResourceQuota {quota.key}: more {name} than it allows" for name in quota.over(requested, freed)
            )

    def delays(self, given: Replacement) -> bool:
        return any(quota.over(requested, {}) for quota, requested, _ in self._amounts_of_quotas(given))

    def _amounts_of_quotas(
        self, given: Replacement
    ) -> Iterator[tuple[ResourceQuota, Mapping[str, int], Mapping[str, int]]]:
        requested, freed = amounts_in_quota(given.needs, given.sent), amounts_in_quota(given.takes, given.sent)
        return ((quota, requested, freed) for quota in self.quotas if quota.counts(requested, given.priority_class))


@dataclass(frozen=True)
class NamespaceLimits:
    """The limits of a whole cluster. `unread` are the lists of them that we may not read, or of templates."""

    ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    unread: tuple[str, ...] = ()

    def by_namespace(self) -> Mapping[str, LimitsOfNamespace]:
        ranges, quotas = _group_by_namespace(self.ranges), _group_by_namespace(self.quotas)
        return {
            name: LimitsOfNamespace(tuple(ranges.get(name, ())), tuple(quotas.get(name, ())))
            for name in ranges.keys() | quotas.keys()
        }


def _group_by_namespace(rows: Iterable[Bounding]) -> dict[str, list[Bounding]]:
    grouped: dict[str, list[Bounding]] = {}
    for row in rows:
        grouped.setdefault(row.namespace, []).append(row)
    return grouped


NO_LIMITS: Final = NamespaceLimits()
UNLIMITED: Final = LimitsOfNamespace()
