"""When a gate's clock opens it by itself, and which budget or window closes it: what a person asks next."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import merge
from itertools import chain, groupby, islice
from typing import Final

from shared.core.cluster.node import Node
from shared.core.policy import Budget, Policy, Schedule
from shared.core.policy.schedule import hits, last_hit
from shared.core.reasons import Blocker, DrainReason, Reason, Unremovable
from shared.core.rules.budgets import Calendar, applies
from shared.core.rules.counts import NodeCounts
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import GATES, Gate

LOOK_AHEAD: Final = timedelta(days=15)
"""How far schedules are read; few people plan further than a week and its exceptions."""
FAR: Final = timedelta(days=400)
MOST_CHANGES: Final = 1_000
"""Changes of schedules at which a gate is asked again: half a year has two for each day and schedule."""
GATE_OF: Final[Mapping[Reason, Gate]] = {gate.reason: gate for gate in GATES}


def opens_at(gate: Gate, proposed: ProposedDrain, ahead: timedelta = LOOK_AHEAD) -> datetime | None:
    """Return when a closed gate opens if nothing changes but the time; None where no clock opens it in that time."""
    times = (time for time, _ in groupby(merge(*_streams(gate, proposed, ahead))) if time > proposed.now)
    return next((time for time in islice(times, MOST_CHANGES) if gate.rule(_at(time, proposed)) is None), None)


def _at(time: datetime, proposed: ProposedDrain) -> ProposedDrain:
    return replace(proposed, counts=replace(proposed.counts, now=time, calendar=Calendar(time)))


def _streams(gate: Gate, proposed: ProposedDrain, ahead: timedelta) -> Iterator[Iterable[datetime]]:
    """Yield the times of the gate's clock, each stream in order."""
    clock = set(gate.clock(proposed))
    yield sorted(part for part in clock if isinstance(part, datetime))
    for part in clock:
        if isinstance(part, Schedule):
            yield changes(part, proposed.now, proposed.now + ahead)


def changes(schedule: Schedule, now: datetime, until: datetime) -> Iterator[datetime]:
    """Yield when a schedule begins or ends after now, in order."""
    begun = last_hit(schedule, now)
    ends = (hit + schedule.duration for hit in chain([begun] if begun else [], hits(schedule, now, until)))
    return (at for at in merge(hits(schedule, now, until), ends) if at > now)


def schedules_of(policy: Policy, pools: Iterable[str]) -> frozenset[Schedule]:
    """Return the schedules of the cluster's budgets, and of the budgets and windows of these pools."""
    settings = [policy.pool(name) for name in pools]
    budgets = (*policy.budgets, *(budget for own in settings for budget in own.budgets))
    windows = (window for own in settings for window in own.windows or ())
    return frozenset((*windows, *(budget.schedule for budget in budgets if budget.schedule is not None)))


def next_change(schedules: Iterable[Schedule], now: datetime) -> datetime | None:
    """Return when one of these next begins or ends, or a time far off; None if there are none."""
    return min((next(changes(schedule, now, now + FAR), now + FAR) for schedule in schedules), default=None)


def opening_times(counts: NodeCounts, nodes: Iterable[Node]) -> Iterator[datetime]:
    """Yield when time alone may open a gate that has no schedule, past times among them; ask one node of a pool."""
    for node in nodes:
        yield from chain.from_iterable(times_of(gate, ProposedDrain(counts, node, DrainReason.EMPTY)) for gate in GATES)


def times_of(gate: Gate, proposed: ProposedDrain) -> Iterator[datetime]:
    """Yield the times of the gate's clock, without its schedules."""
    return (part for part in gate.clock(proposed) if isinstance(part, datetime))


@dataclass(frozen=True, slots=True)
class Closed:
    """A gate that is closed: the blocker, what of the policy closes it, and until when (None: no clock opens it)."""

    blocker: Blocker
    which: str = ""
    until: datetime | None = None


def describe_gate(blocker: Blocker, proposed: ProposedDrain) -> Closed:
    named = _WHICH.get(blocker.reason)
    which = ", ".join(named(proposed)) if named else ""
    return Closed(blocker, which, opens_at(GATE_OF[blocker.reason], proposed))


def _budgets(proposed: ProposedDrain, budgets: Iterable[Budget], nodes: int, used: int) -> Iterator[str]:
    for budget in budgets:
        binds = applies(budget, proposed.reason) and proposed.counts.calendar.active(budget.schedule)
        if binds and budget.nodes.of(nodes) <= used:
            yield f"nodes: {budget.nodes}{'' if budget.schedule is None else f', {schedule_text(budget.schedule)}'}"


_WHICH: Final[Mapping[Reason, Callable[[ProposedDrain], Iterable[str]]]] = {
    Unremovable.OUTSIDE_WINDOWS: lambda at: (
        [schedule_text(window) for window in at.pool_policy.windows or ()] or ["no window at all"]
    ),
    Unremovable.BUDGET: lambda at: _budgets(at, at.pool_policy.budgets, at.pool.nodes, at.used_in_pool),
    Unremovable.CLUSTER_BUDGET: lambda at: _budgets(at, at.policy.budgets, at.counts.nodes, at.used_in_cluster),
    Unremovable.AWAITING_DELETION: lambda at: [f"awaitingDeletion: {at.policy.awaiting_deletion}"],
    Unremovable.RATE: lambda at: (
        f"nodes: {rate.nodes} per {_span(rate.per)}"
        for rate in (at.policy.rate, at.pool_policy.rate)
        if rate is not None
    ),
}


def schedule_text(schedule: Schedule) -> str:
    return f'"{schedule.cron}" for {_span(schedule.duration)} ({schedule.time_zone})'


def _span(length: timedelta) -> str:
    hours, minutes = divmod(int(length.total_seconds()) // 60, 60)
    return "".join(f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m")) if number)
