"""The steps of a drain, as `draining` decides them and the drainer carries them out. Must not decide or act."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.outcomes import Halt, Outcome
from shared.core.reasons import Reason
from shared.core.records.drain_record import DrainPhase

LOOK_EVERY: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Cordon:
    """Cordon and own the node."""

    node: Node


@dataclass(frozen=True)
class RecordPhase:
    """Write the phase reached, act on nothing: the world is already there."""

    phase: DrainPhase


@dataclass(frozen=True)
class Prove:
    """Look at the whole cluster whether what would be moved still has a place."""


@dataclass(frozen=True)
class Compare:
    """Look at what the other drains have moved: one of them may have to give its node back in our stead."""


@dataclass(frozen=True)
class Evict:
    """Ask for the eviction of these pods, in parallel."""

    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Restart:
    """Restart the Deployment of these pods: its controller starts others, then ends them."""

    deployment: str
    """`namespace/Deployment/name`."""
    pods: tuple[Pod, ...]


@dataclass(frozen=True)
class Await:
    """Look again after a while."""

    pause: timedelta = LOOK_EVERY


@dataclass(frozen=True)
class LeaveToAutoscaler:
    """Nothing is left to do for this order: the node is the cluster autoscaler's."""


@dataclass(frozen=True)
class GiveBack:
    """Uncordon and untaint, back off, settle."""

    why: Halt
    detail: str = ""
    gave_way_for: tuple[str, ...] = ()
    """Keys of the replacements that find no node, and for which it gives way: others need not."""


@dataclass(frozen=True)
class Settle:
    """Nothing is left to do in the cluster: write how it ended."""

    outcome: Outcome
    why: Reason | None = None
    detail: str = ""


Step = Cordon | RecordPhase | Prove | Compare | Restart | Evict | Await | LeaveToAutoscaler | GiveBack | Settle
