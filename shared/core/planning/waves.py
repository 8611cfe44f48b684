"""Waves: one fixed set of nodes, proved as a whole, kept while it lasts, held softly (docs/decisions/waves.md).

The pods of the set S are proved onto the keepers K (all other nodes), together, under every strategy. So every subset
of S has a place, whichever node goes first; no pod that Ebb moves lies on a node that goes next; a wave may stop after
any node. A PreferNoSchedule taint marks S, and costly nodes as well. Nothing is cordoned before its own drain.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import inf, log2, sqrt
from typing import Final

from msgspec.structs import replace

from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import Node
from shared.core.placement import Simulation
from shared.core.planning.autoscaler import may_be_moved
from shared.core.planning.bill import Bill
from shared.core.planning.candidates import AssessedNode
from shared.core.planning.plan import Plan
from shared.core.planning.prices import Prices
from shared.core.policy import Limit, Policy
from shared.core.policy.values import Preference, WaveLimits
from shared.core.reasons import PodBlock, ReasonGroup
from shared.core.records.state import ClusterState, Wave, WaveNode
from shared.core.rules.budgets import Calendar, freeze_in_force, window_open
from shared.core.rules.counts import NodeCounts, is_leaving
from shared.core.rules.gate_rules import ProposedDrain, pool_at_minimum, resource_minimum
from shared.core.rules.situation import Situation

ClosedTo = Callable[[Sequence[str]], Simulation]
"""Returns the simulation of the pass in which nothing may be put on those nodes."""
UNBOUNDED: Final = WaveLimits(Limit(percent=100), timedelta(minutes=90))
"""What holds without `cluster.wave`: any nodes, and after the deadline they are chosen again."""
MOST_HELD: Final = 500  # Nodes of a set at most: the proof of more would take a pass too long.
CLEARLY: Final = 1.02  # So much more for its size is no rounding of a price list.
PATIENCE: Final = 4  # So often less worthy nodes leave a set for a more worthy one.


class WaveEnd(StrEnum):
    EMPTY = "empty"
    DEADLINE = "deadline"
    PAUSED = "paused"
    WINDOW_CLOSED = "window_closed"
    BREAKER_OPEN = "breaker_open"
    POLICY_CHANGED = "policy_changed"

    @property
    def sentence(self) -> str:
        return _ENDINGS[self][0]


def ending(wave: Wave, situation: Situation) -> WaveEnd | None:
    left = _left(wave, situation)
    return next((word for word, (_, rule) in _ENDINGS.items() if rule(wave, situation, left)), None)


def remaining_nodes(wave: Wave | None, situation: Situation) -> tuple[str, ...] | None:
    """Return the nodes of a wave that are there and not in flight, by name, in its order; None where none lives."""
    if wave is None or ending(wave, situation):
        return None
    return tuple(node.name for node in _left(wave, situation))


def _left(wave: Wave, situation: Situation) -> tuple[Node, ...]:
    there = {node.uid: node for node in situation.snapshot.nodes}
    found = (there.get(node.uid) for node in wave.nodes)
    return tuple(node for node in found if node and not is_leaving(node, situation.state.claims))


def _is_paused_or_frozen(situation: Situation) -> bool:
    policy = situation.policy
    return policy.paused or situation.state.paused or freeze_in_force(policy.freezes, situation.now) is not None


def _has_closed_window(_: Wave, situation: Situation, left: Sequence[Node]) -> bool:
    calendar = Calendar(situation.now)
    return not all(window_open(situation.policy.pool(pool).windows, calendar) for pool in {node.pool for node in left})


def _has_open_breaker(_: Wave, situation: Situation, left: Sequence[Node]) -> bool:
    breakers = situation.state.breakers
    return any(pool in breakers and situation.now < breakers[pool].until for pool in {node.pool for node in left})


_ENDINGS: Final[Mapping[WaveEnd, tuple[str, Callable[[Wave, Situation, Sequence[Node]], bool]]]] = {
    WaveEnd.POLICY_CHANGED: (
        "The policy has changed.",
        lambda wave, seen, _: seen.policy.dry_run or seen.policy.hash != wave.policy_hash,
    ),
    WaveEnd.EMPTY: ("No node of the wave is left to drain.", lambda _wave, _seen, left: not left),
    WaveEnd.PAUSED: ("Draining is paused or frozen.", lambda _wave, seen, _: _is_paused_or_frozen(seen)),
    WaveEnd.DEADLINE: ("The deadline of the wave has passed.", lambda wave, seen, _: seen.now >= wave.deadline),
    WaveEnd.WINDOW_CLOSED: ("A window of one of its pools has closed.", _has_closed_window),
    WaveEnd.BREAKER_OPEN: ("The breaker of one of its pools has opened.", _has_open_breaker),
}
"""In the order in which they are asked."""


def most_held(situation: Situation) -> int:
    nodes = sum(not node.outside for node in situation.snapshot.nodes)
    return min((situation.policy.wave or UNBOUNDED).nodes.of(nodes), MOST_HELD)


def costly_nodes(situation: Situation, rows: Iterable[AssessedNode], bill: Bill, counts: NodeCounts) -> tuple[str, ...]:
    """Return the nodes that pods had better avoid, for they cost more for their size than others like them.

    The most expensive first, at most half of the nodes. A soft taint keeps them emptier, so that they go first at dusk.
    In the morning new pods fill the cheap ones before them.
    """
    policy, first = situation.policy, situation.policy.prefer[:1]
    if policy.dry_run or _is_paused_or_frozen(situation) or first not in ((), (Preference.EXPENSIVE,)):
        return ()
    taking = (row for row in rows if _is_offered(row.node, situation))
    offered = [(row, _kind(row.node), _price_for_size(row.node, bill.prices)) for row in taking]
    least = dict[object, float]()
    for _, kind, price in offered:
        least[kind] = min(price, least.get(kind, inf))
    above = ((row, price) for row, kind, price in offered if CLEARLY * least[kind] < price < inf)
    able = ((row, price) for row, price in above if _could_go(row, situation, bill, counts))
    costly = sorted((-price, row.node.created, row.node.name) for row, price in able)
    return tuple(name for *_, name in costly[: min(len(offered) // 2, MOST_HELD)])


def _is_offered(node: Node, situation: Situation) -> bool:
    """Whether pods may choose the node by themselves. In a ComputeClass the order of machines is the class's."""
    # Unlike `is_destination`: one that the autoscaler has announced takes pods as yet, and stays held.
    shut = node.unschedulable or node.outside or is_leaving(node, situation.state.claims)
    return node.ready and not (shut or COMPUTE_CLASS_LABEL in node.labels)


