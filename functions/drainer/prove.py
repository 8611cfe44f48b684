"""The proof of placement made once more before a drain's first eviction: what it is read from. No rule lives here."""

from functions.drainer import shared_snapshots
from functions.drainer.other_drains import read_records
from functions.drainer.session import DrainSession
from shared.core.cluster.node import Node
from shared.core.draining.admission import lost_place, may_move
from shared.core.draining.evicting import stands_until
from shared.core.draining.observation import Proof
from shared.core.records.state import ClusterState
from shared.errors import Unreadable
from shared.store.compare_and_set import read_cluster


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
    room = {each.key: each.ready for each in snapshot.buffers.held if each.ready is not None}
    return Proof(snapshot.taken_at, session.time.now(), against, room)


def _moving(session: DrainSession, state: ClusterState) -> list[str]:
    """Return the nodes of the other drains that move pods: those drained already, and others by their own record."""
    others = [claim for claim in state.claims.values() if claim.order_id != session.order.order_id]
    drained = [claim for claim in others if claim.drained]
    records = read_records(session, [claim for claim in others if not claim.drained])
    moving = [claim for claim, record in records if isinstance(record, Unreadable) or may_move(record)]
    return [claim.node for claim in (*drained, *moving)]
