"""Capacity buffers: room that the cluster autoscaler holds with pods that no API client sees.

A chunk is one such pod. It stands here as a pod without a node, of a class of its own, so that whatever asks whether a
pod fits asks the same of it. Must not hold rules.
Source: kubernetes/autoscaler, proposals/buffers.md; cluster-autoscaler, pkg/processors/capacitybuffer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from shared.core.cluster.pod import Owner, Phase, Pod, PodClass

KIND: Final = "CapacityBuffer"
"""The kind of a chunk's owner: the autoscaler writes it into its own pods, too."""
ACTIVE: Final = "buffer.x-k8s.io/active-capacity"
"""The strategy whose room lies on running nodes; of others (suspended machines) nothing has to fit there."""
LISTS: Final = ("capacitybuffers", "podtemplates", "computeclasses")
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

    @cached_property
    def chunks(self) -> tuple[Pod, ...]:
        """Every chunk as a pod without a node; its name is none that a pod can have."""
        return tuple(pod for each in self.held for pod in _chunks(each))


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


def _chunks(buffer: CapacityBuffer) -> Iterable[Pod]:
    for number in range(1, buffer.replicas + 1):
        name = f"{buffer.name}[{number}]"
        yield Pod(name=name, uid=f"{buffer.key}[{number}]", spec=buffer.chunk, phase=Phase.PENDING, ready=False)
