"""What namespaces limit: their LimitRanges and ResourceQuotas, and what follows for a pod that comes back.

Must not know pods' classes; that is `returning`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from shared.core.cluster.containers import ContainerRequests
from shared.core.cluster.limit_ranges import LimitRange, completed
from shared.core.cluster.quotas import ResourceQuota, counted
from shared.core.cluster.resources import Resources

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
