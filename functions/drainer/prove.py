"""The proof of placement made once more before a drain's first eviction: what it is read from. No rule lives here."""

from typing import Final

from functions.drainer import shared_snapshots
from functions.drainer.session import DrainSession
from shared.core.cluster.node import Node
from shared.core.draining.evicting import stands_until
from shared.core.draining.observation import Proof
from shared.core.draining.proof import lost_place, may_move
from shared.core.records.state import Claim, ClusterState
from shared.documents import drain_key
from shared.errors import Unreadable
from shared.store.compare_and_set import read_cluster

MOST_READS: Final = 10
"""Records of other drains that are read at once."""


def prove(session: DrainSession, node: Node, last: Proof | None = None) -> Proof:
    """Prove on a whole picture of this moment that what is on the node has a place elsewhere.

    It is younger than our cordon, or than the end of our last proof, and may have been read by another drain. Which
    drains move pods already is only asked where the fit is not there if all of them do.

    Raises:
        Retryable: a part cannot be read.
    """
    state, _, now = read_cluster(session.ports.state)
    not_before = stands_until(last) if last else session.record.cordoned_at
    snapshot = shared_snapshots.whole_snapshot(session, state, now, not_before=not_before).snapshot
    state, _, _ = read_cluster(session.ports.state)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None:
        return Proof(snapshot.taken_at, session.time.now())
    against = lost_place(seen, snapshot, state, [claim.node for claim in state.claims.values()])
    if against:
        against = lost_place(seen, snapshot, state, _moving(session, state))
    return Proof(snapshot.taken_at, session.time.now(), against)


def _moving(session: DrainSession, state: ClusterState) -> list[str]:
    """Return the nodes of the other drains that move pods, each by its own record."""
    others = [claim for claim in state.claims.values() if claim.order_id != session.order.order_id]
    moving = session.ports.together(lambda claim: _moves(session, claim), others, MOST_READS) if others else []
    return [claim.node for claim, moves in zip(others, moving, strict=True) if moves]


def _moves(session: DrainSession, claim: Claim) -> bool:
    try:
        return bool(claim.drained) or may_move(session.ports.state.get(drain_key(claim.order_id)).value)
    except Unreadable:
        return True
