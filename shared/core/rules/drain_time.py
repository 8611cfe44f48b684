"""How long a drain must take at least, and takes at most, because its pods may only go in turns.

A PDB that allows one disruption lets three pods go in three rounds, and all drains share it. A round lasts until the
pod has ended and another is Ready: as long as the fastest of its kind took. A disk adds 30 to 90 seconds as a rule;
the six minutes before Kubernetes forces a detach concern failed nodes, and those are not drained.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from operator import attrgetter
from typing import Final

from shared.core.cluster.pod import Pod, PodClass
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import longest_drain
from shared.core.rules.surges import is_surged

RETRY_AFTER: Final = timedelta(seconds=5)  # How long a refused eviction rests (kubectl drain, node-refiner: 5 s).
MIN_WATCHDOG: Final = timedelta(seconds=30)
"""How long a drained node is looked at whatever the counts are: a controller that is late (it has just become the
leader, or counts for nobody as a Job's does) has neither created a pod nor written that one is missing."""
NO_TIME: Final = timedelta(0)
NO_LIMIT: Final = ""  # What stands for the limit of pods that may all go at once.


@dataclass(frozen=True, slots=True)
class Turns:
    """The pods of one node that share a limit: a PDB's, or that of a workload without one."""

    limit: str  # The PDB as `namespace/name`, or the workload.
    pods: int
    at_once: int
    least: timedelta  # What a round of them lasts where they end at once.
    most: timedelta  # And where they take all of their grace, and their disks the time that disks need.


@dataclass(frozen=True, slots=True)
class DrainTime:
    least: timedelta = NO_TIME
    most: timedelta = NO_TIME
    rounds: int = 0
    limit: str = NO_LIMIT
    deadline: timedelta = NO_TIME  # After which the drain fails.


@dataclass(frozen=True)
class DrainEstimate:
    """What a drain of one node has to wait for, and how long it may last."""

    turns: tuple[Turns, ...] = ()
    deadline: timedelta = NO_TIME

    @cached_property
    def alone(self) -> DrainTime:
        return self._time({})

    def beside(self, others: Mapping[str, int]) -> DrainTime:
        """Return how long it takes next to drains that move so many pods of each limit."""
        shared = any(turn.limit in others for turn in self.turns) if others else False
        return self._time(others) if shared else self.alone

    def _time(self, others: Mapping[str, int]) -> DrainTime:
        times = [_time(turn, others.get(turn.limit, 0)) for turn in self.turns]
        longest = max(times, key=attrgetter("least", "most", "rounds"), default=DrainTime())
        return replace(longest, most=max((time.most for time in times), default=NO_TIME), deadline=self.deadline)

    @property
    def may_be_late(self) -> bool:
        return self.alone.most > self.deadline

    @property
    def waiting(self) -> Counter[str]:
        return Counter({turn.limit: turn.pods for turn in self.turns if turn.limit != NO_LIMIT})


NO_ESTIMATE: Final = DrainEstimate()


@dataclass(frozen=True, slots=True)
class _Pace:
    limits: tuple[tuple[str, int], ...]  # By name, and how many may go at once.
    least: timedelta
    most: timedelta
    deadline: timedelta


class DrainEstimator:
    """Estimates drains under one context; remembers what it finds of pods of one class."""

    def __init__(self, starts: Mapping[PodClass, timedelta]) -> None:
        self._starts = starts
        self._paces: dict[tuple[PodClass, bool], _Pace] = {}

    def __call__(self, moving: Iterable[Pod], context: DrainContext) -> DrainEstimate:
        """Return what a drain that moves these pods has to wait for; those on their way out have had their turn."""
        rows: dict[tuple[str, int], list[_Pace]] = {}
        staying = [pod for pod in moving if pod.deleting is None]
        paces = [self._paces.get((pod.spec, pod.ready)) or self._pace(pod, context) for pod in staying]
        for pace in paces:
            for limit in pace.limits:
                rows.setdefault(limit, []).append(pace)
        turns = tuple(_turns(*limit, rows[limit]) for limit in sorted(rows))
        deadline = max([context.drain.timeout, *(pace.deadline for pace in paces)])
        return DrainEstimate(turns, deadline + disk_moves(staying))

    def _pace(self, pod: Pod, context: DrainContext) -> _Pace:
        start = self._starts.get(pod.spec, NO_TIME)
        grace = min(timedelta(seconds=pod.spec.grace_seconds), context.drain.max_grace)
        limits, most = _limits(pod, context), start + grace + disk_time(pod)
        pace = _Pace(limits, start, most, longest_drain(pod.spec, context.drain))
        self._paces[pod.spec, pod.ready] = pace
        return pace


def _limits(pod: Pod, context: DrainContext) -> tuple[tuple[str, int], ...]:
    """Return the limits for which the pod waits its turn, and how many each lets go; one not Ready is away already."""
    budgets, workload = context.budgets_of(pod.spec), context.workload_of(pod.spec)
    if not pod.ready or (not budgets and workload.single) or is_surged(pod.spec, context):
        return ((NO_LIMIT, 0),)
    if budgets:
        return tuple((budget.key, max(budget.disruptions_allowed, 1)) for budget in budgets)
    most = (
        1
        if workload.replicas_away is None
        else workload.may_be_away(context.policy.unprotected) - workload.replicas_away
    )
    return ((workload.name or pod.spec.workload, max(most, 1)),)


def _turns(limit: str, at_once: int, paces: list[_Pace]) -> Turns:
    if len(paces) == 1:
        return Turns(limit, 1, at_once or 1, paces[0].least, paces[0].most)
    least = min([pace.least for pace in paces])
    most = max([pace.most for pace in paces])
    return Turns(limit, len(paces), at_once or len(paces), least, most)


def _time(turns: Turns, others: int) -> DrainTime:
    rounds = -(-(turns.pods + others) // turns.at_once)
    most = rounds * (turns.most + RETRY_AFTER) - RETRY_AFTER
    return DrainTime(rounds * turns.least, most, rounds, turns.limit)


ONE_DISK_MOVES_WITHIN: Final = timedelta(seconds=90)
MOST_IN_TURN: Final = 4
LONGEST_DISK_MOVES: Final = MOST_IN_TURN * ONE_DISK_MOVES_WITHIN
"""The most that a deadline gives for disks: a cordon that stands for nothing must have an end."""


def disk_time(pod: Pod) -> timedelta:
    """Return how much later a replacement starts for the disk that it waits for."""
    return ONE_DISK_MOVES_WITHIN if pod.spec.uses_claims else timedelta(0)


def disk_moves(pods: Iterable[Pod]) -> timedelta:
    """Return what a deadline gives for disks: those of one workload move one after another."""
    in_turn = Counter(pod.spec.workload for pod in pods if pod.spec.uses_claims)
    return min(max(in_turn.values(), default=0), MOST_IN_TURN) * ONE_DISK_MOVES_WITHIN
