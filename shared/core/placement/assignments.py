"""Names for what was counted: which pod ends up where. A pod that was moved on has its final place only."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.pod import Pod, is_daemon
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Placement


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
