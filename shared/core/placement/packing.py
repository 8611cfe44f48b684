"""One way the pods might be placed: which pod is on which node so far, and the nodes emptied for it.

Changes in place for speed; a removal that fails leaves nothing behind, one that succeeded can be undone. At its end
are names for what was counted: of a pod that was moved on only its final place.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.core.cluster.pod import Pod, is_daemon
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints.domain_counts import Counts, add_count, repeat_counted
from shared.core.placement.node_room import OUTSIDE, NodeRoom
from shared.core.placement.strategies import Strategy


@dataclass(frozen=True, slots=True)
class Placement:
    kind: int
    source: int
    target: int


@dataclass
class Removal:
    """The removal of one node: who had to leave, where they went, and which class found no place."""

    # `misplaced`: all found a place, but when all lay there, a pod of that class could not have come back to its own.

    node: int
    leaving: list[int]
    relocated: Counts
    was_open: bool
    placements: list[Placement] = field(default_factory=list)
    blocked: int | None = None
    misplaced: int | None = None

    @property
    def succeeded(self) -> bool:
        return self.blocked is None and self.misplaced is None


class Packing(NodeRoom):
    """The cluster with one strategy's placements in it. `log` lists every placement that stands, in order."""

    def __init__(self, arrays: ClusterArrays, strategy: Strategy) -> None:
        super().__init__(arrays, strategy)
        self.log: list[Placement] = []

    def copy(self) -> "Packing":
        twin = Packing(self.arrays, self.strategy)
        twin.begin_at(self)
        return twin

    def begin_at(self, start: "Packing") -> None:
        """Stand, new as this packing is, where another of the same arrays and strategy stands."""
        self._stand_at(start)
        self.log = list(start.log)

    def reserve(self, kinds: Sequence[int], source: int) -> list[int]:
        """Place what can be placed, in the given order; return the classes of the pods that fit nowhere."""
        begun = len(self.log)
        unplaced = self._reserve(kinds, source)
        if source == OUTSIDE:
            self.presume(begun)
        self._constraints.accept_misplaced()
        return unplaced

    def schedule(self, kinds: Sequence[int]) -> list[int]:
        """Place pods that run there from now on, so others may rest on them; return the classes that fit nowhere."""
        return self._reserve(kinds, OUTSIDE)

    def presume(self, begun: int) -> None:
        """Let nothing rest on the placements since that place in the log: their pods may lie elsewhere."""
        for placement in self.log[begun:]:
            self._constraints.presume(placement.kind, placement.target)

    def _reserve(self, kinds: Sequence[int], source: int) -> list[int]:
        self._let_pods_leave(kinds, source)
        placements = [Placement(kind, source, self._rehome(kind, source)) for kind in kinds]
        self.log.extend(placement for placement in placements if placement.target != OUTSIDE)
        return [placement.kind for placement in placements if placement.target == OUTSIDE]

    def reserve_all(self, kinds: Sequence[int], source: int) -> bool:
        """Place all pods of a node on its way out, or nothing has changed."""
        begun = len(self.log)
        self._constraints.close(source)
        if not self._reserve(kinds, source):
            self._constraints.accept_misplaced()
            return True
        for placement in reversed(self.log[begun:]):
            self._put_pods(placement.kind, placement.target, -1)
        del self.log[begun:]
        self._let_pods_stay(kinds, len(kinds), source)
        self._constraints.reopen(source)
        return False

    def remove(self, node: int, own: Sequence[int]) -> Removal:
        """Close the node and place its own and the relocated pods elsewhere: all of them, or nothing has changed."""
        # If that costs a pod that was moved its place, it is tried again with pods put where they cost nobody theirs.
        removal = self._remove(node, own)
        if removal.misplaced is None:
            return removal
        self._careful = True
        again = self._remove(node, own)
        self._careful = False
        return again if again.succeeded else removal

    def _remove(self, node: int, own: Sequence[int]) -> Removal:
        relocated = self._relocated.pop(node, {})
        moving_on = (kind for kind in repeat_counted(relocated) if not self.arrays.goes_with_its_node(kind))
        leaving = self.strategy.order(self.arrays, [*own, *moving_on])
        removal = Removal(node, leaving, relocated, was_open=bool(self._open[node]))
        self.close([node])
        self._let_pods_leave(leaving, node)
        for kind in leaving:
            target = self._rehome(kind, node, movable=not self.arrays.lasting_findings(kind))
            if target == OUTSIDE:
                removal.blocked = kind
                self.undo(removal)
                return removal
            removal.placements.append(Placement(kind, node, target))
        self.log.extend(removal.placements)
        removal.misplaced = self._constraints.find_misplaced()
        if removal.misplaced is not None:
            self.undo(removal)
        return removal

    def undo(self, removal: Removal) -> None:
        if removal.blocked is None:
            del self.log[len(self.log) - len(removal.placements) :]
        for placement in reversed(removal.placements):
            self._put_pods(placement.kind, placement.target, -1)
        self._let_pods_stay(removal.leaving, len(removal.placements) + (removal.blocked is not None), removal.node)
        self._open[removal.node] = removal.was_open
        self._constraints.reopen(removal.node)
        if removal.relocated:
            self._relocated[removal.node] = removal.relocated
        self._fit_cache.touch(removal.node)

    def put(self, kind: int, node: int) -> None:
        """Give a pod that has no node a place that `taking` or `takes_later` showed."""
        self._put_pods(kind, node, 1)
        self.log.append(Placement(kind, OUTSIDE, node))

    def _let_pods_leave(self, kinds: Sequence[int], node: int) -> None:
        if node != OUTSIDE:
            for kind in kinds:
                self._constraints.leave(kind, node)

    def _let_pods_stay(self, kinds: Sequence[int], evicted: int, node: int) -> None:
        """Take back that pods leave the node, and that so many of them were evicted."""
        for kind in kinds[:evicted]:
            self._constraints.evict(kind, node, -1)
        for kind in kinds:
            self._constraints.leave(kind, node, -1)

    def _rehome(self, kind: int, source: int, *, movable: bool = True) -> int:
        """Evict one of the pods that leave and place its replacement; OUTSIDE when there is no place for it."""
        if source != OUTSIDE:
            self._constraints.evict(kind, source)
        return self._place(kind) if movable else OUTSIDE


