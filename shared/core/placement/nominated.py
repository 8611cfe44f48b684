"""Pods without a node for which the scheduler already keeps room on one (status.nominatedNodeName).

It does so while it binds a pod, and for one that makes others give way (kubernetes.io/docs/concepts/
scheduling-eviction/pod-priority-preemption): these may still be there, and what they leave is the pod's. Must not keep
room where there is and will be none.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.placement.packing import Packing

PATIENCE: Final = timedelta(seconds=90)
"""A minute of grace, and what the kubelet and the scheduler take after it."""


def place_nominated(packing: Packing, queue: Iterable[Pod]) -> list[int]:
    """Put pods where room is kept for them, if there is or will be any; return the classes of all others, in order."""
    arrays = packing.arrays
    others: list[int] = []
    for pod in queue:
        kind, node = arrays.kind_of[pod.spec], arrays.index.get(pod.nominated)
        if node is not None and (packing.taking(kind)[node] or packing.takes_later(kind, node, arrays.ending(node))):
            _keep_room(packing, kind, node)
        else:
            others.append(kind)
    return others


def place_preempting(
    packing: Packing, waiting: Iterable[Pod], nodes: Collection[int], now: datetime
) -> Collection[str]:
    """Put pods on those of the nodes where others give way to them and are gone soon; return the uids of these pods.

    Gone soon are those whose grace still runs and ends before the pod has waited for `PATIENCE`: neither a long grace
    nor a pod that never ends nor one nomination after another keeps a pod here until the next pass. Only pods of lower
    priority give way (pkg/scheduler/framework/plugins/defaultpreemption). What else may forbid the pod the node is the
    scheduler's to know: it has tried the pod there without them.
    """
    placed: set[str] = set()
    for pod in waiting:
        node = packing.arrays.index.get(pod.nominated)
        if node is not None and node in nodes and _has_room_soon(packing, pod, node, now):
            _keep_room(packing, packing.arrays.kind_of[pod.spec], node)
            placed.add(pod.uid)
    return placed


def _has_room_soon(packing: Packing, pod: Pod, node: int, now: datetime) -> bool:
    arrays = packing.arrays
    if pod.unschedulable_since is None or now >= pod.unschedulable_since + PATIENCE:
        return False
    until = pod.unschedulable_since + PATIENCE
    ending = (each for each in arrays.ending(node) if each.spec.priority < pod.spec.priority)
    going = [each for each in ending if each.deleting is not None and now <= each.deleting <= until]
    return bool(going) and packing.takes_later(arrays.kind_of[pod.spec], node, going)


def _keep_room(packing: Packing, kind: int, node: int) -> None:
    packing.put(kind, node)
    packing.presume(len(packing.log) - 1)
