"""What the drains of one instance see together, and how old it may be. No rule lives here.

`whole_snapshot` is the one way to a picture of the whole cluster: for the proof of placement of an order, and for
whatever else needs to know where there is room. It is read at most once at a time in an instance, so that the cost
of an order does not grow with the orders beside it; ask for it as late as you can, and read the state after it.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from functions.drainer.session import DrainSession
from shared.core.cluster.autoscaling import NO_CLASSES, ComputeClasses
from shared.core.cluster.buffers import Buffers
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import NO_CLAIMS, Storage, uses_claims
from shared.core.cluster.workloads import Workload
from shared.core.draining.admission import still_reflects
from shared.core.records.state import ClusterState
from shared.ports import Ports
from shared.readings import (
    BudgetsAndUnbound,
    BuffersReading,
    ClassesReading,
    NodesAndBudgets,
    StorageReading,
    WholeSnapshot,
)
from shared.store.compare_and_set import read_cluster
from shared.store.snapshots import snapshot_of, warn_of_unread

WHOLE_FOR: Final = timedelta(seconds=20)
"""How old a whole picture may be that another order has read."""
NODES_AND_BUDGETS_FOR: Final = timedelta(seconds=5)
"""The same of the nodes that an order's counts are made of: no longer than one order's own calls take."""
BUDGETS_AND_UNBOUND_FOR: Final = timedelta(seconds=2)
"""The same of what each look sees: twenty drains that look every five seconds then read twice, not twenty times."""

BUFFERS_FOR: Final = timedelta(seconds=5)
"""The same of capacity buffers, whose counts the autoscaler writes once a loop."""
CLASSES_FOR: Final = timedelta(minutes=1)
"""The same of ComputeClasses, which people change."""


def whole_snapshot(
    session: DrainSession, state: ClusterState, now: datetime, *, not_before: datetime | None = None
) -> WholeSnapshot:
    """Return a picture of the whole cluster that reflects `state`, read by this call or lately by another one.

    One that this call has waited for is as good as its own. Its snapshot's times are those of just before it began.

    Args:
        session: the drain's; its own claim has moved nothing yet.
        state: the cluster's document as the caller read it.
        now: the state's time of that reading.
        not_before: what the picture must not be older than, whoever has read it.

    Raises:
        Retryable: a part cannot be read, or another order has been reading for too long.
    """
    ports, own = session.ports, session.order.order_id

    def is_good(last: WholeSnapshot) -> bool:
        taken_at = last.snapshot.taken_at
        if not_before is not None and taken_at < not_before:
            return False
        return taken_at >= now or (
            now - taken_at <= WHOLE_FOR and still_reflects(last.state, state, taken_at, now, own)
        )

    found, is_shared = ports.shared.whole.get(is_good, lambda: _read(session), ports.clock.sleep)
    age = max((now - found.snapshot.taken_at).total_seconds(), 0.0)
    how = "that another order of this instance had read" if is_shared else "read for it"
    message = f"The proof of placement rests on a picture of the whole cluster {how}."
    session.log_event("drain_step", message, reason="whole_picture", shared=is_shared, age_seconds=round(age, 3))
    return found


def picture_since(session: DrainSession, since: datetime) -> WholeSnapshot:
    """Return a picture of the whole cluster that this instance has read since then, however old. Raises Retryable."""

    def is_good(last: WholeSnapshot) -> bool:
        return last.snapshot.taken_at >= since

    return session.ports.shared.whole.get(is_good, lambda: _read(session), session.ports.clock.sleep)[0]


def _read(session: DrainSession) -> WholeSnapshot:
    ports = session.ports
    state, _, began_at = read_cluster(ports.state)
    reading = ports.cluster.read()
    warn_of_unread(session.log_event, "drain_step", reading)
    return WholeSnapshot(snapshot_of(session.order.cluster, reading, ports.pools.read(), began_at, began_at), state)


def storage_of(ports: Ports, pods: Iterable[Pod], now: datetime) -> Storage:
    """Return what stands behind the volumes of pods; nothing is read where they have no claim.

    Raises:
        Retryable: a part cannot be read, or another order has been reading for too long.
    """
    if not uses_claims(pods):
        return NO_CLAIMS

    def read() -> StorageReading:
        return StorageReading(ports.cluster.storage(), now)

    found, _ = ports.shared.storage.get(lambda last: now - last.read_at <= WHOLE_FOR, read, ports.clock.sleep)
    return found.storage


def _nothing() -> None:
    pass


def nodes_and_budgets(ports: Ports, now: datetime, between: Callable[[], None] = _nothing) -> NodesAndBudgets:
    """Return all nodes and PodDisruptionBudgets; `between` is done between two calls. Raises Retryable."""
    cluster = ports.cluster

    def read() -> NodesAndBudgets:
        nodes = cluster.all_nodes()
        between()
        return NodesAndBudgets(nodes, cluster.disruption_budgets(), now)

    found, _ = ports.shared.nodes_and_budgets.get(
        lambda last: now - last.read_at <= NODES_AND_BUDGETS_FOR, read, ports.clock.sleep
    )
    return found


def budgets_and_unbound(
    ports: Ports, now: datetime, between: Callable[[], None] = _nothing, *, shared: bool = True
) -> BudgetsAndUnbound:
    """Return the PodDisruptionBudgets and the pods that no node has yet, unless `shared` as they stand now.

    `between` is done between two calls. To count replacements, read the waiting pods after the workloads' own counts.

    Raises:
        Retryable: a part cannot be read, or another order has been reading for too long.
    """
    cluster, age = ports.cluster, BUDGETS_AND_UNBOUND_FOR if shared else timedelta(0)

    def read() -> BudgetsAndUnbound:
        budgets = cluster.disruption_budgets()
        between()
        return BudgetsAndUnbound(budgets, cluster.unbound_pods(), now)

    found, _ = ports.shared.budgets_and_unbound.get(lambda last: now - last.read_at <= age, read, ports.clock.sleep)
    return found


def buffers(ports: Ports, now: datetime) -> Buffers:
    """Return the capacity buffers. Raises Retryable."""
    found, _ = ports.shared.buffers.get(
        lambda last: now - last.read_at <= BUFFERS_FOR,
        lambda: BuffersReading(ports.cluster.buffers(), now),
        ports.clock.sleep,
    )
    return found.buffers


def compute_classes(ports: Ports, node: Node, now: datetime) -> ComputeClasses:
    """Return what the ComputeClasses say of scale-down; nothing is read for a node that is of none.

    Raises:
        Retryable: they cannot be read, or another order has been reading for too long.
    """
    if not node.labels.get(COMPUTE_CLASS_LABEL):
        return NO_CLASSES
    found, _ = ports.shared.compute_classes.get(
        lambda last: now - last.read_at <= CLASSES_FOR,
        lambda: ClassesReading(ports.cluster.compute_classes(), now),
        ports.clock.sleep,
    )
    return found.compute_classes


def workloads(ports: Ports, controllers: Iterable[str], now: datetime) -> tuple[Mapping[str, Workload], datetime]:
    """Return what stands behind pods, by `PodClass.workload`, and a time after which all was read. Raises Retryable.

    Drains that move pods of the same workloads read them once, and only one reads at a time: so many calls a second
    as one after the other can be.
    """
    names = sorted(set(controllers) - {""})
    return ports.shared.workloads.get(names, now, ports.cluster.workloads_of, ports.clock.sleep)