class GuidedPacking(Packing):
    """Begins where another packing stands; `places` are the nodes meant for the pods of a class."""

    def __init__(self, start: Packing, places: Mapping[int, Sequence[int]]) -> None:
        super().__init__(start.arrays, start.strategy)
        self.begin_at(start)
        self._places: dict[int, Counts] = {kind: Counter(nodes) for kind, nodes in places.items()}

    def _best(self, kind: int) -> int:
        meant = self._places.get(kind) if not self._careful else None
        target = next((node for node in meant if self.takes(kind, node)), None) if meant else None
        if meant is None or target is None:
            return super()._best(kind)
        add_count(meant, target, -1)
        return target


@dataclass(frozen=True, slots=True)
class Move:
    pod: str
    node: str


@dataclass(frozen=True, slots=True)
class Assignments:
    """Where pods end up in one packing, by its `log`: those of nodes taken, of departing nodes, those pending."""

    arrays: ClusterArrays
    log: tuple[Placement, ...]
    pending: tuple[Pod, ...]
    departing: tuple[int, ...]
    taken: tuple[int, ...]

    def moves(self) -> Mapping[str, tuple[Move, ...]]:
        """Return for each node taken where its pods end up; final places only."""
        places = dict(self._named_places())
        return {self.arrays.nodes[node].name: self._moves(self.arrays.movable(node), places) for node in self.taken}

    def reservations(self) -> tuple[Move, ...]:
        """Return where pods that are pending now, and those of departing nodes, were given a place."""
        # A DaemonSet's pods are left out: they keep room on their node, and go with it when it is taken.
        pending = (pod for pod in self.pending if not is_daemon(pod.spec))
        departing = (pod for node in self.departing for pod in self.arrays.movable(node))
        return self._moves((*pending, *departing), dict(self._named_places()))

    def steps(self) -> tuple[Move, ...]:
        """Return every placement in the order of the proof; a pod whose new node was taken later is named again."""
        return tuple(Move(pod, self.arrays.nodes[node].name) for pod, node in self._named_places())

    def _moves(self, pods: Iterable[Pod], places: Mapping[str, int]) -> tuple[Move, ...]:
        placed = (pod.key for pod in pods if pod.key in places)
        return tuple(Move(key, self.arrays.nodes[places[key]].name) for key in placed)

    def _named_places(self) -> Iterator[tuple[str, int]]:
        """Yield pod key and node index of every placement in order; of one pod the last is where it ends up."""
        at: dict[tuple[int, int], deque[Pod]] = defaultdict(deque)
        own = ((node, self.arrays.movable(node)) for node in (*self.departing, *self.taken))
        for source, pods in (*own, (OUTSIDE, in_queue_order(self.pending))):
            for pod in pods:
                at[source, self.arrays.kind_of[pod.spec]].append(pod)
        for placement in self.log:
            pod = at[placement.source, placement.kind].popleft()
            at[placement.target, placement.kind].append(pod)
            yield pod.key, placement.target


def in_queue_order(pods: Iterable[Pod]) -> list[Pod]:
    """Return pods as the scheduler takes them from its queue: by priority."""
    return sorted(pods, key=lambda pod: (-pod.spec.priority, pod.key))


@dataclass(frozen=True, slots=True)
class Reached:
    nodes: tuple[str, ...] = ()
    places: Mapping[str, str] | None = None

    def places_in(self, arrays: ClusterArrays) -> Mapping[int, list[int]]:
        """Return where the pods of these nodes lay, by class, as far as those nodes are still there."""
        places, found = self.places or {}, dict[int, list[int]]()
        for name in self.nodes:
            for pod in arrays.movable(arrays.index[name]):
                target = arrays.index.get(places.get(pod.key, ""))
                if target is not None:
                    found.setdefault(arrays.kind_of[pod.spec], []).append(target)
        return found


NOTHING_REACHED: Final = Reached()
