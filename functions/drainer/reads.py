"""What the drains of one instance read together, and how old it may be. All raise Retryable if it cannot be read.

`whole_snapshot` is the one way to the whole cluster, read once at a time in an instance: so the cost of an order does
not grow with other orders. Read it as late as you can, and the state after it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from shared.core.cluster.autoscaling import NO_CLASSES, Buffers, ComputeClasses, scale_down_of
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.draining.admission import lost_place, may_move, still_reflects
from shared.core.draining.completion import reasons_not_deleted
from shared.core.draining.cordon import may_be_taken
from shared.core.draining.drain import Observation, OtherDrain, OtherDrains, Proof
from shared.core.draining.evicting import WORKLOADS_STAND_FOR
from shared.core.policy import Policy
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Order
from shared.core.records.state import Claim, ClusterState
from shared.errors import BadPolicy, Gone, Retryable, Terminal, Unreadable
from shared.ports import Ports, drain_key
from shared.readings import DatedReading
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import LeasedRecord
from shared.store.snapshots import snapshot_of, warn_of_unread

T = TypeVar("T")
_WHOLE: Final = "the whole cluster"
MOST_READS: Final = 10  # Records of other drains that are read at once.
WHOLE_FOR: Final = timedelta(seconds=20)
"""How old a snapshot of the whole cluster may be that another order has read; also what stands behind volumes."""
NODES_FOR: Final = timedelta(seconds=5)
"""The same of the nodes that an order's counts are made of: no longer than one order's own calls take."""
LOOKS_FOR: Final = timedelta(seconds=2)
"""The same of what each look sees: twenty drains that look every five seconds then read twice, not twenty times."""
BUFFERS_FOR: Final = timedelta(seconds=5)
"""The same of capacity buffers, whose counts the autoscaler writes once a loop."""
CLASSES_FOR: Final = timedelta(minutes=1)  # The same of ComputeClasses, which people change.


@dataclass(frozen=True)
class WholeSnapshot:
    """The whole cluster, and the cluster's document as it stood just before that reading began."""

    snapshot: Snapshot
    state: ClusterState


def whole_snapshot(
    ports: Ports, order: Order, state: ClusterState, now: datetime, *, not_before: datetime | None = None
) -> Snapshot:
    """Return a snapshot of the whole cluster that reflects `state`, read by this call or lately by another one.

    `now` is the time of `state`. The claim of `order` has moved nothing yet. The snapshot's times are those of just
    before it began, and not before `not_before`. One that this call has waited for is as good as its own.
    """

    def is_good(last: WholeSnapshot) -> bool:
        taken_at = last.snapshot.taken_at
        if not_before is not None and taken_at < not_before:
            return False
        return taken_at >= now or (
            now - taken_at <= WHOLE_FOR and still_reflects(last.state, state, taken_at, now, order.order_id)
        )

    read = partial(_read_whole, ports, order)
    found, is_shared = ports.shared.get(_WHOLE, is_good, read, ports.clock.sleep)
    age = max((now - found.snapshot.taken_at).total_seconds(), 0.0)
    how = "that another order of this instance had read" if is_shared else "read for it"
    message = f"The proof of placement rests on a snapshot of the whole cluster {how}."
    ports.log.event("drain_step", message, reason="whole_picture", shared=is_shared, age_seconds=round(age, 3))
    return found.snapshot


def _read_whole(ports: Ports, order: Order) -> WholeSnapshot:
    state, _, began_at = read_cluster(ports.state)
    reading = ports.cluster.read()
    warn_of_unread(ports.log, "drain_step", reading)
    return WholeSnapshot(snapshot_of(order.cluster, reading, ports.pools.read(), began_at, began_at), state)


def node_named(ports: Ports, name: str) -> Node | None:
    try:
        return ports.cluster.node(name)
    except Gone:
        return None


def nodes(ports: Ports, now: datetime) -> DatedReading[tuple[Node, ...]]:
    return _recent(ports, "nodes", now, NODES_FOR, ports.cluster.all_nodes)


def disruption_budgets(ports: Ports, now: datetime) -> tuple[PodDisruptionBudget, ...]:
    return _recent(ports, "PodDisruptionBudgets", now, LOOKS_FOR, ports.cluster.disruption_budgets).value


def unbound_pods(ports: Ports, now: datetime, *, shared: bool = True) -> tuple[Pod, ...]:
    """Return pods without a node, as of now unless `shared`; read them after the workloads' counts."""
    age = LOOKS_FOR if shared else timedelta(0)
    return _recent(ports, "pods without a node", now, age, ports.cluster.unbound_pods).value


def storage_of(ports: Ports, pods: Iterable[Pod], now: datetime) -> Storage:
    """Return what stands behind the volumes of pods; nothing is read where they have no claim."""
    if not uses_claims(pods):
        return NO_CLAIMS
    return _recent(ports, "claims and volumes", now, WHOLE_FOR, ports.cluster.storage).value


def buffers(ports: Ports, now: datetime) -> Buffers:
    return _recent(ports, "capacity buffers", now, BUFFERS_FOR, ports.cluster.buffers).value[0]


