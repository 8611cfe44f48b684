"""What namespaces limit: LimitRanges, ResourceQuotas, and what follows for a pod that comes back.

A LimitRange changes or refuses a pod when it is created, and never later. A ResourceQuota compares its used amounts
and the new pod with its hard limits. A pod that ends is counted until it is gone. So with a quota that is used up,
the next pod comes only then, and with one that is exceeded, none comes.
Source: kubernetes, plugin/pkg/admission/limitranger,
pkg/quota/v1/evaluator/core/pods.go; apiserver, pkg/admission/plugin/resourcequota.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeVar

from shared.core.cluster.requests import Container, ContainerRequests, InitContainer, pod_requests
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
class LimitRange:
    """One of them."""

    namespace: str
    name: str
    items: tuple[LimitItem, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def completed(self, container: Container) -> Container:
        """Return the container with the defaults of what it does not say."""
        rows = [each for each in self.items if not each.of_pod]
        return replace(
            container,
            requests=_with_missing(container.requests, [each.default_requests for each in rows]),
            limits=_with_missing(container.limits, [each.default_limits for each in rows]),
        )

    def refuses(
        self, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
    ) -> Iterator[str]:
        """Yield why it would not let that pod in.

        `sent` is what the controller asks for, with the defaults; `written` has what webhooks may have made of it, who
        keep to a LimitRange where they lower, and not where they raise. Limits are known of the containers that are
        named; nothing is held against those of others.
        """
        for item in self.items:
            for low, high in _measured(item, sent, written, limits_of):
                yield from (f"{low.name} asks for less {name} than its least" for name in _below(low, item.least))
                yield from (f"{low.name} asks for more {name} than its most" for name in _above(high, item.most))
                yield from (f"{low.name} has a limit of {name} too far above its request" for name in _far(high, item))


def completed(made: ContainerRequests, ranges: Iterable[LimitRange]) -> ContainerRequests:
    """Return what is sent, with the defaults of all ranges: of two that both have one, the API server takes any."""
    all_rows = tuple(row for each in ranges for row in each.items)
    return made.changed(LimitRange("", "", all_rows).completed)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a row is about: a container, or the pod as a whole."""

    name: str
    requests: Resources
    limits: Resources
    known: bool
    """Whether it has no other limits than these."""


def _measured(
    item: LimitItem, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
) -> Iterator[tuple[_Measured, _Measured]]:
    """Yield what a row is about, each with what it asks for at most and at least."""
    if item.of_pod:
        if sent.containers and not sent.pod_level.amounts:
            known = all(each.name in limits_of for each in sent.containers)
            yield _whole(written, known=known), _whole(sent, known=known)
        return
    for low, high in zip(written.containers, sent.containers, strict=True):
        about, known = f"container {low.name}", low.name in limits_of
        yield _Measured(about, low.requests, low.limits, known), _Measured(about, high.requests, high.limits, known)


def _whole(made: ContainerRequests, *, known: bool) -> _Measured:
    requests, limits = _total(made, lambda each: each.requests), _total(made, lambda each: each.limits)
    return _Measured("the pod", requests, limits, known)


def _total(made: ContainerRequests, of: Callable[[Container], Resources]) -> Resources:
    return pod_requests(
        [of(each) for each in made.containers if not each.init],
        [InitContainer(of(each), each.sidecar) for each in made.containers if each.init],
    )


def _below(about: _Measured, least: Resources) -> Iterator[str]:
    for name, low in least.amounts:
        limit = about.limits.get(name)
        if about.requests.get(name) < low or 0 < limit < low:
            yield name


def _above(about: _Measured, most: Resources) -> Iterator[str]:
    for name, high in most.amounts:
        limit = about.limits.get(name)
        if max(about.requests.get(name), limit) > high or (about.known and not limit):
            yield name


def _far(about: _Measured, item: LimitItem) -> Iterator[str]:
    for name, ratio in item.ratios.items():
        limit = about.limits.get(name)
        if limit > about.requests.get(name) * ratio or (about.known and not limit):
            yield name


def _with_missing(given: Resources, defaults: Iterable[Resources]) -> Resources:
    amounts = dict(given.amounts)
    missing = NOTHING
    for each in defaults:
        missing = missing.largest(each)
    return Resources.of({**dict(missing.amounts), **amounts})


COUNTS: Final = ("pods", "count/pods")
LIMITS: Final = "limits."
_MUST_BE_SAID: Final = (CPU, MEMORY)
"""What each container has to say, where a quota counts it."""


