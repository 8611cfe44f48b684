"""What a dump lacks, which pods are pending, and what no cluster can be: named, and left out or set right."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Any, Final

from msgspec import structs

from functions.cli.analysis.pools import without_requests as count_without
from functions.cli.dumps.files import MAKE_ONE, short_names
from functions.cli.dumps.reading import DumpedCluster
from functions.cli.output.format import count, moment, some
from shared.core.cluster.names import AUTOPILOT_NODES, KUBE_SYSTEM
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.errors import BadInput
from shared.ports import ClusterReading
from shared.store.snapshots import odd_autoscalers, odd_buffers

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
UNREAD_BUFFERS: Final = (
    "The plan does not keep the room of capacity buffers, because no {} are known: fewer nodes can go than shown."
)
UNKNOWN_SAVINGS: Final = "not all pods are known, so savings are unknown; print it again with -A."
_FEW: Final = Fraction(1, 10)
_FEWEST: Final = 3
"""So many pods of a pool without requests, and that share, are named: GKE's own, a few in each cluster, are not."""
_GOOGLE: Final = frozenset({"", "gce"})


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


def unread_lists(snapshot: Snapshot, *, in_dump: bool) -> tuple[str, ...]:
    storage, autoscalers, buffers = snapshot.storage, snapshot.autoscalers, snapshot.buffers
    remedy = f"add {','.join(storage.unread)} to the dump" if in_dump else "let this account list them"
    rows = (
        (f"Pods with volume claims stay where they are: no {{}} are known here; {remedy}.", storage.unread),
        ("Moved pods may come back larger than is known here: let this account list {}.", autoscalers.unread),
        ("Moved pods may come back larger, later or not at all: let this account list {}.", snapshot.limits.unread),
        (UNREAD_BUFFERS, buffers.unread),
    )
    found = (sentence.format(", ".join(lists)) for sentence, lists in rows if lists)
    return (*found, *filter(None, (odd_autoscalers(autoscalers), odd_buffers(buffers))))


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


def cloud_name(clouds: Iterable[str]) -> str:
    """Return whose cluster it is if its nodes show that it is not Google's: ` (aws)`."""
    other = sorted(set(clouds) - _GOOGLE)
    return f" ({some(other)})" if other else ""


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


_LARGEST: Final = Resources.of({CPU: 100_000 * 1_000, MEMORY: 1 << 50})
"""Far more than the largest machine on offer has: 1,920 vCPUs and 32 TiB."""
_SHRUNK: Final = 2
"""A node that is set up again may offer less than before, and yet never half of what one of its pods requests."""
_TIMES: Final = ("created", "started", "unschedulable_since", "ready_since")
TOO_LARGE_NODE: Final = "Left out: {found} with more CPU or memory than any machine ({names}). Fix the dump."
NO_NODE: Final = "Left out: {found} on nodes that are not in the dump ({names}). Print nodes and pods with one command."
TOO_LARGE: Final = "Left out: {found} with requests above twice what the node offers ({names}). Fix the dump."
FUTURE: Final = "Times in the future are not used, those of {found} ({names}). The snapshot is of {newest}."


def drop_impossible(
    reading: ClusterReading, newest: datetime, future: Sequence[str] = ()
) -> tuple[ClusterReading, tuple[str, ...]]:
    """Return the reading without what cannot be, and a sentence a rule; `future` are objects after `newest`."""
    nodes = {
        node.name: node
        for node in reading.nodes
        if all(node.allocatable.get(axis) <= most for axis, most in _LARGEST.amounts)
    }
    huge = [node.name for node in reading.nodes if node.name not in nodes]
    bound = [pod for pod in reading.pods if pod.node and not pod.phase.finished]
    lost = [pod for pod in bound if pod.node not in nodes]
    large = [pod for pod in bound if pod.node in nodes and _is_too_large(pod, nodes[pod.node].allocatable)]
    gone = {id(pod) for pod in (*lost, *large)}
    if gone or huge or future:
        pods = tuple(_until(newest, pod) for pod in reading.pods if id(pod) not in gone)
        kept = tuple(replace(node, created=min(node.created, newest)) for node in nodes.values())
        reading = replace(reading, nodes=kept, pods=pods)
    groups = (
        (TOO_LARGE_NODE, "node", huge),
        (NO_NODE, "pod", [pod.key for pod in lost]),
        (TOO_LARGE, "pod", [pod.key for pod in large]),
        (FUTURE, "object", future),
    )
    return reading, tuple(
        text.format(found=count(len(names), thing), names=some(names), newest=moment(newest))
        for text, thing, names in groups
        if names
    )


def _is_too_large(pod: Pod, offered: Resources) -> bool:
    """Whether a pod requests more than its node can have had when it began to run there; a new node offers nothing."""
    return any(pod.requests.get(axis) > _SHRUNK * offered.get(axis) > 0 for axis in (CPU, MEMORY))


def _until(newest: datetime, pod: Pod) -> Pod:
    later: dict[str, Any] = {
        name: newest for name in _TIMES if (time := getattr(pod, name)) is not None and time > newest
    }
    return structs.replace(pod, **later) if later else pod
