"""One picture of the cluster, put together from the Kubernetes API, the GKE API and the state's time.

Used by the planner's pass, the drainer's revalidation and the CLI, so that all three judge the same thing.
Must not hold rules.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from shared.answers import ClusterReading, PoolsReading
from shared.core.cluster.needed_kubelets import with_needed_kubelets
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import UNKNOWN, Workload


def snapshot_of(
    cluster: str, cluster_reading: ClusterReading, reading: PoolsReading, began_at: datetime, taken_at: datetime
) -> Snapshot:
    """Return the snapshot, sorted so that equal clusters give equal plans."""
    workloads = {**workloads_by_pods(cluster_reading.pods), **cluster_reading.workloads}
    nodes = tuple(sorted(cluster_reading.nodes, key=lambda node: node.name))
    pods = sorted(cluster_reading.pods, key=lambda pod: pod.key)
    returning = as_they_return(pods, workloads, cluster_reading.autoscalers.found, cluster_reading.limits)
    return Snapshot(
        cluster=cluster,
        began_at=began_at,
        taken_at=taken_at,
        nodes=nodes,
        pods=tuple(with_needed_kubelets(returning, nodes)),
        disruption_budgets=tuple(sorted(cluster_reading.disruption_budgets, key=lambda budget: budget.key)),
        pools=reading.pools if reading.known else pools_by_label(cluster_reading.nodes),
        pools_known=reading.known,
        namespaces=cluster_reading.namespaces,
        profile=reading.profile,
        minimum=reading.minimum,
        workloads=workloads,
        storage=cluster_reading.storage,
        autoscalers=cluster_reading.autoscalers,
        buffers=cluster_reading.buffers,
        compute_classes=cluster_reading.compute_classes,
        limits=cluster_reading.limits,
    )


def pools_by_label(nodes: Iterable[Node]) -> Mapping[str, NodePool]:
    """Return the pools that node labels name, counted as autoscaled from zero (`EBB_GKE_API=none`)."""
    return {node.pool: NodePool(node.pool) for node in nodes if node.pool}


def workloads_by_pods(pods: Iterable[Pod]) -> Mapping[str, Workload]:
    """Return the workloads as their living pods alone tell them: as many wanted as there are, nothing else known."""
    living: Counter[str] = Counter()
    for spec, number in Counter(pod.spec for pod in pods if not pod.phase.finished).items():
        living[spec.workload] += number
    return {name: Workload(name, number) for name, number in living.items() if name}


def with_unknown_workloads(pods: Iterable[Pod], known: Mapping[str, Workload]) -> Mapping[str, Workload]:
    """Return the workloads of pods that are not all there are: what is not known must not be counted from them."""
    return {**{pod.spec.workload: UNKNOWN for pod in pods}, **known}
