"""What the rounds of a forecast find out once: arrays of snapshots, findings about kinds of pods, what is unneeded.

All is kept by value: of another snapshot, or under rules that differ, it is found again. So nothing has to be
thrown away, and a forecast that shares its workings with another ends like one that does not.
"""

from collections.abc import Callable
from operator import is_
from typing import Final, Generic, TypeVar

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.planning.autoscaler_look import unneeded
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation

KEPT: Final = 4
"""Snapshots that are remembered, with what the autoscaler has announced and without: relaxations begin at the same one
again and again, and go on for some rounds."""
_Found = TypeVar("_Found")


class _Kept(Generic[_Found]):
    """What was found of the last few snapshots; those that are alike are one."""

    def __init__(
        self, find: Callable[[Snapshot], _Found], are_alike: Callable[[Snapshot, Snapshot], bool], keeps: int
    ) -> None:
        self._find, self._are_alike, self._keeps = find, are_alike, keeps
        self._known: list[tuple[Snapshot, _Found]] = []

    def __call__(self, snapshot: Snapshot) -> _Found:
        found = next((row for row in self._known if self._are_alike(row[0], snapshot)), None)
        row = found or (snapshot, self._find(snapshot))
        self._known = [row, *(each for each in self._known if each is not row)][: self._keeps]
        return row[1]


class Workings:
    """Shared by all rounds of one forecast, and by what goes on from where it ends; without any to keep, all is new.

    `scales_down`: False leaves out what the autoscaler would remove by itself.
    """

    def __init__(self, keeps: int = KEPT, *, scales_down: bool = True) -> None:
        self.arrays_of = _Kept(ClusterArrays, _are_alike, keeps)
        self.unneeded = _Kept(self._unneeded if scales_down else _nothing, is_, keeps)
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
