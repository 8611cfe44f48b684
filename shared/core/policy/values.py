"""What the settings of a policy are made of: limits, budgets, rates, schedules, words; plain and complete."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final

import msgspec

MOST_POLICY_BYTES: Final = 256 * 1024  # A policy of 1,000 pools is less than half of this.


class ConsolidationPolicy(StrEnum):
    WHEN_UNDERUTILIZED = "WhenUnderutilized"
    WHEN_EMPTY = "WhenEmpty"


class KubeSystemPods(StrEnum):
    EVICT = "evict"
    LEAVE = "leave"


class LocalStorage(StrEnum):
    BLOCK = "block"  # emptyDir and hostPath keep a node, as in estafette; safe-to-evict overrides that per pod.
    EVICT = "evict"


class SingleReplicas(StrEnum):
    MOVE = "move"
    AVOID = "avoid"  # The node goes after all others.
    SURGE = "surge"  # Its Deployment starts another pod first; where that is not possible the pod stays.
    NEVER = "never"


class Jobs(StrEnum):
    MOVE = "move"
    WAIT = "wait"  # Its node is kept while it runs: an evicted one begins again, and counts as a failure.
    NEVER = "never"


class LongGrace(StrEnum):
    """What happens to a pod with a longer grace period than `drain.maxGracePeriod`."""

    KEEP = "keep"  # Its node is kept: a pod with an hour of grace has work to end.
    CUT = "cut"  # It is evicted with maxGracePeriod, as node-refiner does.


class BudgetUntil(StrEnum):
    DELETED = "deleted"
    REPLACED = "replaced"  # All that was moved runs again: the node only waits for the autoscaler.


class Preference(StrEnum):
    EXPENSIVE = "expensive"
    ON_DEMAND = "onDemand"
    SPOT = "spot"
    OLD = "old"


DEFAULT_ZONE: Final = "UTC"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron schedule of five fields with its zone; active for `duration` of elapsed time after each hit."""

    cron: str
    duration: timedelta
    time_zone: str = DEFAULT_ZONE


@dataclass(frozen=True, slots=True)
class Limit:
    """A number of nodes, or a share of a pool in percent (rounded up)."""

    count: int | None = None
    percent: int | None = None

    def of(self, nodes: int) -> int:
        """Return the limit for a pool of that many nodes; percent rounds up (docs/acceptance.md row 61)."""
        if self.percent is None:
            return self.count or 0
        return (self.percent * nodes + 99) // 100

    def __str__(self) -> str:
        return f"{self.count}" if self.percent is None else f"{self.percent}%"


KARPENTERS_REASONS: Final = ("drifted", "unhealthy")  # Ebb never has them: a budget for these alone never matches.


@dataclass(frozen=True, slots=True)
class Budget:
    """How many nodes may be in disruption at once while active; no schedule = always; no reasons = all."""

    nodes: Limit
    schedule: Schedule | None = None
    reasons: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rate:
    nodes: Limit
    per: timedelta


@dataclass(frozen=True, slots=True)
class NamespaceRate:
    pods: int
    per: timedelta


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """How many nodes one wave may hold, and how long it may last (`planning.waves`)."""

    nodes: Limit
    deadline: timedelta


@dataclass(frozen=True, slots=True)
class Freeze:
    """No drain starts from `start` until before `end`."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Capacity:
    """So much of one machine family, in vCPUs and GiB."""

    vcpu: Fraction = Fraction(0)
    gib: Fraction = Fraction(0)


FLEXIBLE: Final = "flexible"  # In place of a family: of a commitment that is for machines of any.


def end_order(until: datetime | None) -> tuple[bool, float]:
    """Return the key that sorts commitments by their ends; an end that is not known is the last."""
    return until is None, until.timestamp() if until else 0.0


@dataclass(frozen=True, slots=True)
class Commitment:
    """Capacity of one machine family that is paid for until a time, used or not."""

    family: str
    size: Capacity
    until: datetime | None = None  # None where its end is not known.
    discount: Fraction = Fraction(0)  # The share off the list price at which it is paid.


@dataclass(frozen=True, slots=True)
class FlexibleCommitment:
    """Dollars an hour that are paid until a time, for machines on demand of any family."""

    per_hour: Fraction
    discount: Fraction  # The share off the list price of what it covers.
    until: datetime | None = None


@dataclass(frozen=True)
class Commitments:
    """What is paid for anyway; `elsewhere` is the part that other machines of the region use, None if unknown."""

    families: tuple[Commitment, ...] = ()
    flexible: FlexibleCommitment | None = None
    elsewhere: Mapping[str, Capacity] | None = None  # By family; a family that is not named is not used elsewhere.
    shared_by: tuple[str, ...] = ()  # Clusters that use the same commitments.
    read: bool = False  # Whether the planner reads the families from Google once an hour.

    def __bool__(self) -> bool:
        return bool(self.families or self.flexible)

    @property
    def ends(self) -> tuple[tuple[str, datetime], ...]:
        """The known ends, each with the family whose commitment ends then, or `FLEXIBLE`."""
        flexible = ((FLEXIBLE, self.flexible.until),) if self.flexible else ()
        rows = (*((family.family, family.until) for family in self.families), *flexible)
        return tuple((family, until) for family, until in rows if until is not None)

    def in_force(self, now: datetime) -> "Commitments":
        flexible = self.flexible
        return replace(
            self,
            families=tuple(family for family in self.families if family.until is None or family.until > now),
            flexible=None if flexible and flexible.until and flexible.until <= now else flexible,
        )


NO_COMMITMENTS: Final = Commitments()


class PodRules(msgspec.Struct, frozen=True, kw_only=True):
    """A pool's settings about pods; kept in a drain's record, so that a running drain ends as it was begun."""

    # The defaults apply to a drain whose record has no value: nothing keeps a pod.

    kube_system_pods: KubeSystemPods = KubeSystemPods.EVICT
    local_storage: LocalStorage = LocalStorage.EVICT
    long_grace: LongGrace = LongGrace.CUT
    unprotected: Limit = Limit(percent=25)
    single_replicas: SingleReplicas = SingleReplicas.MOVE
    jobs: Jobs = Jobs.MOVE
    minimum_pod_age: timedelta = timedelta(0)


STRICTEST_POD_RULES: Final = PodRules(
    kube_system_pods=KubeSystemPods.LEAVE,
    local_storage=LocalStorage.BLOCK,
    long_grace=LongGrace.KEEP,
    single_replicas=SingleReplicas.NEVER,
    jobs=Jobs.NEVER,
)
"""Of a drain that was granted, and whose policy can no longer be read: no pod goes that any policy might keep."""


YEARS: Final = range(1970, 9000)  # A duration added to a time of these years, or a zone's offset, is still a time.
