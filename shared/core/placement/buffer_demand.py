"""Which nodes that we hold a capacity buffer needs: its chunks have no room elsewhere, and would have some there.

Asked of the same count that keeps nodes from being taken. Where the autoscaler itself says that all chunks of a buffer
have room it is believed. Must not act.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shared.core.cluster.buffers import Buffers, CapacityBuffer, buffer_of
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.buffer_room import BufferRoom
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.demand import as_given_back
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED


def nodes_for_buffers(snapshot: Snapshot, held: Iterable[Node]) -> Mapping[str, str]:
    """Return by node name the buffer (`namespace/name`) that it is given back for, the most free CPU first."""
    freed = {node.name: as_given_back(node) for node in held}
    lacking = Buffers(tuple(each for each in snapshot.buffers.held if not _is_whole(each)))
    if not freed or not lacking.held:
        return {}
    nodes = tuple(freed.get(node.name, node) for node in snapshot.nodes)
    arrays = ClusterArrays(replace(snapshot, nodes=nodes, buffers=lacking))
    candidates = sorted((arrays.index[name] for name in freed), key=lambda place: (-arrays.free_cpu(place), place))
    packing = Packing(arrays, PACKED)
    packing.bar(candidates)
    packing.reserve([arrays.kind_of[pod.spec] for pod in arrays.pending], OUTSIDE)
    return _needed(packing, candidates)


def _needed(packing: Packing, candidates: list[int]) -> dict[str, str]:
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


def _is_whole(buffer: CapacityBuffer) -> bool:
    return buffer.ready is not None and buffer.ready >= buffer.replicas
