"""READ FIRST in this package. The simulation in which a pass plays through what would happen.

A node is taken only if all its movable pods have a place together with those of every node taken before, every drain
in flight and the pods pending now, under every strategy (docs/decisions/robust-fit.md), and if capacity buffers then
have the room that they have now (docs/decisions/buffers.md). Drained nodes stand there cordoned and keep domains.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from shared.core.cluster.autoscaling import buffer_of
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import PODS
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.buffer_room import BufferRoom, Chunks
from shared.core.placement.cluster_arrays import Amounts, ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Assignments, GuidedPacking, Packing, Removal, in_queue_order
from shared.core.placement.strategies import POTENTIAL, ROBUST
from shared.core.reasons import Blocker, Unremovable


@dataclass(frozen=True)
class NoPlace:
    """The first pod that found no place, or a chunk of a buffer that lost its own, and what was tried."""

    pod: Pod
    detail: str

    @property
    def buffer(self) -> str:
        """The capacity buffer (`namespace/name`) whose room is missing; empty where it is a pod's."""
        return buffer_of(self.pod.spec)

    @property
    def blocker(self) -> Blocker:
        if self.buffer:
            return Blocker(Unremovable.NEEDED_BY_BUFFER, self.buffer, self.detail)
        return Blocker(Unremovable.NO_PLACE_FOR_PODS, self.pod.key, self.detail)

    @property
    def sentence(self) -> str:
        return f"{f'the room of buffer {self.buffer}' if self.buffer else self.pod.key}: {self.detail}"


def refusal(packing: Packing, removal: Removal) -> NoPlace:
    arrays = packing.arrays
    if removal.blocked is None:
        pod = _pod_of(arrays, removal.node, removal.misplaced or 0)
        return NoPlace(pod, "it could not come back to its new place once all lie there")
    pod, fixed = _pod_of(arrays, removal.node, removal.blocked), arrays.lasting_findings(removal.blocked)
    if fixed:
        return NoPlace(pod, fixed[0].reason.value)
    admitting, fitting = packing.options(removal.blocked, removal.node)
    changed = (*pod.spec.raised_by, *(f"{field} of its template" for field in pod.spec.template_adds))
    raised = f" for it as it comes back (by {' and '.join(changed)})" if changed else ""
    accepting = f"{admitting or 'no'} other node{'s accept' if admitting > 1 else ' accepts'} it"
    return NoPlace(pod, f"{accepting}; {fitting or 'none'} {'has' if fitting in {0, 1} else 'have'} room{raised}")


def lost_room(buffers: BufferRoom, packing: Packing, node: int, chunks: Chunks) -> NoPlace | None:
    """Return the buffer for which a node that is taken was needed; `chunks` are those that must keep their room."""
    place = buffers.lost_place(packing, node, chunks)
    if place is None:
        return None
    left, wanted = buffers.fitting(packing)[place], buffers.wanted[place]
    return NoPlace(buffers.first[place], f"without it {left} of {wanted} chunks have room")


def _pod_of(arrays: ClusterArrays, node: int, kind: int) -> Pod:
    """Return a pod of the class, one of the node if there is any."""
    spec = arrays.classes[kind]
    return next((pod for pod in arrays.movable(node) if pod.spec is spec), arrays.example[spec])


