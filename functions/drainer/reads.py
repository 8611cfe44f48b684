"""What the drains of one instance read together, and how old it may be.

`whole_snapshot` is the one way to a snapshot of the whole cluster: for the proof of placement of an order, and for
anything else that needs to know where there is room. It is read at most once at a time in an instance, so that the cost
of an order does not grow with the orders beside it; ask for it as late as you can, and read the state after it.

Each function raises Retryable when something cannot be read, or when another order has been reading it for too long.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from shared.core.cluster.autoscaling import NO_CLASSES, Buffers, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.draining.admission import still_reflects
from shared.core.draining.evicting import WORKLOADS_STAND_FOR
from shared.core.policy import Policy
from shared.core.records.orders import Order
from shared.core.records.state import ClusterState
from shared.errors import BadPolicy, EbbError
from shared.ports import Ports
from shared.readings import DatedReading
from shared.store.compare_and_set import read_cluster
from shared.store.snapshots import snapshot_of, warn_of_unread

T = TypeVar("T")
WHOLE_FOR: Final = timedelta(seconds=20)
"""How old a snapshot of the whole cluster may be that another order has read; also what stands behind volumes."""
NODES_FOR: Final = timedelta(seconds=5)
"""The same of the nodes that an order's counts are made of: no longer than one order's own calls take."""
LOOKS_FOR: Final = timedelta(seconds=2)
"""The same of what each look sees: twenty drains that look every five seconds then read twice, not twenty times."""
BUFFERS_FOR: Final = timedelta(seconds=5)
"""The same of capacity buffers, whose counts the autoscaler writes once a loop."""
CLASSES_FOR: Final = timedelta(minutes=1)
"""The same of ComputeClasses, which people change."""


@dataclass(frozen=True)
class WholeSnapshot:
    """The whole cluster, and the cluster's document as it stood just before the reading of it began."""

    snapshot: Snapshot
    state: ClusterState


def whole_snapshot(
    ports: Ports, order: Order, state: ClusterState, now: datetime, *, not_before: datetime | None = None
) -> Snapshot:
    """Return a snapshot of the whole cluster that reflects `state`, read by this call or lately by another one.

    One that this call has waited for is as good as its own. Its times are those of just before it began.

    Args:
        ports: the world.
        order: the drain's; its own claim has moved nothing yet.
        state: the cluster's document as the caller read it.
        now: the state's time of that reading.
        not_before: what the snapshot must not be older than, even if another order has read it.
    """

    def is_good(last: WholeSnapshot) -> bool:
        taken_at = last.snapshot.taken_at
        if not_before is not None and taken_at < not_before:
            return False
        return taken_at >= now or (
            now - taken_at <= WHOLE_FOR and still_reflects(last.state, state, taken_at, now, order.order_id)
        )

    found, is_shared = _whole(ports, order, is_good)
    age = max((now - found.taken_at).total_seconds(), 0.0)
    how = "that another order of this instance had read" if is_shared else "read for it"
    message = f"The proof of placement rests on a snapshot of the whole cluster {how}."
    ports.log.event("drain_step", message, reason="whole_picture", shared=is_shared, age_seconds=round(age, 3))
    return found


def snapshot_since(ports: Ports, order: Order, since: datetime) -> Snapshot:
    """Return a snapshot of the whole cluster that this instance has read since then, however old."""
    return _whole(ports, order, lambda last: last.snapshot.taken_at >= since)[0]


def _whole(ports: Ports, order: Order, is_good: Callable[[WholeSnapshot], bool]) -> tuple[Snapshot, bool]:
    def read() -> WholeSnapshot:
        state, _, began_at = read_cluster(ports.state)
        reading = ports.cluster.read()
        warn_of_unread(ports.log, "drain_step", reading)
        return WholeSnapshot(snapshot_of(order.cluster, reading, ports.pools.read(), began_at, began_at), state)

    found, is_shared = ports.shared.get("the whole cluster", is_good, read, ports.clock.sleep)
    return found.snapshot, is_shared


def nodes(ports: Ports, now: datetime) -> DatedReading[tuple[Node, ...]]:
    return _recent(ports, "nodes", now, NODES_FOR, ports.cluster.all_nodes)


def disruption_budgets(ports: Ports, now: datetime) -> tuple[PodDisruptionBudget, ...]:
    return _recent(ports, "PodDisruptionBudgets", now, LOOKS_FOR, ports.cluster.disruption_budgets).value


def unbound_pods(ports: Ports, now: datetime, *, shared: bool = True) -> tuple[Pod, ...]:
    """Return the pods that no node has yet; as they stand now unless `shared`.

    To count replacements, read the waiting pods after the workloads' own counts.
    """
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
    """Return what the ComputeClasses say of scale-down; nothing is read for a node that is of none."""
    if not node.labels.get(COMPUTE_CLASS_LABEL):
        return NO_CLASSES
    return _recent(ports, "capacity buffers", now, CLASSES_FOR, ports.cluster.buffers).value[1]


def workloads(ports: Ports, controllers: Iterable[str], now: datetime) -> tuple[Mapping[str, Workload], datetime]:
    """Return what stands behind pods, by `PodClass.workload`, and a time after which all was read.

    Drains that move pods of the same workloads read them once, and only one reads at a time: so many calls a second
    as one after the other can be.
    """
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
    except EbbError as fault:
        ports.log.event("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None
