"""Why a node could not be taken: the pod that found no place, and what was tried. Must not try anything itself."""

from dataclasses import dataclass

from shared.core.cluster.buffers import buffer_of
from shared.core.cluster.pod import Pod
from shared.core.placement.buffer_room import BufferRoom, Chunks
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing, Removal
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
        """What the node stays for."""
        if self.buffer:
            return Blocker(Unremovable.NEEDED_BY_BUFFER, self.buffer, self.detail)
        return Blocker(Unremovable.NO_PLACE_FOR_PODS, self.pod.key, self.detail)

    @property
    def sentence(self) -> str:
        """What the proof says, in few words."""
        return f"{f'the room of buffer {self.buffer}' if self.buffer else self.pod.key}: {self.detail}"


def refusal(packing: Packing, removal: Removal) -> NoPlace:
    """Say why a removal failed that is taken back by now."""
    arrays, tried = packing.arrays, f"packed as: {packing.strategy.name}"
    if removal.blocked is None:
        pod = _pod_of(arrays, removal.node, removal.misplaced or 0)
        return NoPlace(pod, f"it could not come back to its new place once all lie there; {tried}")
    pod, fixed = _pod_of(arrays, removal.node, removal.blocked), arrays.fixed(removal.blocked)
    if fixed:
        return NoPlace(pod, fixed[0].reason.value)
    admitting, fitting = packing.options(removal.blocked, removal.node)
    raised = f" as it comes back (by {' and '.join(pod.spec.raised_by)})" if pod.spec.raised_by else ""
    return NoPlace(pod, f"other nodes that admit it: {admitting}, with room for one{raised}: {fitting}; {tried}")


def lost_room(buffers: BufferRoom, packing: Packing, node: int, chunks: Chunks) -> NoPlace | None:
    """Return the buffer for which a node that is taken was needed; `chunks` are those that must keep their room."""
    place = buffers.lost(packing, node, chunks)
    if place is None:
        return None
    left, wanted = buffers.fitting(packing)[place], buffers.wanted[place]
    why = f"without it {left} of {wanted} chunks have room; packed as: {packing.strategy.name}"
    return NoPlace(buffers.first[place], why)


def _pod_of(arrays: ClusterArrays, node: int, kind: int) -> Pod:
    """Return a pod of the class, one of the node if there is any."""
    spec = arrays.classes[kind]
    return next((pod for pod in arrays.movable(node) if pod.spec is spec), arrays.example[spec])