def _price_for_size(node: Node, prices: Prices) -> float:
    """Return what a node costs by the list for its CPU and memory, which count alike; infinite if either is unknown."""
    price, size = prices.of(node), sqrt(node.allocatable.cpu * node.allocatable.memory)
    return price.per_hour / size if size and not price.estimated else inf


def _kind(node: Node) -> object:
    """Return what people choose a node for: Spot is cheap because it may go, and much memory has its price."""
    hard = frozenset(taint for taint in node.taints if taint.repels)
    memory = round(log2(max(1, node.allocatable.memory) / max(1, node.allocatable.cpu)))
    return node.spot, hard, memory


def _could_go(row: AssessedNode, situation: Situation, bill: Bill, counts: NodeCounts) -> bool:
    """Whether Ebb or the autoscaler may remove it some day. What stays should be filled, whatever it costs."""
    keeping = {blocker.reason for blocker in row.blockers if not blocker.reason.row.passes}
    stays = keeping & _NOBODY_EVICTS or any(reason.row.group in _STAYS for reason in keeping)
    proposed = ProposedDrain(counts, row.node, row.reason)
    if stays or bill.is_committed(row.node) or pool_at_minimum(proposed) or resource_minimum(proposed):
        return False
    pinned = any(isinstance(reason, PodBlock) for reason in keeping)
    return not pinned or situation.about_moving(row.node, may_be_moved)


_STAYS: Final = frozenset({ReasonGroup.OFF, ReasonGroup.TROUBLE})
_NOBODY_EVICTS: Final = frozenset({PodBlock.PDB_NEVER_ALLOWS, PodBlock.PDB_UNCOUNTED, PodBlock.SEVERAL_PDBS})


