"""What a step sees before it decides: fresh reads, the proof that pods have a place, other drains."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from functions.drainer import reads
from shared.core.cluster.autoscaling import NO_BUFFERS, scale_down_of
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import claim_keys
from shared.core.draining.admission import lost_place, may_move
from shared.core.draining.completion import reasons_not_deleted
from shared.core.draining.drain import Compare, GiveBack, Observation, OtherDrain, OtherDrains, Proof, Prove, Step
from shared.core.draining.evicting import stands_until
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, waiting_for_a_place
from shared.core.draining.upgrades import may_be_taken
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Order
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.workload_limits import other_claims
from shared.errors import EbbError, Gone, Retryable, Terminal, Unreadable
from shared.port_types import drain_key
from shared.ports import Ports
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import LeasedRecord
from shared.store.snapshots import deletion_begun_at

MOST_READS: Final = 10
"""Records of other drains that are read at once."""
SLOW_READS_STAND_FOR: Final = timedelta(seconds=5)


def why_kept(ports: Ports, node: Node, now: datetime) -> str:
    """Return why the node still stands, in the autoscaler's words where it gave any."""
    cluster = ports.cluster
    try:
        failure = cluster.deletion_attempts(node.name).failure
        found = ports.pools.read()
        pool, classes = found.pools.get(node.pool), reads.compute_classes(ports, node, now)
        rule = scale_down_of(node, pool, found.profile, classes)
        return reasons_not_deleted(node, cluster.pods_on(node.name), cluster.all_nodes(), pool, rule, failure, now)
    except EbbError as error:
        return f"Why the autoscaler kept it could not be read: {error}"


def in_upgrade(ports: Ports, node: Node, now: datetime) -> bool:
    """Return whether an upgrade of its pool may be emptying the node. Where that cannot be read, it is not known to."""
    try:
        pool = ports.pools.read().pools.get(node.pool)
        if pool is None or not pool.upgrading:
            return False
        return may_be_taken(node, pool, reads.nodes(ports, now).value)
    except EbbError:
        return False


