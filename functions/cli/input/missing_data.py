"""What a dump lacks, which pods are pending, and which pods have lost their node."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from functions.cli.analysis.pools import without_requests as count_without
from functions.cli.dumps.files import MAKE_ONE, short_names
from functions.cli.dumps.reading import DumpedCluster
from functions.cli.output.format import count, moment, some
from shared.core.cluster.names import AUTOPILOT_NODES, KUBE_SYSTEM
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.errors import BadInput
from shared.ports import ClusterReading

NO_BUDGETS: Final = (
    "No PodDisruptionBudgets are in the dump: if the cluster has any, fewer nodes can go than shown; "
    "add poddisruptionbudgets to the dump."
)
NO_NAMESPACES: Final = (
    "No Namespaces are in the dump: what a namespace's labels and annotations ask for is not seen, and no "
    "namespaceSelector matches; add namespaces to the dump."
)
NO_WORKLOADS: Final = (
    "No ReplicaSets, Deployments and StatefulSets are known here: no rollout is seen, and replicas are the pods "
    "that are there; add replicasets,deployments,statefulsets to the dump."
)
UNKNOWN_SAVINGS: Final = "not all pods are known, so savings are unknown; print it again with -A."
_FEW: Final = Fraction(1, 10)
_FEWEST: Final = 3
"""So many pods of a pool without requests, and that share, are named: GKE's own, a few in each cluster, are not."""


def check_usable(name: str, reading: ClusterReading) -> None:
    """Raises BadInput: there are no pods, or the cluster is not one that Ebb serves."""
    if reading.nodes and all(node.name.startswith(AUTOPILOT_NODES) for node in reading.nodes):
        raise BadInput(
            f"{name}: is an Autopilot cluster (its nodes are named {AUTOPILOT_NODES}…): its nodes are Google's, which "
            "consolidates them itself; Ebb serves Standard clusters."
        )
    if not reading.pods:
        raise BadInput(
            f"{name}: holds {len(reading.nodes):,} nodes and no pods, so every node would look empty; {MAKE_ONE}."
        )


def partial_pods(pods: Iterable[Pod]) -> str:
    """Return why the pods cannot be all that the nodes hold; empty where they may be."""
    namespaces = sorted({pod.spec.namespace for pod in pods})
    if not namespaces or (KUBE_SYSTEM in namespaces and len(namespaces) > 1):
        return ""
    whose = f"namespace {namespaces[0]}" if len(namespaces) == 1 else f"the namespaces {some(namespaces)}"
    without = "" if KUBE_SYSTEM in namespaces else f", none of {KUBE_SYSTEM}"
    return (
        f"Only pods of {whose} are in the dump{without}: the nodes hold more than is known here, so every figure is "
        "partial, and there is no potential; print it again with -A."
    )


def reprint_note(found: DumpedCluster) -> str:
    """Return that one cluster was printed more than once, and when; empty where it was not."""
    prints = sorted((*found.older, (found.newest, found.files)))
    times = " and ".join(f"{moment(time)} ({short_names(files)})" for time, files in prints)
    return f"{len(prints)} snapshots of one cluster, of {times}: the newest counts." if found.older else ""


def without_requests(snapshot: Snapshot) -> tuple[str, ...]:
    """Return one line on pools where many pods request no CPU or no memory, which makes their nodes look emptier."""
    rows = ((pool, _many_of(snapshot, nodes)) for pool, nodes in snapshot.nodes_by_pool.items())
    pools = [f"in {pool or 'nodes without a pool'} {found}" for pool, found in rows if found]
    return (f"What pods use without a request is not counted: {some(pools)}.",) if pools else ()


def _many_of(snapshot: Snapshot, nodes: Iterable[Node]) -> str:
    found = count_without(pod for node in nodes if not node.outside for pod in snapshot.pods_by_node[node.name])
    least = max(_FEWEST, ceil(found.pods * _FEW))
    cpu, memory = (many if many >= least else 0 for many in (found.cpu, found.memory))
    return str(replace(found, cpu=cpu, memory=memory))


def pending_note(pending: Sequence[Pod], left: Sequence[Pod] | None = None) -> str:
    """Return who is pending, and who is `left` without a place; None where nobody has looked for one."""
    if not pending:
        return ""
    found = f"{count(len(pending), 'pod')} pending ({some([pod.key for pod in pending])})."
    if not left:
        known = ", as far as nodes have it" if left is None else ""
        return f"{found} Every figure includes the room for this{known}."
    who = "" if len(left) == len(pending) else f" ({some([pod.key for pod in left])})"
    them = "it" if len(left) == 1 else "them"
    missing = f"No place is left for {count(len(left), 'pod')}{who}, and no figure includes {them}"
    return f"{found} {missing}, nor nodes that the autoscaler may add."


NO_NODE: Final = "Left out: {} on nodes that are not in the dump ({}). Print nodes and pods with one command."


def drop_lost_pods(reading: ClusterReading) -> tuple[ClusterReading, str]:
    """Return the reading without pods whose node it lacks, and a sentence that names them; empty where it has all."""
    nodes = {node.name for node in reading.nodes}

    def is_lost(pod: Pod) -> bool:
        return bool(pod.node) and pod.node not in nodes and not pod.phase.finished

    lost = [pod.key for pod in reading.pods if is_lost(pod)]
    if not lost:
        return reading, ""
    kept = tuple(pod for pod in reading.pods if not is_lost(pod))
    return replace(reading, pods=kept), NO_NODE.format(count(len(lost), "pod"), some(lost))