def prove_wave(wanted: Sequence[str], closed: ClosedTo) -> tuple[tuple[str, ...], Simulation]:
    """Return the first of the wanted nodes whose pods are proved together onto nodes outside the set, and the proof."""
    # In their order and in the opposite one: rules about other pods depend on who went before, and a set that goes in
    # both goes in nearly each other one. A node that does not fit behind more worthy ones leaves the set; for one
    # that does not fit behind less worthy ones, half as many of the least worthy leave; where that has not helped a
    # few times, it leaves itself. The rest is proved again, for one keeper more may lead a strategy to other places.
    tries = 0
    while True:
        simulation = closed(wanted)
        ahead = _fitting(simulation.copy(), wanted)
        if len(ahead) < len(wanted):
            wanted = ahead
            continue
        behind = _fitting(simulation.copy(), wanted[::-1])
        late = len(wanted) - len(behind)
        if not late:
            return tuple(wanted), simulation
        wanted = wanted[: -max(late // 2, 1)] if tries < PATIENCE else behind[::-1]
        tries += 1


def _fitting(simulation: Simulation, order: Sequence[str]) -> list[str]:
    return [name for name in order if simulation.try_remove(name) is None]


def wave_after(
    new_id: str, plan: Plan, policy: Policy | None, before: Wave | None, left: Sequence[str] | None
) -> Wave | None:
    """Return what is held after a pass: the wave before without the nodes that left it, a new one, or nothing."""
    # `left` are the nodes that were left of `before` at the begin of the pass; None where it had ended.
    uids = {decision.name: decision.uid for decision in plan.decisions}
    nodes, costly = (tuple(WaveNode(uids[name], name) for name in of) for of in (plan.wave, plan.costly))
    if before is not None and left is not None:
        dropped = set(left) - set(plan.wave)
        return replace(before, nodes=tuple(node for node in before.nodes if node.name not in dropped), costly=costly)
    if not (nodes or costly) or policy is None or plan.dry_run:
        return None
    deadline = plan.taken_at + (policy.wave or UNBOUNDED).deadline
    after = Wave(id=new_id, nodes=nodes, policy_hash=policy.hash, began=plan.taken_at, deadline=deadline, costly=costly)
    # Costly nodes alone are no wave that begins: as long as they are the same, nothing is written.
    if before is None or nodes or plan.taken_at >= before.deadline:
        return after
    return before if replace(after, id=before.id, began=before.began, deadline=before.deadline) == before else after


def still_to_order(plan: Plan, policy: Policy | None) -> tuple[str, ...]:
    """Return the nodes that a second pass before the next tick may order, in their order: only with `cluster.wave`."""
    # Without it, the schedule and `maxNodesPerPass` are the pace that the policy's author chose.
    if plan.dry_run or policy is None or policy.wave is None:
        return ()
    ordered = {order.node for order in plan.orders}
    return tuple(name for name in plan.wave if name not in ordered)


def second_pass_delay(interval: timedelta) -> timedelta:
    """Return how long after a pass the next is made while a wave has nodes left."""
    # By then a budget that counts until what was moved runs again (`drain.budgetUntil`) is mostly free.
    return interval / 2


@dataclass(frozen=True)
class SoftTaints:
    """Which nodes must get the soft taint of a wave, and which must lose it."""

    hold: tuple[WaveNode, ...] = ()
    let_go: tuple[WaveNode, ...] = ()


def soft_taints(
    nodes: Iterable[Node], state: ClusterState, wave: Wave | None, before: Wave | None = None
) -> SoftTaints:
    """Compare the taints that stand with the wave that lives; None: no node may keep one."""
    # What only the wave `before` named is freed, tainted or not: an order of that wave may be about to taint it. A
    # node in flight is left alone: its next give-back or deletion decides. One that the autoscaler has announced has
    # a soft taint already, and two on one node halve the weight of those on others.
    wanted, left = ({node.uid for node in of.held} if of else set() for of in (wave, before))
    free = [node for node in nodes if not is_leaving(node, state.claims)]
    bare = (node for node in free if not (node.softly_held or node.is_announced))
    return SoftTaints(
        hold=_wave_nodes(node for node in bare if node.uid in wanted),
        let_go=_wave_nodes(node for node in free if node.uid not in wanted and (node.held or node.uid in left)),
    )


def _wave_nodes(nodes: Iterable[Node]) -> tuple[WaveNode, ...]:
    return tuple(WaveNode(node.uid, node.name) for node in nodes)
