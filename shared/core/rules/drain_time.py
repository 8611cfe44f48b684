"""How long a drain must take at least, and takes at most, because its pods may only go in turns.

A PodDisruptionBudget that allows one disruption lets three pods of it go in three rounds, and shares them with every
other drain that moves such pods. A round lasts from one eviction until the next is allowed and asked for again: until
the pod has ended (at once, or after its whole grace) and another is Ready (as fast as one of its kind has ever been on
this picture).
An estimate: it says which drains could not end before their deadline, and which nodes had better go later. Must not
decide either: `planning.selection` does.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from shared.core.cluster.pod import Pod, PodClass
from shared.core.rules.disk_moves import disk_moves, disk_time
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import longest_drain
from shared.core.rules.pods import movable

RETRY_AFTER: Final = timedelta(seconds=5)
"""How long a refused eviction rests (kubectl drain, node-refiner: 5 s)."""
NO_TIME: Final = timedelta(0)
NO_LIMIT: Final = ""
"""What stands for the limit of pods that may all go at once."""
StartTimes = Mapping[PodClass, timedelta]


@dataclass(frozen=True, slots=True)
class Turns:
    """The pods of one node that share a limit: a PDB's, or that of a workload without one."""

    limit: str
    """The PDB as `namespace/name`, or the workload."""
    pods: int
    at_once: int
    least: timedelta
    """What a round of them lasts where they end at once."""
    most: timedelta
    """And where they take all of their grace, and their disks the time that disks need."""


@dataclass(frozen=True, slots=True)
class DrainTime:
    """How long one drain takes; the limit and its rounds are those that take longest at least."""

    least: timedelta = NO_TIME
    most: timedelta = NO_TIME
    rounds: int = 0
    limit: str = NO_LIMIT
    deadline: timedelta = NO_TIME
    """After which the drain is given back."""


@dataclass(frozen=True, slots=True)
class DrainEstimate:
    """What a drain of one node has to wait for, and how long it may last."""

    turns: tuple[Turns, ...] = ()
    deadline: timedelta = NO_TIME

    def time(self, others: Mapping[str, int] | None = None) -> DrainTime:
        """Return how long it takes beside drains that move so many pods of each limit."""
        times = [_time(each, (others or {}).get(each.limit, 0)) for each in self.turns]
        slowest = max(times, key=lambda each: (each.least, each.most, each.rounds), default=DrainTime())
        most = max((each.most for each in times), default=NO_TIME)
        return replace(slowest, most=most, deadline=self.deadline)

    @property
    def may_be_late(self) -> bool:
        """Whether it could miss its deadline even without other drains."""
        return self.time().most > self.deadline

    @property
    def waiting(self) -> Counter[str]:
        """How many pods it adds to the turns of each limit."""
        return Counter({each.limit: each.pods for each in self.turns if each.limit != NO_LIMIT})


NO_ESTIMATE: Final = DrainEstimate()


def estimate(pods: Iterable[Pod], context: DrainContext, starts: StartTimes) -> DrainEstimate:
    """Return what a drain of these pods has to wait for."""
    moving = [pod for pod in movable(pods, context.now) if pod.deleting is None]
    rows: dict[tuple[str, int], list[Pod]] = {}
    for pod in moving:
        for limit in _limits(pod, context):
            rows.setdefault(limit, []).append(pod)
    turns = (_turns(name, at_once, group, context, starts) for (name, at_once), group in sorted(rows.items()))
    longest = max((longest_drain(pod.spec, context.drain) for pod in moving), default=context.drain.timeout)
    return DrainEstimate(tuple(turns), longest + disk_moves(moving))


def start_times(pods: Iterable[Pod]) -> StartTimes:
    """Return by kind the shortest time that a pod took from its start on its node until it was Ready."""
    rows: dict[PodClass, timedelta] = {}
    for pod in pods:
        if pod.ready_since is not None and pod.started is not None:
            took = max(pod.ready_since - pod.started, NO_TIME)
            rows[pod.spec] = min(rows.get(pod.spec, took), took)
    return rows


def _limits(pod: Pod, context: DrainContext) -> Iterable[tuple[str, int]]:
    """Return what the pod waits its turn for, and how many of it may go at once; what is not Ready is away already."""
    budgets, workload = context.budgets_of(pod.spec), context.workload_of(pod.spec)
    if not pod.ready or (not budgets and workload.single):
        return ((NO_LIMIT, 0),)
    if budgets:
        return tuple((budget.key, max(budget.disruptions_allowed, 1)) for budget in budgets)
    most = 1 if workload.away is None else workload.may_be_away(context.policy.unprotected) - workload.away
    return ((workload.name or pod.spec.workload, max(most, 1)),)


def _turns(limit: str, at_once: int, pods: list[Pod], context: DrainContext, starts: StartTimes) -> Turns:
    found = [(starts.get(pod.spec, NO_TIME), _grace(pod, context) + disk_time(pod)) for pod in pods]
    return Turns(
        limit,
        len(pods),
        at_once or len(pods),
        least=min(start for start, _ in found),
        most=max(start + end for start, end in found),
    )


def _grace(pod: Pod, context: DrainContext) -> timedelta:
    return min(timedelta(seconds=pod.spec.grace_seconds), context.drain.max_grace)


def _time(turns: Turns, others: int) -> DrainTime:
    rounds = -(-(turns.pods + others) // turns.at_once)
    most = rounds * (turns.most + RETRY_AFTER) - RETRY_AFTER
    return DrainTime(rounds * turns.least, most, rounds, turns.limit)