class Simulation:
    """The proof of placement, growing with each node taken. Equal snapshots give equal simulations."""

    def __init__(
        self,
        arrays: ClusterArrays,
        packings: Sequence[Packing],
        chunks: Sequence[Chunks] = (),
        buffers: BufferRoom | None = None,
    ) -> None:
        """`chunks`: for each packing, how many chunks of buffers must keep their room; none: what has room now."""
        self.arrays = arrays
        self._packings = tuple(packings)
        self.buffers = BufferRoom(arrays, arrays.chunks) if buffers is None else buffers
        """What capacity buffers hold."""
        self._chunks = tuple(chunks) or tuple(self.buffers.fitting(packing) for packing in packings)
        self._departing: tuple[int, ...] = ()
        self._taken: list[int] = []
        self._room_kept: dict[int, bool] = {}
        """Announced nodes that have room for all their pods; whether they have it under every strategy."""

        self.unplaced: tuple[Pod, ...] = ()
        """Pods of nodes on their way out that have no place; while there are any, no node can be taken."""

    @classmethod
    def of(
        cls,
        seen: Snapshot | ClusterArrays,
        departing: Collection[str] = (),
        headroom: Mapping[str, int] | None = None,
        *,
        announced: Collection[str] = (),
        closed: Collection[str] = (),
        cordoned_untouched: Collection[str] = (),
        robust: bool = True,
    ) -> "Simulation":
        # `robust`: under all strategies, else the packing one alone.
        # Movable pods of `departing` nodes are placed first. For those of `announced` ones room is kept, unless they
        # fit nowhere together: the autoscaler cannot empty such a node either. Nothing may be put on `closed` ones.
        # Buffers have the room of `cordoned_untouched` ones until now: a drain of ours has moved nothing there. Moved
        # pods leave `headroom` percent free, by pool.
        arrays = seen if isinstance(seen, ClusterArrays) else ClusterArrays(seen)
        simulation = cls(arrays, [Packing(arrays, strategy) for strategy in (ROBUST if robust else POTENTIAL)])
        for packing in simulation._packings:
            packing.stop_filling(arrays.places_of(closed))
        simulation._depart(arrays.places_of(departing), arrays.places_of(cordoned_untouched))
        simulation._keep_room(arrays.places_of(announced))
        if headroom:
            amounts = headroom_of(arrays, headroom)
            for packing in simulation._packings:
                packing.hold_back(amounts)
        return simulation

    def copy(self) -> "Simulation":
        return self._with([packing.copy() for packing in self._packings], self._chunks)

    def with_guide(self, places: Mapping[int, Sequence[int]]) -> "Simulation":
        """Return one in the same position, of the first strategy alone, that puts pods where they are meant to go."""
        return self._with([GuidedPacking(self.first_packing, places)], self._chunks[:1])

    @property
    def first_packing(self) -> Packing:
        """The packing of the first strategy; copy it before you change it."""
        return self._packings[0]

    @property
    def keeps_buffers_robustly(self) -> bool:
        """Whether there are buffers, whose room is to be kept wherever the scheduler puts pods."""
        return bool(self.buffers) and len(self._packings) > 1

    @property
    def first_chunks(self) -> Chunks:
        """How many chunks of buffers must keep their room under the first strategy."""
        return self._chunks[0]

    @property
    def taken(self) -> tuple[str, ...]:
        return tuple(self.arrays.nodes[node].name for node in self._taken)

    def try_remove(self, name: str) -> NoPlace | None:
        """Take the node if everything on it has a place elsewhere; otherwise leave the simulation as it was."""
        # KeyError without such a node, ValueError for one that is on its way out already.
        found, _ = self._try_removal(name)
        node = self.arrays.index[name]
        if found is None and node in self._room_kept:
            del self._room_kept[node]
            self._departing = tuple(number for number in self._departing if number != node)
        if found is None:
            self._taken.append(node)
        return found

    def refuses(self, name: str) -> NoPlace | None:
        """Return what `try_remove` would, and leave the simulation as it was."""
        found, done = self._try_removal(name)
        _undo(done)
        return found

    def _try_removal(self, name: str) -> tuple[NoPlace | None, "_Removals"]:
        """Place what lies on the node in each packing; return what has no place, or what was done."""
        if self.unplaced:
            return NoPlace(self.unplaced[0], "it leaves a node that is already on its way out, and fits nowhere"), []
        node = self.arrays.index[name]
        if node in self._room_kept:
            return self._refused_announced(node), []
        if node in self._departing or node in self._taken:
            raise ValueError(f"{name} is already on its way out")
        own = [self.arrays.kind_of[pod.spec] for pod in self.arrays.movable(node)]
        done: _Removals = []
        for packing, chunks in zip(self._packings, self._chunks, strict=True):
            removal = packing.remove(node, own)
            if removal.succeeded:
                done.append((packing, removal))
            found = lost_room(self.buffers, packing, node, chunks) if removal.succeeded else refusal(packing, removal)
            if found:
                _undo(done)
                return found, []
        return None, done

    def _refused_announced(self, node: int) -> NoPlace | None:
        """Return what keeps a node whose pods have their room already."""
        if not self._room_kept[node]:
            return NoPlace(self.arrays.movable(node)[0], "it has a place in one way of packing, and none in another")
        ways = zip(self._packings, self._chunks, strict=True)
        return next(filter(None, (lost_room(self.buffers, packing, node, chunks) for packing, chunks in ways)), None)

    @property
    def announced(self) -> frozenset[str]:
        """The announced nodes, not taken yet, for whose pods room is kept."""
        return frozenset(self.arrays.nodes[node].name for node in self._room_kept)

    @property
    def placement_count(self) -> int:
        return len(self._packings[0].log)

    @property
    def assignments(self) -> Assignments:
        log, taken = tuple(self.first_packing.log), tuple(self._taken)
        return Assignments(self.arrays, log, tuple(self._pending()), self._departing, taken)

    def _with(self, packings: Sequence[Packing], chunks: Sequence[Chunks]) -> "Simulation":
        twin = Simulation(self.arrays, packings, chunks, self.buffers)
        twin._departing, twin._taken, twin.unplaced = self._departing, list(self._taken), self.unplaced
        twin._room_kept = dict(self._room_kept)
        return twin

    def _depart(self, nodes: Sequence[int], cordoned_untouched: Sequence[int]) -> None:
        """Give a place to what is pending, as far as it has one, and then to what leaves departing nodes."""
        # Buffers keep what they have in between: what leaves may not take it from them.
        self._departing = tuple(nodes)
        queue = in_queue_order(self._pending())
        leaving = {node: self.arrays.movable(node) for node in nodes}
        unplaced: set[int] = set()
        chunks: list[Chunks] = []
        for packing in self._packings:
            packing.close(nodes)
            packing.reserve(place_nominated(packing, queue), OUTSIDE)
            chunks.append(self.buffers.fitting(packing, cordoned_untouched))
            for node, pods in leaving.items():
                unplaced.update(packing.reserve([self.arrays.kind_of[pod.spec] for pod in pods], node))
        found = (pod for pods in leaving.values() for pod in pods if self.arrays.kind_of[pod.spec] in unplaced)
        self.unplaced, self._chunks = tuple(found), tuple(chunks)

    def _keep_room(self, nodes: Sequence[int]) -> None:
        """Give a place to what leaves announced nodes, under each strategy by itself."""
        for node in nodes:
            kinds = [self.arrays.kind_of[pod.spec] for pod in self.arrays.movable(node)]
            kept = [packing.reserve_all(kinds, node) for packing in self._packings]
            if kept[0]:
                self._departing = (*self._departing, node)
                self._room_kept[node] = all(kept)

    def _pending(self) -> Iterable[Pod]:
        """Return what needs a place now and does not get one with its departing node."""
        departing = {self.arrays.nodes[node].name for node in self._departing}
        return (pod for pod in self.arrays.pending if pod.node not in departing)


