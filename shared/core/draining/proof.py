"""The proof just before a drain's first eviction: whether somebody took the room that was proved for it.

Every drain proves for itself, and all come to one answer: those that have begun to move pods go on, the others are
asked in the order of their claims, and only one whose own pods find no place is given back. So a pod that takes room
calls off as many drains as need that room, and one that fits nowhere none. Must not read the drains' records.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.planning.selection import announced_nodes, departing_nodes
from shared.core.reasons import Blocker
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import ClusterState

_AT_WORK: Final = frozenset({DrainPhase.CORDONED, DrainPhase.DRAINED})


def lost_place(node: Node, snapshot: Snapshot, state: ClusterState, moving: Collection[str]) -> tuple[Blocker, ...]:
    """Tell whether the node's pods fit at all any more, beside those that come before them.

    The plan's headroom and its other strategies are there for what happens between the plan and the first eviction: to
    ask for them once more would call off drains of one pass for the mere order in which their pods move.

    Args:
        node: the drain's own, which has moved nothing yet.
        snapshot: the picture.
        state: the cluster's document, read after the picture.
        moving: names of other claimed nodes whose pods move in any case; the more of them, the less room is left.
    """
    claimed = departing_nodes(snapshot, state) - {node.name}
    leaving = frozenset(each for each in claimed if _leaves(snapshot.node_by_name[each], state, moving))
    announced = announced_nodes(snapshot, claimed | {node.name})
    simulation = Simulation.of(
        snapshot, leaving, announced=announced, closed=claimed - leaving, lent=(node.name,), robust=False
    )
    simulation.ignore_unplaced()
    for earlier in _before(node, claimed - leaving, snapshot.node_by_name, state):
        simulation.try_remove(earlier)
    refused = simulation.try_remove(node.name)
    return (refused.blocker,) if refused else ()


def _leaves(node: Node, state: ClusterState, moving: Collection[str]) -> bool:
    """Whether the node's pods need a place whatever becomes of their drain: it has begun, or is none of ours."""
    return node.name in moving or node.uid not in state.claims or not node.ready


def _before(node: Node, others: Iterable[str], nodes: Mapping[str, Node], state: ClusterState) -> list[str]:
    """Return the nodes whose claims are older, the oldest first; all where our own is there no more."""

    def turn(each: Node) -> tuple[datetime, str]:
        return state.claims[each.uid].since, each.uid

    rows = sorted((nodes[name] for name in others), key=turn)
    return [each.name for each in rows if node.uid not in state.claims or turn(each) < turn(node)]


def may_move(record: DrainRecord | None) -> bool:
    """Whether a drain moves pods: it has let one go, or may have, or nothing is known of it."""
    if record is None:
        return True
    leaving = any(row.may_leave for row in record.pods.values())
    return record.phase in _AT_WORK and (leaving or bool(record.surges))
