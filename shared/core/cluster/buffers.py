"""Capacity buffers: room that the cluster autoscaler holds with pods that no API client sees.

A chunk is one such pod. It stands here as a pod without a node, of a class of its own, so that whatever asks whether a
pod fits asks the same of it.
Source: kubernetes/autoscaler, proposals/buffers.md; cluster-autoscaler, pkg/processors/capacitybuffer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.pod import Owner, Phase, Pod, PodClass

KIND: Final = "CapacityBuffer"
"""The kind of a chunk's owner: the autoscaler writes it into its own pods, too."""
ACTIVE: Final = "buffer.x-k8s.io/active-capacity"
"""The strategy whose room lies on running nodes; of others (suspended machines) nothing has to fit there."""
CLASSES: Final = "computeclasses"
LISTS: Final = ("capacitybuffers", "podtemplates", CLASSES)
"""The API's lists that `Buffers` are made of, by RBAC's words."""


@dataclass(frozen=True, slots=True)
class CapacityBuffer:
    """One buffer as its status says it: so many chunks, each asking for what a pod of that class would."""

    namespace: str
    name: str
    chunk: PodClass
    replicas: int
    ready: int | None = None
    """How many chunks the autoscaler finds room for on the nodes there are (`readyReplicas`); None: not said."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Buffers:
    """All that hold room on running nodes. `unread` are lists that exist and that we may not read."""

    held: tuple[CapacityBuffer, ...] = ()
    unread: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    """Objects that are not of the known shape, a sentence each without its full stop: their room is not kept."""

    @property
    def chunks(self) -> Iterator[tuple[Pod, int]]:
        """Yield a chunk of each buffer, as a pod without a node, and how many there are; nobody needs them singly."""
        return ((_chunk(each), each.replicas) for each in self.held if each.replicas)


NO_BUFFERS: Final = Buffers()


def chunk_owner(buffer: str) -> Owner:
    """Return the owner by which a chunk's class is known."""
    return Owner(KIND, buffer)


def buffer_of(spec: PodClass) -> str:
    """Return the buffer (`namespace/name`) whose chunk the class is; empty of pods."""
    owner = spec.owner
    return f"{spec.namespace}/{owner.name}" if owner is not None and owner.kind == KIND else ""


def sorted_buffers(buffers: Iterable[CapacityBuffer]) -> tuple[CapacityBuffer, ...]:
    return tuple(sorted(buffers, key=lambda each: each.key))


def _chunk(buffer: CapacityBuffer) -> Pod:
    """Return the first; its name is none that a pod can have."""
    return Pod(f"{buffer.name}[1]", f"{buffer.key}[1]", buffer.chunk, phase=Phase.PENDING, ready=False)