_Removals = list[tuple[Packing, Removal]]


def _undo(done: _Removals) -> None:
    for packing, removal in done:
        packing.undo(removal)


def headroom_of(arrays: ClusterArrays, percent: Mapping[str, int]) -> Amounts:
    """Return amounts by axis and node of percentages by pool, rounded up; the number of pods is not held back."""
    shares = np.fromiter((percent.get(node.pool, 0) for node in arrays.nodes), np.int64, len(arrays.nodes))
    amounts = -(-arrays.allocatable * shares // 100)
    amounts[arrays.axes.index(PODS)] = 0
    return amounts


PATIENCE: Final = timedelta(seconds=90)  # A minute of grace, and what the kubelet and the scheduler take after it.
AFTER_GRACE: Final = timedelta(seconds=5)  # What these take after a shorter grace.


def place_nominated(packing: Packing, queue: Iterable[Pod]) -> list[int]:
    """Put pods where room is kept for them, if there is or will be any; return the classes of all others, in order."""
    arrays = packing.arrays
    others: list[int] = []
    for pod in queue:
        kind, node = arrays.kind_of[pod.spec], arrays.index.get(pod.nominated)
        if node is not None and (packing.takes(kind, node) or packing.takes_later(kind, node, arrays.ending(node))):
            _keep_room(packing, kind, node)
        else:
            others.append(kind)
    return others


def place_preempting(
    packing: Packing, waiting: Iterable[Pod], nodes: Collection[int], now: datetime
) -> Mapping[str, datetime]:
    """Put pods where others give way to them and are gone soon; return by uid by when they are."""
    # Gone soon are those whose grace ends before the pod has waited for `PATIENCE`: neither a long grace nor one
    # nomination after another keeps a pod here for longer. Only pods of lower priority give way
    # (plugins/defaultpreemption). The scheduler knows what else may forbid the node: it has tried the pod there.
    placed: dict[str, datetime] = {}
    for pod in waiting:
        node = packing.arrays.index.get(pod.nominated)
        if node is None or node not in nodes:
            continue
        until = pod.unschedulable_since + PATIENCE if pod.unschedulable_since else now
        kind, going = packing.arrays.kind_of[pod.spec], _gone_soon(packing, pod, node, now, until)
        if going and packing.takes_later(kind, node, going):
            _keep_room(packing, kind, node)
            ends = max(other.deleting for other in going if other.deleting is not None)
            placed[pod.uid] = min(ends + AFTER_GRACE, until)
    return placed


def _gone_soon(packing: Packing, pod: Pod, node: int, now: datetime, until: datetime) -> list[Pod]:
    """Return the pods on the node that give way to this one; `deleting` is the end of their grace."""
    if now >= until:
        return []
    ending = (other for other in packing.arrays.ending(node) if other.spec.priority < pod.spec.priority)
    return [other for other in ending if other.deleting is not None and now <= other.deleting <= until]


def _keep_room(packing: Packing, kind: int, node: int) -> None:
    packing.put(kind, node)
    packing.presume(len(packing.log) - 1)
