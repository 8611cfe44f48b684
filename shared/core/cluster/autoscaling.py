"""The cluster autoscaler's part: how it removes nodes, and the room that it holds for capacity buffers.

With a threshold of 0 the autoscaler deletes empty nodes only. It holds a buffer's room with pods that no API client
sees; here such a chunk is a pod without a node, so the same rules decide whether it fits.
Source: GoogleCloudPlatform/cluster-autoscaler, pkg/computeclass/autoscaling_options.go;
kubernetes/autoscaler, proposals/buffers.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final

from shared.core.cluster.names import COMPUTE_CLASS_LABEL, CONSOLIDATION_DELAY_LABEL, Namespaced
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Owner, Phase, Pod, PodClass
from shared.core.cluster.resources import GPU

_SECONDS: Final = re.compile(r"[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Profile:
    """An autoscaling profile: up to which utilization a node may be unneeded, and how long it must have been."""

    gate: Fraction
    unneeded: timedelta


BALANCED: Final = Profile(Fraction(1, 2), timedelta(minutes=10))
PROFILES: Final[Mapping[str, Profile]] = {
    "BALANCED": BALANCED,
    "OPTIMIZE_UTILIZATION": Profile(Fraction(17, 20), timedelta(minutes=1)),
}
"""The values of GKE's two profiles as far as they are public (the chart of GoogleCloudPlatform/cluster-autoscaler)."""


PACKED: Final = Fraction(3, 4)  # One that takes nodes so full leaves Ebb no gain (docs/decisions/money-over-days.md).


class SaidBy(StrEnum):
    PROFILE = "profile"
    NODE_POOL = "node_pool"
    COMPUTE_CLASS = "compute_class"


@dataclass(frozen=True, slots=True)
class AutoscalingPolicy:
    """A ComputeClass's `spec.autoscalingPolicy`; None = not set. `faults` are sentences about what was not readable."""

    threshold: Fraction | None = None
    gpu_threshold: Fraction | None = None
    delay: timedelta | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComputeClasses:
    """By name. `unread`: there may be some, and we may not list them."""

    found: Mapping[str, AutoscalingPolicy] = field(default_factory=dict)
    unread: bool = False


NO_CLASSES: Final = ComputeClasses()


@dataclass(frozen=True, slots=True)
class ScaleDownRule:
    """How the autoscaler removes a node. `compute_class` is the one that its label names; empty without one."""

    profile: str
    gate: Fraction
    unneeded: timedelta
    gate_by: SaidBy = SaidBy.PROFILE
    unneeded_by: SaidBy = SaidBy.PROFILE
    compute_class: str = ""
    class_known: bool = True  # False if the class could not be read: it may set other values.

    @property
    def only_empty(self) -> bool:
        """Whether only nodes go on which no pod but a DaemonSet's requests anything."""
        return self.gate == 0

    @property
    def packs(self) -> bool:
        """Whether it takes nodes so full that it packs as far as Ebb by default would (optimize-utilization)."""
        return self.class_known and self.gate >= PACKED

    @property
    def delay(self) -> timedelta | None:
        """How long it waits if a pool or a class sets that; None = as the profile has it."""
        return None if self.unneeded_by is SaidBy.PROFILE else self.unneeded


def profile_named(name: str) -> Profile:
    return PROFILES.get(name, BALANCED)


def scale_down_of(node: Node, pool: NodePool | None, profile: str, classes: ComputeClasses) -> ScaleDownRule:
    usual, name = profile_named(profile), node.labels.get(COMPUTE_CLASS_LABEL, "")
    own = classes.found.get(name, AutoscalingPolicy())
    threshold = own.gpu_threshold if node.allocatable.get(GPU) else own.threshold
    unneeded, unneeded_by = _delay(node, pool, own.delay) or (usual.unneeded, SaidBy.PROFILE)
    return ScaleDownRule(
        profile,
        usual.gate if threshold is None else threshold,
        unneeded,
        SaidBy.PROFILE if threshold is None else SaidBy.COMPUTE_CLASS,
        unneeded_by,
        name,
        class_known=not name or name in classes.found,
    )


def _delay(node: Node, pool: NodePool | None, by_class: timedelta | None) -> tuple[timedelta, SaidBy] | None:
    label = node.labels.get(CONSOLIDATION_DELAY_LABEL, "")
    by_label = timedelta(seconds=int(label)) if _SECONDS.fullmatch(label) else None
    by_pool = pool.consolidation_delay if pool else None
    rows = ((by_class, SaidBy.COMPUTE_CLASS), (by_label, SaidBy.NODE_POOL), (by_pool, SaidBy.NODE_POOL))
    return max(((delay, by) for delay, by in rows if delay), default=None, key=lambda row: row[0])


BUFFER_KIND: Final = "CapacityBuffer"  # The kind of a chunk's owner: the autoscaler writes it into its own pods, too.
ACTIVE: Final = "buffer.x-k8s.io/active-capacity"
"""The strategy whose room is on running nodes; the chunks of others (suspended machines) need not fit there."""
CLASSES: Final = "computeclasses"


@dataclass(frozen=True, slots=True)
class CapacityBuffer(Namespaced):
    """One buffer by its status: `replicas` chunks, each of which requests what a pod of that class would."""

    chunk: PodClass
    replicas: int
    ready: int | None = None  # Chunks that the autoscaler finds room for now (`readyReplicas`); None = not reported.


@dataclass(frozen=True)
class Buffers:
    """All that hold room on running nodes. `unread` are lists that exist and that we may not read."""

    held: tuple[CapacityBuffer, ...] = ()
    unread: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()  # A sentence for each object of an unknown shape, whose room is not kept.

    @property
    def chunks(self) -> Iterator[tuple[Pod, int]]:
        """Yield a chunk of each buffer, as a pod without a node, and how many there are."""
        # The first one's name stands for all: no pod can have it.
        return (
            (
                Pod(f"{buffer.name}[1]", f"{buffer.key}[1]", buffer.chunk, phase=Phase.PENDING, ready=False),
                buffer.replicas,
            )
            for buffer in self.held
            if buffer.replicas
        )


NO_BUFFERS: Final = Buffers()


def chunk_owner(buffer: str) -> Owner:
    return Owner(BUFFER_KIND, buffer)


def buffer_of(spec: PodClass) -> str:
    """Return the buffer (`namespace/name`) whose chunk the class is; empty of pods."""
    owner = spec.owner
    return f"{spec.namespace}/{owner.name}" if owner is not None and owner.kind == BUFFER_KIND else ""


def sorted_buffers(buffers: Iterable[CapacityBuffer]) -> tuple[CapacityBuffer, ...]:
    return tuple(sorted(buffers, key=lambda buffer: buffer.key))