class ScopeName(StrEnum):
    """Which pods a quota is for (scopes and scopeSelector)."""

    TERMINATING = "Terminating"
    NOT_TERMINATING = "NotTerminating"
    BEST_EFFORT = "BestEffort"
    NOT_BEST_EFFORT = "NotBestEffort"
    PRIORITY_CLASS = "PriorityClass"
    CROSS_NAMESPACE_AFFINITY = "CrossNamespacePodAffinity"


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """One condition; all of a quota must hold. Operator and values speak of priority classes."""

    name: str
    operator: str = "Exists"
    values: frozenset[str] = frozenset()

    def holds(self, asks: Mapping[str, int], priority_class: str) -> bool:
        """Whether a pod may be meant; what is not known of it may be."""
        empty = not any(name not in COUNTS and amount for name, amount in asks.items())
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
class ResourceQuota:
    """One of them: by `cpu`, `memory`, an extended resource; `limits.cpu`; `pods` and `count/pods`."""

    namespace: str
    name: str
    hard: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[QuotaScope, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def counts(self, asks: Mapping[str, int], priority_class: str) -> bool:
        """Whether it counts a pod that asks for that."""
        return all(each.holds(asks, priority_class) for each in self.scopes)

    def unsaid(self, sent: ContainerRequests, limits_of: AbstractSet[str]) -> Iterator[str]:
        """Yield what a container would have to say and does not; limits are known of those that are named."""
        if sent.pod_level.amounts:
            return
        for each in sent.containers:
            for name in _MUST_BE_SAID:
                if name in self.hard and not each.requests.get(name):
                    yield f"container {each.name} has no request of {name}"
                if each.name in limits_of and LIMITS + name in self.hard and not each.limits.get(name):
                    yield f"container {each.name} has no limit of {name}"

    def over(self, asks: Mapping[str, int], freed: Mapping[str, int]) -> tuple[str, ...]:
        """Return of what too much would be used by a pod that asks for that, once `freed` is used no more."""
        return tuple(
            name
            for name, hard in sorted(self.hard.items())
            if asks.get(name, 0) and self.used.get(name, 0) - freed.get(name, 0) + asks[name] > hard
        )


def counted(requests: Resources, sent: ContainerRequests) -> Mapping[str, int]:
    """Return what quotas count of a pod with these requests; limits, as far as they are known."""
    limits = total(each.limits for each in sent.containers if each.sidecar or not each.init)
    of_limits = {LIMITS + name: amount for name, amount in limits.amounts}
    return {**dict.fromkeys(COUNTS, 1), **dict(requests.amounts), **of_limits}


Bounding = TypeVar("Bounding", LimitRange, ResourceQuota)
LIMIT_RANGES: Final = "limitranges"
QUOTAS: Final = "resourcequotas"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A pod that is made anew: what its controller sends, what webhooks may have written, what is booked for it."""

    sent: ContainerRequests
    written: ContainerRequests
    needs: Resources
    takes: Resources
    """What the pod that it replaces is counted with until it is gone."""
    priority_class: str = ""
    limits_of: frozenset[str] = frozenset()
    """The containers whose limits are known: those of a template."""


@dataclass(frozen=True)
class LimitsOfNamespace:
    """Those of one namespace."""

    ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()

    def completed(self, made: ContainerRequests) -> ContainerRequests:
        return completed(made, self.ranges) if self.ranges else made

    def refuses(self, given: Replacement) -> Iterator[str]:
        """Yield what would not let the pod in, and why, even once the one that it replaces is gone."""
        for each in self.ranges:
            yield from (
                f"LimitRange {each.key}: {why}" for why in each.refuses(given.sent, given.written, given.limits_of)
            )
        for quota, asks, freed in self._counted(given):
            unsaid = quota.unsaid(given.sent, given.limits_of)
            yield from (f"ResourceQuota {quota.key}: {why}" for why in unsaid)
            yield from (f"ResourceQuota {quota.key}: more {name} than it allows" for name in quota.over(asks, freed))

    def delays(self, given: Replacement) -> bool:
        """Whether the pod is let in only once the one that it replaces is gone."""
        return any(quota.over(asks, {}) for quota, asks, _ in self._counted(given))

    def _counted(self, given: Replacement) -> Iterator[tuple[ResourceQuota, Mapping[str, int], Mapping[str, int]]]:
        asks, freed = counted(given.needs, given.sent), counted(given.takes, given.sent)
        return ((each, asks, freed) for each in self.quotas if each.counts(asks, given.priority_class))


@dataclass(frozen=True)
class NamespaceLimits:
    """All of a cluster. `unread` are the lists that we may not read."""

    ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    unread: tuple[str, ...] = ()

    def by_namespace(self) -> Mapping[str, LimitsOfNamespace]:
        ranges, quotas = _grouped(self.ranges), _grouped(self.quotas)
        return {
            name: LimitsOfNamespace(tuple(ranges.get(name, ())), tuple(quotas.get(name, ())))
            for name in ranges.keys() | quotas.keys()
        }


def _grouped(rows: Iterable[Bounding]) -> dict[str, list[Bounding]]:
    found: dict[str, list[Bounding]] = {}
    for each in rows:
        found.setdefault(each.namespace, []).append(each)
    return found


NO_LIMITS: Final = NamespaceLimits()
UNLIMITED: Final = LimitsOfNamespace()
