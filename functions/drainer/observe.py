"""What a step sees before it decides: fresh reads, the proof that pods have a place, and why a node stands."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from functions.drainer import reads
from functions.drainer.other_drains import read_records
from functions.drainer.session import DrainSession, policy_in_reach
from shared.core.cluster.autoscaling import scale_down_of
from shared.core.cluster.buffers import NO_BUFFERS
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import claim_keys
from shared.core.draining.admission import lost_place, may_move
from shared.core.draining.evicting import stands_until
from shared.core.draining.observation import Observation, Proof
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, waiting_for_a_place
from shared.core.draining.why_not_deleted import reasons_not_deleted
from shared.core.records.state import ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.upgrades import may_be_taken
from shared.core.rules.workload_limits import other_claims
from shared.errors import EbbError, Gone, Unreadable
from shared.ports import Ports
from shared.store.compare_and_set import read_cluster
from shared.store.snapshots import deletion_begun_at


def why_kept(ports: Ports, node: Node, now: datetime) -> str:
    """Return why the node still stands, in the autoscaler's words where it said any."""
    cluster = ports.cluster
    try:
        said = cluster.deletion_failure(node.name)
        found = ports.pools.read()
        pool, classes = found.pools.get(node.pool), reads.compute_classes(ports, node, now)
        rule = scale_down_of(node, pool, found.profile, classes)
        return reasons_not_deleted(node, cluster.pods_on(node.name), cluster.all_nodes(), pool, rule, said, now)
    except EbbError as error:
        return f"Why the autoscaler kept it could not be read: {error}"


def begun_at(session: DrainSession, node: Node) -> datetime | None:
    """Return when the autoscaler last began to delete the node; what cannot be read counts as nothing said."""
    return deletion_begun_at(session.log_event, "drain_step", session.ports.cluster, node.name)


def prove(session: DrainSession, node: Node, last: Proof | None = None) -> Proof:
    """Prove on a whole picture of this moment that what is on the node has a place elsewhere.

    It is younger than our cordon, or than the end of our last proof, and may have been read by another drain. Which
    drains move pods already is only asked where the fit is not there if all of them do.

    Raises:
        Retryable: a part cannot be read.
    """
    state, _, now = read_cluster(session.ports.state)
    not_before = stands_until(last) if last else session.record.cordoned_at
    snapshot = reads.whole_snapshot(session, state, now, not_before=not_before)
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


SLOW_READS_STAND_FOR: Final = timedelta(seconds=5)


def in_upgrade(session: DrainSession, node: Node) -> bool:
    """Return whether an upgrade of its pool may be emptying the node. Where that cannot be read, it is not known to."""
    try:
        pool = session.ports.pools.read().pools.get(node.pool)
        if pool is None or not pool.upgrading:
            return False
        return may_be_taken(node, pool, reads.nodes(session.ports, session.time.now()).value)
    except EbbError:
        return False


