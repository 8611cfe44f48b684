"""Pods and buffers that wait for room: which of them a node may take."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared.core.cluster.autoscaling import Buffers, buffer_of
from shared.core.cluster.names import OUR_TAINT
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.buffer_room import BufferRoom
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.simulation import place_preempting
from shared.core.placement.strategies import PACKED
from shared.core.rules.unmodelled import is_destination


@dataclass(frozen=True, slots=True)
class RoomWanted:
    """A pod that waits for the room of a node; from `not_before` on, if others may still end for it elsewhere."""

    pod: Pod
    not_before: datetime | None = None


def nodes_to_return(snapshot: Snapshot, held: Iterable[Node], moved: Collection[str] = ()) -> Mapping[str, RoomWanted]:
    """Return which held nodes would take a waiting pod: by node name, the first pod that it takes."""
    # Most free CPU first, so that few are uncordoned; each pod is placed once. What preempts others on an open node
    # comes last and waits for their end; but not where its workload is among the `moved`, from which we have evicted:
    # that it waits may be our doing.
    freed = {node.name: as_returned(node) for node in held}
    pods = waiting_pods(snapshot)
    if not pods:
        return {}
    arrays = ClusterArrays(_with_nodes(snapshot, freed))
    candidates = _emptiest_first(arrays, freed)
    destinations = [place for place, node in enumerate(snapshot.nodes) if is_destination(node)]
    packing = Packing(arrays, PACKED)
    packing.open([*destinations, *candidates])
    patient = (pod for pod in pods if pod.spec.workload not in moved)
    soon = place_preempting(packing, patient, destinations, snapshot.taken_at)
    homes = _homes(packing, sorted(pods, key=lambda pod: pod.uid in soon), candidates, destinations)
    return {name: RoomWanted(pod, soon.get(pod.uid)) for name, pod in homes.items()}


def takers(snapshot: Snapshot, held: Collection[Node], waiting: Iterable[Pod]) -> Mapping[str, frozenset[str]]:
    """Return by key of a waiting pod which of the held nodes would take it, each as if it alone were uncordoned."""
    freed = {node.name: as_returned(node) for node in held}
    arrays = ClusterArrays(_with_nodes(snapshot, freed))
    packing = Packing(arrays, PACKED)
    packing.open(arrays.places_of(freed))
    taking = {pod.key: packing.taking(arrays.kind_of[pod.spec]) for pod in waiting}
    return {key: frozenset(name for name in freed if takes[arrays.index[name]]) for key, takes in taking.items()}


def _homes(
    packing: Packing, pods: Iterable[Pod], candidates: Sequence[int], destinations: Sequence[int]
) -> Mapping[str, Pod]:
    """Put pods that no destination takes onto candidates; return by node name the first pod of each."""
    taken: dict[str, Pod] = {}
    for pod in pods:
        kind = packing.arrays.kind_of[pod.spec]
        takes = packing.taking(kind)
        home = next((place for place in candidates if takes[place]), None)
        if home is not None and not takes[destinations].any():
            packing.put(kind, home)
            taken.setdefault(packing.arrays.nodes[home].name, pod)
    return taken


def _with_nodes(snapshot: Snapshot, changed: Mapping[str, Node]) -> Snapshot:
    return replace(snapshot, nodes=tuple(changed.get(node.name, node) for node in snapshot.nodes))


def _emptiest_first(arrays: ClusterArrays, names: Iterable[str]) -> list[int]:
    return sorted(
        map(arrays.index.__getitem__, names), key=lambda place: (-int(arrays.free[arrays.weighed[0], place]), place)
    )


def waiting_pods(snapshot: Snapshot) -> list[Pod]:
    return [pod for pod in snapshot.pods if is_waiting(pod)]


def is_waiting(pod: Pod) -> bool:
    """Whether the scheduler has found no place for a pod that more nodes than one could take."""
    # A DaemonSet's pod and a mirror pod are bound to their own node: no other node's room helps them.
    wanted = pod.deleting is None and not pod.phase.finished
    return not pod.node and pod.unschedulable_since is not None and wanted and not pod.spec.stays


def as_returned(node: Node) -> Node:
    return replace(node, unschedulable=False, taints=tuple(taint for taint in node.taints if taint.key != OUR_TAINT))


def nodes_for_buffers(snapshot: Snapshot, held: Iterable[Node]) -> Mapping[str, str]:
    """Return by node name the buffer (`namespace/name`) that it is uncordoned for, the most free CPU first."""
    freed = {node.name: as_returned(node) for node in held}
    short = (row for row in snapshot.buffers.held if row.ready is None or row.ready < row.replicas)
    lacking = Buffers(tuple(short))
    if not freed or not lacking.held:
        return {}
    arrays = ClusterArrays(replace(_with_nodes(snapshot, freed), buffers=lacking))
    candidates = _emptiest_first(arrays, freed)
    packing = Packing(arrays, PACKED)
    packing.stop_filling(candidates)
    packing.reserve([arrays.kind_of[pod.spec] for pod in arrays.pending], OUTSIDE)
    return _nodes_needed(packing, candidates)


def _nodes_needed(packing: Packing, candidates: list[int]) -> dict[str, str]:
    arrays, room = packing.arrays, BufferRoom(packing.arrays, packing.arrays.chunks)
    found: dict[str, str] = {}
    opened: list[int] = []
    now = room.fitting(packing)
    for node in candidates:
        then = room.fitting(packing, (*opened, node))
        more = next((place for place, number in enumerate(then) if number > now[place]), None)
        if more is not None:
            opened, now = [*opened, node], then
            found[arrays.nodes[node].name] = buffer_of(room.first[more].spec)
    return found
