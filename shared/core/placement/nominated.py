"""Pods without a node for which the scheduler already keeps room on one (status.nominatedNodeName).

It does so while it binds a pod, and for one that makes others give way (kubernetes.io/docs/concepts/
scheduling-eviction/pod-priority-preemption): these may still be there, and what they leave is the pod's. Must not keep
room where there is and will be none.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.placement.packing import Packing

PATIENCE: Final = timedelta(seconds=90)
"""A minute of grace, and what the kubelet and the scheduler take after it."""
AFTER_GRACE: Final = timedelta(seconds=5)
"""What these take after a shorter grace."""


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
) -> Mapping[str, datetime]:
    """Put pods on those of the nodes where others give way to them and are gone soon; return by uid by when they are.

    Gone soon are those whose grace still runs and ends before the pod has waited for `PATIENCE`: neither a long grace
    nor a pod that never ends nor one nomination after another keeps a pod here for longer. Only pods of lower
    priority give way (pkg/scheduler/framework/plugins/defaultpreemption). What else may forbid the pod the node is the
    scheduler's to know: it has tried the pod there without them.
    """
    placed: dict[str, datetime] = {}
    for pod in waiting:
        node = packing.arrays.index.get(pod.nominated)
        if node is None or node not in nodes:
            continue
        until = pod.unschedulable_since + PATIENCE if pod.unschedulable_since else now
        kind, going = packing.arrays.kind_of[pod.spec], _gone_soon(packing, pod, node, now, until)
        if going and packing.takes_later(kind, node, going):
            _keep_room(packing, kind, node)
            ends = max(each.deleting for each in going if each.deleting is not None)
            placed[pod.uid] = min(ends + AFTER_GRACE, until)
    return placed


def _gone_soon(packing: Packing, pod: Pod, node: int, now: datetime, until: datetime) -> list[Pod]:
    """Return the pods on the node that give way to this one; `deleting` is the end of their grace."""
    if now >= until:
        return []
    ending = (each for each in packing.arrays.ending(node) if each.spec.priority < pod.spec.priority)
    return [each for each in ending if each.deleting is not None and now <= each.deleting <= until]


def _keep_room(packing: Packing, kind: int, node: int) -> None:
    packing.put(kind, node)
    packing.presume(len(packing.log) - 1)
