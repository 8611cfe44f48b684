"""Demand that returns: pods without a place that would fit on a node we hold. That node is given back first.

A pod counts only if the model finds it no place on an open node: where it would fit and still waits, something
that is not modelled holds it, and a node of ours would not help. Must not act.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shared.core.feasibility import ONE_POD, admits, is_destination
from shared.core.names import OUR_TAINT
from shared.core.pods import is_daemon, is_mirror
from shared.core.resources import Resources, total
from shared.core.snapshot import Node, Pod, Snapshot


def relieved(snapshot: Snapshot, held: Iterable[Node]) -> Mapping[str, Pod]:
    """Return which held nodes would take a waiting pod: by node name, the first pod that it takes.

    Nodes with the most free CPU are asked first, so that few are given back; each pod is placed once.
    """
    room = {node.name: free(snapshot, node) for node in snapshot.nodes}
    nodes = sorted(map(as_freed, held), key=lambda node: (-room[node.name].cpu, node.name))
    taken: dict[str, Pod] = {}
    for pod in waiting(snapshot):
        need = pod.requests + ONE_POD
        if any(is_destination(node) and _fits(pod, node, need, room) for node in snapshot.nodes):
            continue
        home = next((node for node in nodes if _fits(pod, node, need, room)), None)
        if home is not None:
            room[home.name] -= need
            taken.setdefault(home.name, pod)
    return taken


def waiting(snapshot: Snapshot) -> list[Pod]:
    """Return the pods that the scheduler has found no place for, in the snapshot's order."""
    return [pod for pod in snapshot.pods if is_waiting(pod)]


def is_waiting(pod: Pod) -> bool:
    """Whether the scheduler has found no place for a pod that more nodes than one could take.

    A DaemonSet's pod and a mirror pod are bound to their own node: no other node's room helps them.
    """
    elsewhere = not is_daemon(pod.spec) and not is_mirror(pod.spec)
    return not pod.node and pod.unschedulable_since is not None and pod.deleting is None and elsewhere


def as_freed(node: Node) -> Node:
    """Return the node as it will be when it is given back."""
    return replace(node, unschedulable=False, taints=tuple(taint for taint in node.taints if taint.key != OUR_TAINT))


def free(snapshot: Snapshot, node: Node) -> Resources:
    """Return what the pods on a node leave of it; amounts may be negative."""
    pods = [pod for pod in snapshot.pods_by_node[node.name] if not pod.phase.finished]
    return node.allocatable - total(pod.requests + ONE_POD for pod in pods)


def _fits(pod: Pod, node: Node, need: Resources, room: Mapping[str, Resources]) -> bool:
    return admits(pod.spec, node) and need.fits(room[node.name])
