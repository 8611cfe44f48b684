"""The snapshot that planner, drainer and commands judge alike; lists that may not be read are warnings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

import msgspec

from shared.core.cluster.autoscaling import CLASSES
from shared.core.cluster.node import Kubelet, Node, NodePool
from shared.core.cluster.pod import Pod, PodClass, is_daemon
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.ports import ClusterReading, Log, PoolsReading, Ports

T = TypeVar("T")
MOST_FAULTS: Final = 3
"""So many objects that cannot be read are named; others of a kind are mostly odd in the same way."""


def read_optional(log: Log, event: str, what: str, read: Callable[[], T], otherwise: T) -> T:
    """Return what was read; what cannot be read is logged, and nothing waits."""
    try:
        return read()
    except Exception as fault:  # noqa: BLE001 - healing rests on some of these: not even a fault of Ebb may end it
        log.event(event, f"Going on without {what}: {fault}", severity="WARNING", reason="advice_missing")
        return otherwise


def warn_of_unread(log: Log, event: str, reading: ClusterReading) -> None:
    """Log what it means for the drains that lists could not be read, or hold objects that cannot be read."""
    for sentence in unread_lists(reading, "apply infra/rbac.yaml again"):
        log.event(event, sentence, severity="WARNING", reason="advice_missing")


def unread_lists(reading: ClusterReading | Snapshot, remedy: str) -> Iterator[str]:
    """Yield a sentence for each kind of list that could not be read, or not whole.

    Each of the first ends with the remedy, in which `{}` stands for the lists. Storage is unread after an update whose
    rights were not applied. Without ComputeClasses it is not known how the autoscaler deletes their nodes: the
    profile's values count.
    """
    more = "; nor does it know how long the autoscaler waits with nodes of ComputeClasses"
    lasting, buffers, limits = ". If that lasts, ", reading.buffers, reading.limits
    classes = more if CLASSES in buffers.unread else ""
    rows = (
        ("Pods with volume claims stay where they are: no {} are known; ", reading.storage.unread),
        ("Moved pods may come back larger than is known: Ebb could not list {}" + lasting, reading.autoscalers.unread),
        ("A moved pod may come back larger, later or not at all: Ebb could not list {}" + lasting, limits.unread),
        ("The room of capacity buffers is not kept: Ebb could not list {}" + classes + lasting, buffers.unread),
    )
    for sentence, lists in rows:
        if lists:
            yield f"{sentence.format(', '.join(lists))}{remedy.format(','.join(lists))}."
    yield from _odd("Moved pods may come back larger than is known, for these", reading.autoscalers.faults)
    yield from _odd("The room that these ask for is not kept, for they", buffers.faults)


def _odd(what: str, faults: Sequence[str]) -> Iterator[str]:
    """Yield what it means that single objects cannot be read; the first few are named."""
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    if faults:
        yield f"{what} cannot be read: {'; '.join(faults[:MOST_FAULTS])}{more}."


def deletion_begun_at(ports: Ports, event: str, node: str) -> datetime | None:
    """Return when the autoscaler last began to delete the node; None if that cannot be read."""
    what = f"the autoscaler's events about {node}"
    return read_optional(ports.log, event, what, lambda: ports.cluster.deletion_attempts(node).begun_at, None)


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
    """Return the workloads as their living pods alone show them: as many wanted as there are, nothing else known."""
    living: Counter[str] = Counter()
    for spec, number in Counter(pod.spec for pod in pods if not pod.phase.finished).items():
        living[spec.workload] += number
    return {name: Workload(name, number) for name, number in living.items() if name}


def with_unknown_workloads(pods: Iterable[Pod], known: Mapping[str, Workload]) -> Mapping[str, Workload]:
    """Return the workloads of pods that are not all there are: what is not known must not be counted from them."""
    return {**{pod.spec.workload: UNKNOWN for pod in pods}, **known}


def with_needed_kubelets(pods: Sequence[Pod], nodes: Iterable[Node]) -> Sequence[Pod]:
    """Return the pods; the class of each that runs where not every kubelet could run it names the needed one."""
    kubelets = {node.name: node.kubelet for node in nodes}
    kinds = set(kubelets.values())
    ahead = {kind for kind in kinds if not all(other.can_all_of(kind) for other in kinds)}
    if not ahead:  # all nodes are alike, as on most clusters at most times
        return pods
    needed = {name: kubelet for name, kubelet in kubelets.items() if kubelet in ahead}
    split: dict[tuple[PodClass, Kubelet], PodClass] = {}
    # a DaemonSet's pod never moves: its next one starts on each node of the set, even with an older kubelet
    moves = ((pod, pod.node in needed and not is_daemon(pod.spec)) for pod in pods)
    return [_needing(pod, needed[pod.node], split) if is_ahead else pod for pod, is_ahead in moves]


def _needing(pod: Pod, kubelet: Kubelet, split: dict[tuple[PodClass, Kubelet], PodClass]) -> Pod:
    if (pod.spec, kubelet) not in split:
        split[pod.spec, kubelet] = replace(pod.spec, needs_kubelet=kubelet)
    return msgspec.structs.replace(pod, spec=split[pod.spec, kubelet])
