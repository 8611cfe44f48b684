"""When drains would start: the gates of the real passes, asked again and again on a simulated clock.

Passes at which nothing can have changed are left out. What stood in the way of the node that was next is counted by its
reason. A gate that neither time nor the end of a drain opens is known from the start: nodes behind it never go.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import structs

from functions.cli.analysis.openings import GATE_OF, next_change, opens_at, schedules_of, times_of
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.waves import second_pass_delay
from shared.core.policy import BudgetUntil
from shared.core.reasons import DrainReason, Reason, Unremovable
from shared.core.records.state import INTERVAL
from shared.core.rules.budgets import Calendar
from shared.core.rules.counts import NodeCounts, counts_in_budgets
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import CLAIM_GATES, GATES, WAVE_GATES, Closes
from shared.core.rules.situation import Situation

HORIZON: Final = timedelta(days=180)
MOST_IDLE: Final = 500
"""Passes in a row at which something changed and yet no node may go: a schedule of minutes would ask for millions."""
CLAIMED_AFTER: Final = timedelta(seconds=10)  # From the pass to the claim, from which the time gap is counted.


@dataclass(frozen=True, slots=True)
class PacedDrain:
    """A node that would go: from when its mark is old enough, and how long its drain takes."""

    node: Node
    reason: DrainReason
    ripe: datetime
    replaced: timedelta  # Until what was moved runs again.
    lasts: timedelta  # Until the node is deleted.


class UnderWay(NamedTuple):
    """A drain, or its use of the budgets; the one that ends first sorts first."""

    ends: datetime
    uid: str
    pool: str
    counted: bool = True  # Whether the node is one of those that budgets are measured by.
    is_deleted: bool = True  # Whether its node is gone then; else what it moved runs again.


class Pace:
    def __init__(self, situation: Situation) -> None:
        counts = situation.counts(situation.snapshot.nodes)
        self.held_up: Counter[Reason] = Counter()  # How many seconds each reason kept the node that was next.
        self.never: dict[str, Reason] = {}  # The nodes that no pass within the horizon lets go.
        self.begins: dict[str, datetime] = {}  # When each drain begins, by the name of its node.
        self.ended: datetime | None = None  # When the last node that goes is deleted.
        self._at_first, self._counts, self._begun = counts, counts, counts.now
        in_waves = situation.policy.wave is not None
        self._interval, self._gates = (second_pass_delay(INTERVAL), WAVE_GATES) if in_waves else (INTERVAL, GATES)
        self._schedules = schedules_of(counts.policy, counts.pools)
        self._changes = next_change(self._schedules, counts.now)
        self._idle = 0
        self._moments: set[datetime] = set()
        """When the clocks of the gates that keep a node may open them, as this pass found."""
        self._shut: dict[tuple[str, DrainReason], Reason | None] = {}
        self._under_way = sorted(_begun_before(counts, situation.snapshot))
        self._last_begin: datetime | None = None

    @property
    def now(self) -> datetime:
        return self._counts.now

    def let_go(self, drains: Sequence[PacedDrain], until: datetime) -> frozenset[str]:
        """Let passes follow each other until all of these have begun, none may any more, or that time has come.

        Return the names of the nodes whose drains have begun.
        """
        never = {drain.node.name: word for drain in drains if (word := self._shut_for_good(drain))}
        waiting = [drain for drain in drains if drain.node.name not in never]
        while waiting:
            begun, held = self._pass(waiting)
            waiting = [drain for drain in waiting if drain.node.name not in begun]
            later = self._next(waiting) if waiting else until
            if later is None:
                names = [drain.node.name for drain in waiting]
                never.update({name: held.get(name, Unremovable.MARKED_RECENTLY) for name in names})
            if later is None or later >= until:
                break
            self.held_up[next(iter(held.values()))] += int((later - self.now).total_seconds())
            self._move_to(later)
        self.never.update(never)
        left = {drain.node.name for drain in waiting} | never.keys()
        return frozenset(drain.node.name for drain in drains) - left

    def _shut_for_good(self, drain: PacedDrain) -> Reason | None:
        """Return what keeps the pool's nodes up to the horizon of the forecast, however little is under way."""
        key = drain.node.pool, drain.reason
        if key not in self._shut:
            proposed = ProposedDrain(self._at_first.idle, drain.node, drain.reason)
            wide = (gate for gate in CLAIM_GATES if gate.closes is not Closes.NODE and gate.rule(proposed))
            opens = ((gate, opens_at(gate, proposed, HORIZON)) for gate in wide)
            never = (gate.reason for gate, at in opens if at is None or at > self._begun + HORIZON)
            self._shut[key] = next(never, None)
        return self._shut[key]

    def _pass(self, waiting: Sequence[PacedDrain]) -> tuple[frozenset[str], dict[str, Reason]]:
        """Return who goes in this pass, and what keeps the others as far as it was asked."""
        begun: set[str] = set()
        held: dict[str, Reason] = {}
        self._moments.clear()
        closed: dict[tuple[str, DrainReason], Reason] = {}
        """By pool (empty: all of them) and the reason of the drain: a budget may hold for some reasons only."""
        for drain in waiting:
            word = closed.get(("", drain.reason)) or closed.get((drain.node.pool, drain.reason)) or self._ask(drain)
            if word is None:
                begun.add(drain.node.name)
                continue
            held[drain.node.name] = word
            closes = GATE_OF[word].closes if word in GATE_OF else Closes.NODE
            if closes is not Closes.NODE:
                closed["" if closes is Closes.CLUSTER else drain.node.pool, drain.reason] = word
        return frozenset(begun), held

    def _ask(self, drain: PacedDrain) -> Reason | None:
        """Return what keeps the node now, or let it go."""
        if drain.ripe > self.now:
            return Unremovable.MARKED_RECENTLY
        proposed = ProposedDrain(self._counts, drain.node, drain.reason)
        gate = next((gate for gate in self._gates if gate.rule(proposed)), None)
        if gate:
            self._moments.update(times_of(gate, proposed))
            return gate.reason
        self._counts = self._counts.with_claim(drain.node)
        self.begins[drain.node.name] = self._last_begin = self.now
        ends, node = self.now + drain.lasts, drain.node
        self.ended = max(ends, self.ended or ends)
        heapq.heappush(self._under_way, UnderWay(ends, node.uid, node.pool))
        if self._counts.policy.budget_until is BudgetUntil.REPLACED:
            heapq.heappush(self._under_way, UnderWay(self.now + drain.replaced, node.uid, node.pool, is_deleted=False))
        return None

    def _next(self, waiting: Sequence[PacedDrain]) -> datetime | None:
        """Return the next pass at which something may have changed; None where nothing does within the horizon."""
        now, begun = self.now, self._last_begin == self.now
        self._idle = 0 if begun else self._idle + 1
        if self._idle > MOST_IDLE:
            return None
        times = [*self._moments, *(drain.ripe for drain in waiting), *(row.ends for row in self._under_way[:1])]
        times += [now + self._interval] if begun else []
        times += [self._changes] if self._changes is not None else []
        later = min((time for time in times if time > now), default=None)
        if later is None or later > self._begun + HORIZON:
            return None
        return self._pass_at(later)

    def _pass_at(self, time: datetime) -> datetime:
        return self._begun + -(-(time - self._begun) // self._interval) * self._interval

    def wait_until(self, later: datetime) -> None:
        if later > self.now:
            self._move_to(self._pass_at(later))

    def _move_to(self, later: datetime) -> None:
        """Let that time come: drains have ended, schedules have changed, and a new pass begins."""
        calendar = self._counts.calendar
        if self._changes is not None and self._changes <= later:
            calendar, self._changes = Calendar(later), next_change(self._schedules, later)
        state = self._counts.state
        if self._last_begin == self.now:  # in whatever round: all that began now is one pass for the gap
            state = structs.replace(state, last_scale_down=self.now + CLAIMED_AFTER)
        pools = {name: replace(pool, taken=0) for name, pool in self._counts.pools.items()}
        while self._under_way and self._under_way[0].ends <= later:
            ended = heapq.heappop(self._under_way)
            pool = pools[ended.pool] = replace(pools[ended.pool], in_use=pools[ended.pool].in_use - {ended.uid})
            if ended.is_deleted:
                left = pool.in_flight - {ended.uid}
                pools[ended.pool] = replace(pool, nodes=pool.nodes - ended.counted, in_flight=left)
        self._counts = replace(self._counts, now=later, calendar=calendar, pools=pools, state=state)


def _begun_before(counts: NodeCounts, snapshot: Snapshot) -> Iterator[UnderWay]:
    """Yield the drains that have begun before: each has ended by the time that the watchdog looks after it."""
    claims, patience = counts.state.claims, counts.policy.drain.watchdog
    counted = {node.uid for node in snapshot.nodes if counts_in_budgets(node)}
    for pool in counts.pools.values():
        for uid in pool.in_flight:
            since = claims[uid].since if uid in claims else counts.now
            yield UnderWay(since + patience, uid, pool.name, uid in counted)
