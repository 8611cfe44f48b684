"""The passes of a simulated Ebb: heal, plan, order, by the very planner, rules and gates of the real one.

A pass at which nothing can have changed since the last one that ordered nothing is not planned again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from msgspec import structs

from functions.cli.analysis.openings import next_change, opening_times, schedules_of
from functions.cli.analysis.simulated_days.drains import Drains
from functions.cli.analysis.simulated_days.pod_lives import steer
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.node import SOFT_TAINT, Node
from shared.core.healing.healing_input import HealingInput, Repair, RepairKind
from shared.core.healing.repairs import find_repairs
from shared.core.placement.demand import as_returned
from shared.core.planning.make_plan import make_plan
from shared.core.planning.prices import Prices
from shared.core.planning.steering import steering
from shared.core.planning.waves import remaining_nodes, second_pass_delay, soft_taints, still_to_order, wave_after
from shared.core.policy import Policy
from shared.core.records.claims import with_breakers, without_past
from shared.core.records.state import PoolMarks
from shared.core.rules.counts import NodeCounts
from shared.core.rules.situation import Situation


class Ebb:
    def __init__(self, world: World, policy: Policy, prices: Prices) -> None:
        self._world, self._policy, self._prices = world, policy, prices
        self._drains = Drains(world, policy)
        self._marks: Mapping[str, PoolMarks] = {}
        self._schedules = schedules_of(policy, world.origin.nodes_by_pool)
        self._scheduled = next_change(self._schedules, world.now)  # When one of them next begins or ends.
        self._still_to_order = False  # Whether the last plan left nodes of the wave for a later pass.
        self._seen: tuple[object, ...] = ()
        self._again: datetime | None = None

    def begin(self) -> None:
        self._world.agenda.note(self._world.now, self._pass)

    def _pass(self) -> None:
        world = self._world
        world.agenda.note(world.now + world.delays.interval, self._pass)
        self._make_one()
        if self._still_to_order:
            world.agenda.note(world.now + second_pass_delay(world.delays.interval), self._make_one)

    def _make_one(self) -> None:
        world, drains = self._world, self._drains
        world.measures.passes += 1
        if drains.state.claims or drains.state.backoffs or not world.measures.planned:
            self._heal()
        if self._mark_of_now() != self._seen or (self._again is not None and world.now >= self._again):
            self._plan()
        drains.state = structs.replace(drains.state, last_pass=world.now)

    def _heal(self) -> None:
        world, drains = self._world, self._drains
        found = HealingInput(
            world.snapshot(), drains.state, drains.records, self._policy, world.now,
            world.deletion_begun, world.bought_for,
        )  # fmt: skip
        opened = found.breakers  # as things stood before the repairs
        for repair in find_repairs(found):
            self._repair(repair)
        drains.write(with_breakers(drains.state, opened, world.now))

    def _repair(self, repair: Repair) -> None:
        world, drain = self._world, self._drains.under_way.get(repair.node)
        if drain is None:  # an orphan of the snapshot: nobody's drain
            world.change_node(as_returned(world.nodes[repair.node]))
        elif repair.kind is RepairKind.SETTLE:
            self._drains.settle_removed(drain)
        elif repair.kind is RepairKind.CONTINUE:
            self._drains.look(drain)
        elif repair.why is not None and repair.not_before is None:  # what may end by itself does: nobody preempts here
            self._drains.return_node(drain, repair.why, repair.detail)

    def _mark_of_now(self) -> tuple[object, ...]:
        state, world = self._drains.state, self._world
        return world.revision, world.details, state.claims, state.backoffs, state.breakers

    def _plan(self) -> None:
        world, drains = self._world, self._drains
        snapshot = world.snapshot()
        alive = {node.uid for node in snapshot.nodes}
        drains.state = without_past(drains.state, alive, world.now)
        situation = Situation(snapshot, drains.state, self._policy)
        counts = situation.counts()
        world.measures.planned += 1
        self._order(situation)
        self._seen = self._mark_of_now()
        self._again = min((at for at in self._changes(counts) if at > world.now), default=None)

    def _order(self, situation: Situation) -> None:
        world, wave = self._world, self._drains.wave
        left = remaining_nodes(wave, situation)
        plan = make_plan(situation, self._marks, self._prices, world.delays.interval, wave=left)
        self._marks, self._drains.state = plan.marks, structs.replace(self._drains.state, demand=plan.demand)
        self._drains.wave = wave_after(f"w{world.measures.passes}", plan, self._policy, wave, left)
        self._still_to_order = bool(still_to_order(plan, self._policy))
        for order in plan.orders:
            world.agenda.note(world.now + world.delays.claim, partial(self._drains.claim, order, world.now))
        ordered = {order.node for order in plan.orders}
        self._write_soft_taints(node for node in situation.snapshot.nodes if node.name not in ordered)
        for write in steering(plan, situation).writes:
            steer(world, write.pod, write.cost)

    def _write_soft_taints(self, nodes: Iterable[Node]) -> None:
        found = soft_taints(nodes, self._drains.state, self._drains.wave)
        for node in (*found.hold, *found.let_go):
            others = tuple(taint for taint in self._world.nodes[node.name].taints if taint.key != names.HELD_TAINT)
            taints = (*others, SOFT_TAINT) if node in found.hold else others
            self._world.change_node(replace(self._world.nodes[node.name], taints=taints), detail=True)

    def _changes(self, counts: NodeCounts) -> Iterator[datetime]:
        """Yield when time alone may change what a pass decides."""
        yield from opening_times(counts, {node.pool: node for node in self._world.nodes.values()}.values())
        if self._scheduled is not None and self._scheduled <= self._world.now:
            self._scheduled = next_change(self._schedules, self._world.now)
        if self._scheduled is not None:
            yield self._scheduled
        if self._drains.wave is not None:
            yield self._drains.wave.deadline
        for node in self._world.nodes.values():
            yield node.created + self._policy.pool(node.pool).minimum_node_age
        for pool, marks in self._marks.items():
            after = self._policy.pool(pool).consolidate_after
            if after is not None:
                yield from (mark.since + after for mark in marks.marks.values())
        ages = {self._policy.pool(pool).minimum_pod_age for pool in self._world.origin.nodes_by_pool} - {timedelta(0)}
        for age in ages:
            yield from (pod.created + age for pod in self._world.pods.values() if pod.created is not None)
