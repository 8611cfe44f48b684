"""What namespaces limit: LimitRanges, ResourceQuotas, and what follows for a pod that comes back.

A LimitRange changes or refuses a pod only when it is created. A ResourceQuota counts a pod that ends until it is gone:
with a quota that is used up the next pod comes only then, and with one that is exceeded none comes.
Source: kubernetes, plugin/pkg/admission/limitranger; apiserver, pkg/admission/plugin/resourcequota.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial, reduce
from itertools import product
from typing import Final

from shared.core.cluster.names import Namespaced
from shared.core.cluster.requests import Container, ContainerRequests, pod_requests
from shared.core.cluster.resources import CPU, MEMORY, NOTHING, Resources, total


@dataclass(frozen=True, slots=True)
class LimitItem:
    """One row of a LimitRange: about each container, or about the pod as a whole."""

    of_pod: bool = False
    least: Resources = NOTHING
    most: Resources = NOTHING
    ratios: Mapping[str, Fraction] = field(default_factory=dict)  # How many times its request a limit may be.
    default_requests: Resources = NOTHING
    default_limits: Resources = NOTHING  # As the API server completes them: of `max`, the default limits, `min`.


@dataclass(frozen=True, slots=True)
class LimitRange(Namespaced):
    items: tuple[LimitItem, ...] = ()

    def refuses(
        self, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
    ) -> Iterator[str]:
        """Yield why; `limits_of` names the containers whose limits are known."""
        # Webhooks wrote `written`: they respect a LimitRange when they lower a request, and not when they raise it.
        for item in self.items:
            for low, high, known in _measure_row(item, sent, written, limits_of):
                yield from _find_breaches(item, low, high, known=known)


def _with_defaults(rows: Sequence[LimitItem], container: Container) -> Container:
    return replace(
        container,
        requests=_with_missing(container.requests, (row.default_requests for row in rows)),
        limits=_with_missing(container.limits, (row.default_limits for row in rows)),
    )


def _measure_row(
    item: LimitItem, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
) -> Iterator[tuple[Container, Container, bool]]:
    """Yield what a row measures, as it requests least and most, and whether it has no other limits than these."""
    if not item.of_pod:
        for low, high in zip(written.containers, sent.containers, strict=True):
            yield low, high, low.name in limits_of
    elif sent.containers and not sent.pod_level.amounts:
        yield _whole(written), _whole(sent), all(container.name in limits_of for container in sent.containers)


def _whole(made: ContainerRequests) -> Container:
    limits = pod_requests(replace(row, requests=row.limits) for row in made.containers)
    return Container("", pod_requests(made.containers), limits=limits)


def _find_breaches(item: LimitItem, low: Container, high: Container, *, known: bool) -> Iterator[str]:
    about = "the pod" if item.of_pod else f"container {low.name}"
    for name, least in item.least.amounts:
        if low.requests.get(name) < least or 0 < low.limits.get(name) < least:
            yield f"{about} requests less {name} than the minimum"
    # A known limit of none is above every maximum and ratio.
    for name, most in item.most.amounts:
        limit = high.limits.get(name)
        if max(high.requests.get(name), limit) > most or (known and not limit):
            yield f"{about} requests more {name} than the maximum"
    for name, ratio in item.ratios.items():
        limit = high.limits.get(name)
        if limit > high.requests.get(name) * ratio or (known and not limit):
            yield f"{about} has a limit of {name} too far above its request"


def _with_missing(given: Resources, defaults: Iterable[Resources]) -> Resources:
    return Resources.of(dict(reduce(Resources.largest, defaults, NOTHING).amounts) | dict(given.amounts))


COUNTS: Final = ("pods", "count/pods")
LIMITS: Final = "limits."
_REQUIRED: Final = (CPU, MEMORY)  # What each container must request, if a quota counts it.


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """One condition (scopes and scopeSelector); all of a quota must hold. Operator and values: of priority classes."""

    name: str
    operator: str = "Exists"
    values: frozenset[str] = frozenset()

    def holds(self, requested: Mapping[str, int], priority_class: str) -> bool:
        """Whether a pod may be in scope; what is not known counts as in scope."""
        empty = not any(name not in COUNTS and amount for name, amount in requested.items())
        if self.name == "PriorityClass":
            return self._names(priority_class)
        return {"BestEffort": empty, "NotBestEffort": not empty}.get(self.name, True)

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


LIMIT_RANGES: Final = "limitranges"
QUOTAS: Final = "resourcequotas"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replacement: what its controller sends, what webhooks may have written, what the scheduler books."""

    sent: ContainerRequests
    written: ContainerRequests
    needs: Resources
    takes: Resources  # What the replaced pod counts as until it is gone.
    priority_class: str
    limits_of: frozenset[str]  # The containers whose limits are known: those of a template.
    raised_by: tuple[str, ...]  # What makes `needs` more than the running pod's own spec, in words.


@dataclass(frozen=True)
class NamespaceLimits:
    """The limits of a cluster, or of one namespace. `unread` are the lists of them, or of templates, not readable."""

    ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    unread: tuple[str, ...] = ()

    def within(self, namespace: str) -> "NamespaceLimits":
        return NamespaceLimits(
            tuple(row for row in self.ranges if row.namespace == namespace),
            tuple(row for row in self.quotas if row.namespace == namespace),
        )

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
    ) -> Iterable[tuple[ResourceQuota, Mapping[str, int], Mapping[str, int]]]:
        if not self.quotas:
            return ()
        requested, freed = amounts_in_quota(given.needs, given.sent), amounts_in_quota(given.takes, given.sent)
        return ((quota, requested, freed) for quota in self.quotas if quota.counts(requested, given.priority_class))


NO_LIMITS: Final = NamespaceLimits()
