"""One picture of the cluster, put together from the Kubernetes API, the GKE API and the state's time.

Used by the planner's pass, the drainer's revalidation and the CLI, so that all three judge the same thing.
Must not hold rules.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from shared.core.snapshot import Node, NodePool, Snapshot
from shared.ports import Picture, PoolsReading


def snapshot_of(
    cluster: str, picture: Picture, reading: PoolsReading, began_at: datetime, taken_at: datetime
) -> Snapshot:
    """Return the snapshot, sorted so that equal clusters give equal plans."""
    return Snapshot(
        cluster=cluster,
        began_at=began_at,
        taken_at=taken_at,
        nodes=tuple(sorted(picture.nodes, key=lambda node: node.name)),
        pods=tuple(sorted(picture.pods, key=lambda pod: pod.key)),
        disruption_budgets=tuple(sorted(picture.disruption_budgets, key=lambda budget: budget.key)),
        pools=reading.pools if reading.known else pools_by_label(picture.nodes),
        pools_known=reading.known,
        namespaces=picture.namespaces,
        profile=reading.profile,
    )


def pools_by_label(nodes: Iterable[Node]) -> Mapping[str, NodePool]:
    """Return the pools that node labels name, counted as autoscaled from zero (`EBB_GKE_API=none`)."""
    return {node.pool: NodePool(node.pool) for node in nodes if node.pool}
