"""One picture of the cluster, put together from the Kubernetes API, the GKE API and the state's time.

The planner's pass, the drainer's revalidation and the commands use it, so that all three judge the same thing.
During an upgrade kubelets differ, and a pod may use what an older kubelet does not know. The scheduler sees that only
of features that nodes declare, so a pod's class says what its own kubelet can. Must not hold rules.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from shared.answers import ClusterReading, PoolsReading
from shared.core.cluster.kubelet import Kubelet
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod, PodClass, is_daemon
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


def with_needed_kubelets(pods: Sequence[Pod], nodes: Iterable[Node]) -> Sequence[Pod]:
    """Return the pods; the class of each that runs where not every kubelet could run it says which is needed.

    Where all nodes are alike, as on most clusters at most times, the pods are returned as they are.
    """
    kubelets = {node.name: node.kubelet for node in nodes}
    kinds = set(kubelets.values())
    ahead = {each for each in kinds if not all(other.can_all_of(each) for other in kinds)}
    if not ahead:
        return pods
    needed = {name: kubelet for name, kubelet in kubelets.items() if kubelet in ahead}
    split: dict[tuple[PodClass, Kubelet], PodClass] = {}
    return [_needing(pod, needed[pod.node], split) if pod.node in needed and _moves(pod) else pod for pod in pods]


def _moves(pod: Pod) -> bool:
    """A DaemonSet's pod never does: its next one comes to every node that is meant, be its kubelet older."""
    return not is_daemon(pod.spec)


def _needing(pod: Pod, kubelet: Kubelet, split: dict[tuple[PodClass, Kubelet], PodClass]) -> Pod:
    if (pod.spec, kubelet) not in split:
        split[pod.spec, kubelet] = replace(pod.spec, needs_kubelet=kubelet)
    return msgspec.structs.replace(pod, spec=split[pod.spec, kubelet])