class Observer:
    """What the drainer sees; the slow parts are remembered for a few seconds."""

    def __init__(self, ports: Ports, leased: LeasedRecord) -> None:
        self._ports, self._leased = ports, leased
        self._slow: Observation | None = None
        self._read_at = float("-inf")
        self._proof: Proof | None = None
        self._asked: frozenset[str] = frozenset()
        self._exclusive: frozenset[str] = frozenset()

    def look(self) -> tuple[Observation, Step]:
        """Return what stands and the step that follows; what the step needs to know is read, and it is chosen again.

        Raises:
            Retryable, Terminal: a part cannot be read.
            Stale: another step has overtaken this one.
        """
        observed, step = self._choose(self.observe)
        if isinstance(step, Prove) and observed.node is not None:
            self._proof = prove(self._ports, self._leased, observed.node, self._proof)
            self._leased.renew()  # and look at once, however long that took: in a new message it would be old
            observed, step = self._choose(self.observe)
        if isinstance(step, GiveBack):  # what undoes a drain rests on what stands in this moment
            observed, step = self._choose(self.observe_anew)
        return observed, step

    def _choose(self, observe: Callable[[], Observation]) -> tuple[Observation, Step]:
        now = self._leased.time.now()
        observed = observe()
        step = next_step(self._leased.record, observed, now)
        if isinstance(step, Compare):
            step = next_step(self._leased.record, with_others(self._ports, self._leased, observed), now)
        return observed, step

    def observe(self) -> Observation:
        """Return the observation of this moment. Raises Retryable when a part cannot be read."""
        node = self._read_node()
        pods = self._ports.cluster.pods_on(node.name) if node else ()
        self._remember_emptiness(pods)
        slow = self._slow_reads(pods)
        return replace(
            slow,
            node=node,
            pods=pods,
            unbound=self._waiting_for_a_place(slow.unbound, pods),
            emptied_at=self._leased.record.emptied_at,
            deletion_begun_at=self._begun_at(node),
            proof=self._proof,
        )

    def observe_anew(self) -> Observation:
        """Return the observation with nothing remembered. Raises Retryable when a part cannot be read."""
        self._read_at = float("-inf")
        observed = self.observe()
        taken = observed.node is not None and in_upgrade(self._ports, observed.node, self._leased.time.now())
        return replace(observed, in_upgrade=taken)

    def _remember_emptiness(self, pods: tuple[Pod, ...]) -> None:
        now, record = self._leased.time.now(), self._leased.record
        emptied_at = None if movable(pods, now) else record.emptied_at or now
        if emptied_at != record.emptied_at:
            self._leased.remember(emptied_at=emptied_at)

    def _waiting_for_a_place(self, unbound: tuple[Pod, ...], pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        """Return the waiting pods; one that waits for the end of a pod on this node does not wait for a place."""
        wanted = frozenset(key for pod in unbound for key in claim_keys(pod))
        held = self._for_one_pod(wanted & claims_on_their_way_out(pods), pods)
        if held:
            self._leased.remember(claims_held_at=self._leased.time.now())
        held_at = self._leased.record.claims_held_at
        return tuple(waiting_for_a_place(pod, held, held_at) for pod in unbound)

    def _for_one_pod(self, claims: frozenset[str], pods: tuple[Pod, ...]) -> frozenset[str]:
        """Return which of the claims one pod at a time may use; what is asked for is read once a step."""
        if not claims <= self._asked:
            storage = reads.storage_of(self._ports, pods, self._leased.time.now())
            self._asked, self._exclusive = self._asked | claims, self._exclusive | for_one_pod(claims, storage)
        return claims & self._exclusive

    def _begun_at(self, node: Node | None) -> datetime | None:
        """Ask what the autoscaler did only where our cordon is gone and our taint is not."""
        cleared = node is not None and node.drain_taint is not None and not node.unschedulable
        return deletion_begun_at(self._ports, "drain_step", node.name) if node and cleared else None

    def _read_node(self) -> Node | None:
        record = self._leased.record
        try:
            node = self._ports.cluster.node(record.order.node)
        except Gone:
            return None
        return node if node.uid == record.node_uid else None

    def _slow_reads(self, pods: tuple[Pod, ...]) -> Observation:
        moment = self._ports.clock.monotonic()
        if self._slow is None or moment - self._read_at >= SLOW_READS_STAND_FOR.total_seconds():
            self._slow = self._read_slow_parts(pods)
            self._read_at = moment
        return self._slow

    def _read_slow_parts(self, pods: tuple[Pod, ...]) -> Observation:
        """Read all but the node and its pods; the lines that follow name the pool and the policy that were read."""
        ports, record, time = self._ports, self._leased.record, self._leased.time
        now = time.now()
        state, _, _ = read_cluster(ports.state)
        claim = state.claims.get(record.node_uid)
        if claim is not None:
            ports.log.add(pool=claim.pool)
        workloads, workloads_at = reads.workloads(ports, self._controllers(pods), now)
        return Observation(
            node=None,
            claim=claim,
            disruption_budgets=reads.disruption_budgets(ports, time.now()),
            workloads=workloads,
            workloads_at=workloads_at,
            other_claims=other_claims(state.claims, record.node_uid),
            working=sum(not each.drained for each in state.claims.values()),
            unbound=reads.unbound_pods(ports, time.now(), shared=not record.before),
            policy=reads.policy_in_reach(ports),
            paused=state.paused,
            buffers=reads.buffers(ports, time.now()) if record.buffers else NO_BUFFERS,
        )

    def _controllers(self, pods: tuple[Pod, ...]) -> Iterator[str]:
        """Name the controllers of what is to move, of what was moved, and of what waited beside it at the last look.

        The latter tells which waiting pods are of a Deployment that was moved: of its other ReplicaSets.
        """
        moved = self._leased.record.before
        yield from (pod.spec.workload for pod in movable(pods, self._leased.time.now()))
        yield from moved
        namespaces = {controller.partition("/")[0] for controller in moved}
        waiting = self._slow.unbound if self._slow else ()
        yield from (pod.spec.workload for pod in waiting if pod.spec.namespace in namespaces)


def prove(ports: Ports, leased: LeasedRecord, node: Node, last: Proof | None = None) -> Proof:
    """Prove on a snapshot of the whole cluster at this moment that what is on the node has a place elsewhere.

    It is younger than our cordon, or than the end of our last proof, and may have been read by another drain. Which
    drains move pods already is only asked where the fit is not there if all of them do.

    Raises:
        Retryable: a part cannot be read.
    """
    order = leased.record.order
    state, _, now = read_cluster(ports.state)
    not_before = stands_until(last) if last else leased.record.cordoned_at
    snapshot = reads.whole_snapshot(ports, order, state, now, not_before=not_before)
    state, _, _ = read_cluster(ports.state)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None:
        return Proof(snapshot.taken_at, leased.time.now())
    against = lost_place(seen, snapshot, state, [claim.node for claim in state.claims.values()])
    if against:
        against = lost_place(seen, snapshot, state, _moving(ports, order, state))
    room = {each.key: each.ready for each in snapshot.buffers.held if each.ready is not None}
    return Proof(snapshot.taken_at, leased.time.now(), against, room)


def _moving(ports: Ports, order: Order, state: ClusterState) -> list[str]:
    """Return the nodes of the other drains that move pods: those drained already, and others by their own record."""
    others = [claim for claim in state.claims.values() if claim.order_id != order.order_id]
    records = _read_records(ports, [claim for claim in others if not claim.drained])
    moving = [claim for claim, record in records if isinstance(record, Unreadable) or may_move(record)]
    return [claim.node for claim in (*(claim for claim in others if claim.drained), *moving)]


def _read_records(ports: Ports, claims: Sequence[Claim]) -> list[tuple[Claim, DrainRecord | Unreadable | None]]:
    """Return each claim with its drain's record, or with what keeps it from being read. Raises Retryable."""

    def read(claim: Claim) -> DrainRecord | Unreadable | None:
        try:
            return ports.state.get(drain_key(claim.order_id)).value
        except Unreadable as fault:
            return fault

    found = ports.together(read, claims, MOST_READS) if claims else []
    return list(zip(claims, found, strict=True))


def with_others(ports: Ports, leased: LeasedRecord, observed: Observation) -> Observation:
    """Return the observation with the other drains in it, and what stands behind the pods that they have moved.

    Read only where it matters what those have moved.

    Raises:
        Retryable: a document or a workload cannot be read.
    """
    state, _, _ = read_cluster(ports.state)
    drains = tuple(_others(ports, leased.record.node_uid, state.claims))
    theirs = {controller for each in drains for controller in each.record.before}
    seen, _ = reads.workloads(ports, theirs - observed.workloads.keys(), leased.time.now())
    snapshot = _snapshot_since_claim(ports, leased.record.order, observed.claim) if drains else None
    others = OtherDrains(drains, tuple(state.backoffs.values()), snapshot)
    return replace(observed, others=others, workloads={**seen, **observed.workloads})


def _snapshot_since_claim(ports: Ports, order: Order, claim: Claim | None) -> Snapshot | None:
    """Return a whole snapshot of this instance since the claim; None where it has none and cannot read one now.

    All drains choose alike only if each has one, so an instance that has none reads it once, although a pod waits.
    """
    try:
        return reads.snapshot_since(ports, order, claim.since) if claim else None
    except (Retryable, Terminal):
        return None


def _others(ports: Ports, own_uid: str, claims: Mapping[str, Claim]) -> Iterable[OtherDrain]:
    """Read the records of the other claims; one that cannot be read has nobody who could give its node back."""
    others = [claim for uid, claim in claims.items() if uid != own_uid]
    for claim, record in _read_records(ports, others):
        if isinstance(record, DrainRecord):
            yield OtherDrain(claim.since, record)