def compute_classes(ports: Ports, node: Node, now: datetime) -> ComputeClasses:
    """Return the scale-down settings of ComputeClasses; nothing is read for a node that is of none."""
    if not node.labels.get(COMPUTE_CLASS_LABEL):
        return NO_CLASSES
    return _recent(ports, "capacity buffers", now, CLASSES_FOR, ports.cluster.buffers).value[1]


def workloads(ports: Ports, controllers: Iterable[str], now: datetime) -> tuple[Mapping[str, Workload], datetime]:
    """Return what stands behind pods, and a time after which all was read: once for all drains, one read at a time."""
    names, read = sorted(set(controllers) - {""}), ports.cluster.workloads_of
    return ports.shared.rows("workloads", names, now, WORKLOADS_STAND_FOR, read, ports.clock.sleep)


def _recent(ports: Ports, what: str, now: datetime, stands_for: timedelta, read: Callable[[], T]) -> DatedReading[T]:
    return ports.shared.recent(what, now, stands_for, read, ports.clock.sleep)


def valid_policy(ports: Ports) -> Policy | None:
    """Return the policy, and name it in the log from now on; None when it is missing or invalid, which is logged."""
    try:
        policy = ports.policy.read()
    except BadPolicy as fault:
        ports.log.event("policy_invalid", str(fault), severity="ERROR")
        return None
    ports.log.add(policy_hash=policy.hash)
    return policy


def policy_in_reach(ports: Ports) -> Policy | None:
    """Return the policy; None also when it cannot be read: a drain that has begun ends by its claim's settings then."""
    try:
        return valid_policy(ports)
    except Exception as fault:  # noqa: BLE001 - not even a fault of Ebb may keep a drain from its end
        ports.log.event("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None


def why_kept(ports: Ports, node: Node, now: datetime) -> str:
    """Return why the node still stands, in the autoscaler's words where it gave any."""
    cluster = ports.cluster
    try:
        failure = cluster.deletion_attempts(node.name).failure
        found = ports.pools.read()
        pool, classes = found.pools.get(node.pool), compute_classes(ports, node, now)
        rule = scale_down_of(node, pool, found.profile, classes)
        return reasons_not_deleted(node, cluster.pods_on(node.name), cluster.all_nodes(), pool, rule, failure, now)
    except Exception as fault:  # noqa: BLE001 - it only explains: the node is returned whatever fails here
        return f"Why the autoscaler kept it could not be read: {fault}"


def in_upgrade(ports: Ports, node: Node, now: datetime) -> bool:
    """Return whether an upgrade of its pool may be emptying the node. Where that cannot be read, it is not known to."""
    try:
        pool = ports.pools.read().pools.get(node.pool)
        if pool is None or not pool.upgrading:
            return False
        return may_be_taken(node, pool, nodes(ports, now).value)
    except Exception:  # noqa: BLE001 - it only puts a return off: not even a fault of Ebb may keep the node
        return False


def prove(ports: Ports, leased: LeasedRecord, node: Node, not_before: datetime | None) -> Proof:
    """Prove on a snapshot of the whole cluster that what is on the node has a place elsewhere.

    The snapshot is not older than `not_before`, and another drain may have read it. Which drains move pods already is
    only read if there is no place when all of them do. Raises Retryable: a part cannot be read.
    """
    order = leased.record.order
    state, _, now = read_cluster(ports.state)
    snapshot = whole_snapshot(ports, order, state, now, not_before=not_before)
    state, _, _ = read_cluster(ports.state)
    seen = snapshot.node_by_name.get(node.name)
    if seen is None:
        return Proof(snapshot.taken_at, leased.time.now())
    against = lost_place(seen, snapshot, state, [claim.node for claim in state.claims.values()])
    if against:
        against = lost_place(seen, snapshot, state, _moving(ports, order, state))
    room = {buffer.key: buffer.ready for buffer in snapshot.buffers.held if buffer.ready is not None}
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
    """Return the observation with the other drains, and what stands behind the pods that they have moved."""
    state, _, _ = read_cluster(ports.state)
    drains = tuple(_others(ports, leased.record.node_uid, state.claims))
    theirs = {controller for drain in drains for controller in drain.record.before}
    seen, _ = workloads(ports, theirs - observed.workloads.keys(), leased.time.now())
    snapshot = _snapshot_since_claim(ports, leased.record.order, observed.claim) if drains else None
    others = OtherDrains(drains, tuple(state.backoffs.values()), snapshot)
    return replace(observed, others=others, workloads={**seen, **observed.workloads})


def _snapshot_since_claim(ports: Ports, order: Order, claim: Claim | None) -> Snapshot | None:
    """Return a whole snapshot of after the claim, read once if need be, so that all drains choose alike."""
    if claim is None:
        return None
    read = partial(_read_whole, ports, order)
    try:
        found, _ = ports.shared.get(_WHOLE, lambda last: last.snapshot.taken_at >= claim.since, read, ports.clock.sleep)
    except (Retryable, Terminal):
        return None
    return found.snapshot


def _others(ports: Ports, own_uid: str, claims: Mapping[str, Claim]) -> Iterable[OtherDrain]:
    """Read the records of the other claims; one that cannot be read has nobody who could give its node back."""
    others = [claim for uid, claim in claims.items() if uid != own_uid]
    for claim, record in _read_records(ports, others):
        if isinstance(record, DrainRecord):
            yield OtherDrain(claim.since, record)
