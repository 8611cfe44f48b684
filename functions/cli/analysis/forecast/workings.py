"""What the rounds of a forecast find out once: arrays of snapshots, findings about kinds of pods, what is unneeded.

All is kept by value: of another snapshot, or under rules that differ, it is found again. So nothing has to be
thrown away, and a forecast that shares its workings with another ends like one that does not.
"""

from operator import is_

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import KEPT, ClusterArrays, SnapshotMemo
from shared.core.planning.autoscaler_look import unneeded
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation


class Workings:
    """Shared by all rounds of one forecast, and by what goes on from where it ends; without any to keep, all is new.

    `scales_down`: False leaves out what the autoscaler would remove by itself.
    """

    def __init__(self, keeps: int = KEPT, *, scales_down: bool = True) -> None:
        self.arrays_of = SnapshotMemo(ClusterArrays, _are_alike, keeps)
        self.unneeded = SnapshotMemo(self._unneeded if scales_down else _nothing, is_, keeps)
        """What the autoscaler would announce to remove, in order."""
        self._keeps = keeps
        self._first: Situation | None = None

    def situation(self, snapshot: Snapshot, state: ClusterState, policy: Policy) -> Situation:
        """Return the situation, with what was found of kinds of pods as far as it holds in it."""
        fresh = Situation(snapshot, state, policy)
        self._first = (self._first or fresh) if self._keeps else fresh
        return self._first.changed(snapshot, state, policy)

    def _unneeded(self, snapshot: Snapshot) -> tuple[str, ...]:
        context = self.situation(snapshot, ClusterState(), Policy()).drain_context("")
        return unneeded(snapshot, context, self.arrays_of)


def _nothing(_: Snapshot) -> tuple[str, ...]:
    return ()


def _are_alike(one: Snapshot, other: Snapshot) -> bool:
    """Whether the same can be placed at the same nodes: they differ neither in these nor in what arrays are made of."""
    return one.pods is other.pods and one.nodes == other.nodes and _besides(one) == _besides(other)


def _besides(snapshot: Snapshot) -> tuple[object, ...]:
    return snapshot.taken_at, snapshot.pools, snapshot.namespaces, snapshot.storage, snapshot.buffers
