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

from functions.drainer.session import DrainSession
from shared.core.cluster.autoscaling import NO_CLASSES, ComputeClasses
from shared.core.cluster.buffers import Buffers
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import Workload
from shared.core.draining.admission import still_reflects
from shared.core.draining.evicting import WORKLOADS_STAND_FOR
from shared.core.records.state import ClusterState
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
    session: DrainSession, state: ClusterState, now: datetime, *, not_before: datetime | None = None
) -> Snapshot:
    """Return a snapshot of the whole cluster that reflects `state`, read by this call or lately by another one.

    One that this call has waited for is as good as its own. Its times are those of just before it began.

    Args:
        session: the drain's; its own claim has moved nothing yet.
        state: the cluster's document as the caller read it.
        now: the state's time of that reading.
        not_before: what the snapshot must not be older than, even if another order has read it.
    """
    own = session.order.order_id

    def is_good(last: WholeSnapshot) -> bool:
        taken_at = last.snapshot.taken_at
        if not_before is not None and taken_at < not_before:
            return False
        return taken_at >= now or (
            now - taken_at <= WHOLE_FOR and still_reflects(last.state, state, taken_at, now, own)
        )

    found, is_shared = _whole(session, is_good)
    age = max((now - found.taken_at).total_seconds(), 0.0)
    how = "that another order of this instance had read" if is_shared else "read for it"
    message = f"The proof of placement rests on a snapshot of the whole cluster {how}."
    session.log_event("drain_step", message, reason="whole_picture", shared=is_shared, age_seconds=round(age, 3))
    return found


def snapshot_since(session: DrainSession, since: datetime) -> Snapshot:
    """Return a snapshot of the whole cluster that this instance has read since then, however old."""
    return _whole(session, lambda last: last.snapshot.taken_at >= since)[0]


def _whole(session: DrainSession, is_good: Callable[[WholeSnapshot], bool]) -> tuple[Snapshot, bool]:
    ports = session.ports

    def read() -> WholeSnapshot:
        state, _, began_at = read_cluster(ports.state)
        reading = ports.cluster.read()
        warn_of_unread(session.log_event, "drain_step", reading)
        return WholeSnapshot(snapshot_of(session.order.cluster, reading, ports.pools.read(), began_at, began_at), state)

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
    return _recent(ports, "capacity buffers", now, BUFFERS_FOR, ports.cluster.buffers).value


def compute_classes(ports: Ports, node: Node, now: datetime) -> ComputeClasses:
    """Return what the ComputeClasses say of scale-down; nothing is read for a node that is of none."""
    if not node.labels.get(COMPUTE_CLASS_LABEL):
        return NO_CLASSES
    return _recent(ports, "ComputeClasses", now, CLASSES_FOR, ports.cluster.compute_classes).value


def workloads(ports: Ports, controllers: Iterable[str], now: datetime) -> tuple[Mapping[str, Workload], datetime]:
    """Return what stands behind pods, by `PodClass.workload`, and a time after which all was read.

    Drains that move pods of the same workloads read them once, and only one reads at a time: so many calls a second
    as one after the other can be.
    """
    names, read = sorted(set(controllers) - {""}), ports.cluster.workloads_of
    return ports.shared.rows("workloads", names, now, WORKLOADS_STAND_FOR, read, ports.clock.sleep)


def _recent(ports: Ports, what: str, now: datetime, stands_for: timedelta, read: Callable[[], T]) -> DatedReading[T]:
    return ports.shared.recent(what, now, stands_for, read, ports.clock.sleep)
