"""How the cluster autoscaler takes nodes away: up to which utilisation, after how long, and who says so.

GKE's profile says it for the cluster, the ComputeClass of a node and its pool for that node. With a threshold of 0 the
autoscaler only deletes nodes on which no pod but a DaemonSet's asks for anything: it reaps, and empties none itself.

Source: GoogleCloudPlatform/cluster-autoscaler, pkg/computeclass/autoscaling_options.go and the profiles of its chart;
cluster-autoscaler, pkg/core/scaledown/eligibility (a node above the threshold is not looked at).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final

from shared.core.cluster.names import COMPUTE_CLASS_LABEL, CONSOLIDATION_DELAY_LABEL
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import GPU

_SECONDS: Final = re.compile(r"[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Profile:
    """An autoscaling profile: up to which utilisation a node may be unneeded, and how long it must have been."""

    gate: Fraction
    unneeded: timedelta


BALANCED: Final = Profile(Fraction(1, 2), timedelta(minutes=10))
PROFILES: Final[Mapping[str, Profile]] = {
    "BALANCED": BALANCED,
    "OPTIMIZE_UTILIZATION": Profile(Fraction(17, 20), timedelta(minutes=1)),
}
"""The values of GKE's two profiles as far as they are public (the chart of GoogleCloudPlatform/cluster-autoscaler)."""


class SaidBy(StrEnum):
    """Whose word a setting is."""

    PROFILE = "profile"
    NODE_POOL = "node_pool"
    COMPUTE_CLASS = "compute_class"


@dataclass(frozen=True, slots=True)
class AutoscalingPolicy:
    """What a ComputeClass says (`spec.autoscalingPolicy`); None = nothing. `faults` are sentences about the rest."""

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
    """How a node is taken away. `compute_class` is the one that its label names; empty without one."""

    profile: str
    gate: Fraction
    unneeded: timedelta
    gate_by: SaidBy = SaidBy.PROFILE
    unneeded_by: SaidBy = SaidBy.PROFILE
    compute_class: str = ""
    class_known: bool = True
    """False where the class could not be read: it may say otherwise."""

    @property
    def is_reaper(self) -> bool:
        """Whether only nodes go on which no pod but a DaemonSet's asks for anything."""
        return self.gate == 0

    @property
    def delay(self) -> timedelta | None:
        """How long it waits where somebody has said so; None = as the profile has it."""
        return None if self.unneeded_by is SaidBy.PROFILE else self.unneeded


def profile_named(name: str) -> Profile:
    return PROFILES.get(name, BALANCED)


def scale_down_of(node: Node, pool: NodePool | None, profile: str, classes: ComputeClasses) -> ScaleDownRule:
    """Return how the autoscaler takes that node; of several delays the longest counts."""
    usual, name = profile_named(profile), node.labels.get(COMPUTE_CLASS_LABEL, "")
    said = classes.found.get(name, AutoscalingPolicy())
    threshold = said.gpu_threshold if node.allocatable.get(GPU) else said.threshold
    unneeded, unneeded_by = _delay(node, pool, said) or (usual.unneeded, SaidBy.PROFILE)
    return ScaleDownRule(
        profile,
        usual.gate if threshold is None else threshold,
        unneeded,
        SaidBy.PROFILE if threshold is None else SaidBy.COMPUTE_CLASS,
        unneeded_by,
        name,
        class_known=not name or name in classes.found,
    )


def _delay(node: Node, pool: NodePool | None, said: AutoscalingPolicy) -> tuple[timedelta, SaidBy] | None:
    label = node.labels.get(CONSOLIDATION_DELAY_LABEL, "")
    by_label = timedelta(seconds=int(label)) if _SECONDS.fullmatch(label) else None
    by_pool = pool.consolidation_delay if pool else None
    rows = ((said.delay, SaidBy.COMPUTE_CLASS), (by_label, SaidBy.NODE_POOL), (by_pool, SaidBy.NODE_POOL))
    return max(((delay, by) for delay, by in rows if delay), default=None, key=lambda row: row[0])
