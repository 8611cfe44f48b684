"""What a pod's disk adds to the time of a drain: it is detached from the node and attached to the next one.

The replacement has a node by then and only starts late, so nothing waits for a place. But where the pods of a workload
go one after another, each is waited for until it is Ready, and a drain must have the time for that. A driver detaches
and attaches in 30 to 90 seconds as a rule; the six minutes that Kubernetes waits before it takes a disk away by force
concern nodes that have failed, and those are not drained. Must not know which drivers attach at all: a share that needs
no time only makes a deadline later.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import uses_claims

ONE_DISK_MOVES_WITHIN: Final = timedelta(seconds=90)
MOST_IN_TURN: Final = 4
LONGEST_DISK_MOVES: Final = MOST_IN_TURN * ONE_DISK_MOVES_WITHIN
"""The most that a deadline gives for disks: a cordon that stands for nothing must have an end."""


def disk_time(pod: Pod) -> timedelta:
    """Return how much later a replacement starts for the disk that it waits for."""
    return ONE_DISK_MOVES_WITHIN if uses_claims((pod,)) else timedelta(0)


def disk_moves(pods: Iterable[Pod]) -> timedelta:
    """Return what a deadline gives for disks: those of one workload move one after another."""
    in_turn = Counter(pod.spec.workload for pod in pods if uses_claims((pod,)))
    return min(max(in_turn.values(), default=0), MOST_IN_TURN) * ONE_DISK_MOVES_WITHIN