class Observer:
    """What the drainer sees; the slow parts are remembered for a few seconds."""

    def __init__(self, session: DrainSession) -> None:
        self._session = session
        self._slow: Observation | None = None
        self._read_at = float("-inf")
        self._proof: Proof | None = None
        self._asked: frozenset[str] = frozenset()
        self._exclusive: frozenset[str] = frozenset()

    def observe(self) -> Observation:
        """Return the observation of this moment. Raises Retryable when a part cannot be read."""
        node = self._read_node()
        pods = self._session.ports.cluster.pods_on(node.name) if node else ()
        self._remember_emptiness(pods)
        slow = self._slow_reads(pods)
        return replace(
            slow,
            node=node,
            pods=pods,
            unbound=self._waiting_for_a_place(slow.unbound, pods),
            emptied_at=self._session.record.emptied_at,
            deletion_begun_at=self._begun_at(node),
            proof=self._proof,
        )

    def observe_anew(self) -> Observation:
        """Return the observation with nothing remembered. Raises Retryable when a part cannot be read."""
        self._read_at = float("-inf")
        observed = self.observe()
        taken = observed.node is not None and in_upgrade(self._session, observed.node)
        return replace(observed, in_upgrade=taken)

    def prove(self, node: Node) -> None:
        """Look at the whole cluster whether what is on the node has a place elsewhere. Raises Retryable."""
        self._proof = prove(self._session, node, self._proof)

    def _remember_emptiness(self, pods: tuple[Pod, ...]) -> None:
        now, leased = self._session.time.now(), self._session.leased
        emptied_at = None if movable(pods, now) else leased.record.emptied_at or now
        if emptied_at != leased.record.emptied_at:
            leased.remember(emptied_at=emptied_at)

    def _waiting_for_a_place(self, unbound: tuple[Pod, ...], pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        """Return the waiting pods; one that waits for the end of a pod on this node does not wait for a place."""
        wanted = frozenset(key for pod in unbound for key in claim_keys(pod))
        held = self._for_one_pod(wanted & claims_on_their_way_out(pods), pods)
        if held:
            self._session.leased.remember(claims_held_at=self._session.time.now())
        held_at = self._session.record.claims_held_at
        return tuple(waiting_for_a_place(pod, held, held_at) for pod in unbound)

    def _for_one_pod(self, claims: frozenset[str], pods: tuple[Pod, ...]) -> frozenset[str]:
        """Return which of the claims one pod at a time may use; what is asked for is read once a step."""
        if not claims <= self._asked:
            storage = reads.storage_of(self._session.ports, pods, self._session.time.now())
            self._asked, self._exclusive = self._asked | claims, self._exclusive | for_one_pod(claims, storage)
        return claims & self._exclusive

    def _begun_at(self, node: Node | None) -> datetime | None:
        """Ask what the autoscaler did only where our cordon is gone and our taint is not."""
        cleared = node is not None and node.drain_taint is not None and not node.unschedulable
        return begun_at(self._session, node) if node and cleared else None

    def _read_node(self) -> Node | None:
        record = self._session.record
        try:
            node = self._session.ports.cluster.node(record.order.node)
        except Gone:
            return None
        return node if node.uid == record.node_uid else None

    def _slow_reads(self, pods: tuple[Pod, ...]) -> Observation:
        moment = self._session.ports.clock.monotonic()
        if self._slow is None or moment - self._read_at >= SLOW_READS_STAND_FOR.total_seconds():
            self._slow = self._read_slow_parts(pods)
            self._read_at = moment
        return self._slow

    def _read_slow_parts(self, pods: tuple[Pod, ...]) -> Observation:
        """Read all but the node and its pods; the lines that follow name the pool and the policy that were read."""
        ports, record, now = self._session.ports, self._session.record, self._session.time.now()
        state, _, _ = read_cluster(ports.state)
        claim = state.claims.get(record.node_uid)
        workloads, workloads_at = reads.workloads(ports, self._controllers(pods), now)
        budgets = reads.disruption_budgets(ports, self._session.time.now())
        unbound = reads.unbound_pods(ports, self._session.time.now(), shared=not record.before)
        self._session = self._session.with_pool(claim.pool if claim else "")
        policy = policy_in_reach(self._session)
        self._session = self._session.with_policy(policy)
        return Observation(
            node=None,
            claim=claim,
            disruption_budgets=budgets,
            workloads=workloads,
            workloads_at=workloads_at,
            other_claims=other_claims(state.claims, record.node_uid),
            working=sum(not each.drained for each in state.claims.values()),
            unbound=unbound,
            policy=policy,
            paused=state.paused,
            buffers=reads.buffers(ports, self._session.time.now()) if record.buffers else NO_BUFFERS,
        )

    def _controllers(self, pods: tuple[Pod, ...]) -> Iterator[str]:
        """Name the controllers of what is to move, of what was moved, and of what waited beside it at the last look.

        The latter tells which waiting pods are of a Deployment that was moved: of its other ReplicaSets.
        """
        moved = self._session.record.before
        yield from (pod.spec.workload for pod in movable(pods, self._session.time.now()))
        yield from moved
        namespaces = {controller.partition("/")[0] for controller in moved}
        waiting = self._slow.unbound if self._slow else ()
        yield from (pod.spec.workload for pod in waiting if pod.spec.namespace in namespaces)
