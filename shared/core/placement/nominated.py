"""Pods without a node for which the scheduler already keeps room on one (status.nominatedNodeName).

It does so while it binds a pod, and for one that makes others give way (kubernetes.io/docs/concepts/
scheduling-eviction/pod-priority-preemption): these may still be there, and what they leave is the pod's. Must not keep
room where there is and will be none.
"""

from collections.abc import Iterable

from shared.core.cluster.pod import Pod
from shared.core.placement.packing import Packing


def place_nominated(packing: Packing, queue: Iterable[Pod]) -> list[int]:
    """Put pods where room is kept for them, if there is or will be any; return the classes of all others, in order."""
    arrays = packing.arrays
    others: list[int] = []
    for pod in queue:
        kind, node = arrays.kind_of[pod.spec], arrays.index.get(pod.nominated)
        if node is not None and (packing.taking(kind)[node] or packing.takes_later(kind, node)):
            packing.put(kind, node)
            packing.presume(len(packing.log) - 1)
        else:
            others.append(kind)
    return others
