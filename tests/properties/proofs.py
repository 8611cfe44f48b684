"""What the proof makes of a drawn cluster, as the laws judge it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation


@dataclass(frozen=True)
class Proof:
    """Where the proof puts pods once it has taken all nodes that it can."""

    judged: Snapshot
    """Without the pods of departing nodes that have no place: they are judged as pods that wait, and lie nowhere."""
    moves: Mapping[str, str]
    """By pod its new node."""
    drained: Collection[str]


def proof_of(snapshot: Snapshot, *, robust: bool = True) -> Proof:
    leaving = [node.name for node in snapshot.nodes if node.drain_taint is not None]
    simulation = Simulation.of(snapshot, leaving, robust=robust)
    for node in snapshot.nodes:
        if node.name not in leaving:
            simulation.try_remove(node.name)
    moves = moves_of(simulation)
    waiting = {row.key for row in simulation.unplaced} - moves.keys()
    judged = replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key not in waiting))
    return Proof(judged, moves, {*simulation.taken, *leaving})


def moves_of(simulation: Simulation) -> dict[str, str]:
    """Return by pod where it lies then: what waited, and what moved."""
    moved = (move for moves in simulation.assignments.moves().values() for move in moves)
    return {move.pod: move.node for move in (*simulation.assignments.reservations(), *moved)}
