"""One node, and the GKE node pool it belongs to. Must not hold rules, nor know the pods on it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.cluster import names
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import Labels, Taint, no_labels


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `pool` is empty without the GKE pool label; `allocatable` empty when the node reports none."""

    name: str
    uid: str
    created: datetime
    resource_version: str = ""
    labels: Labels = field(default_factory=no_labels)
    annotations: Labels = field(default_factory=no_labels)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True
    once_ready: bool = True
    """Whether it has registered and been Ready at some time (budgets count only such nodes)."""
    allocatable: Resources = NOTHING

    @property
    def pool(self) -> str:
        return self.labels.get(names.POOL_LABEL, "")

    @property
    def zone(self) -> str:
        return self.labels.get(names.ZONE_LABEL, "")

    @property
    def region(self) -> str:
        """By its label, or by its zone's name: `europe-west4` of `europe-west4-a`."""
        return self.labels.get(names.REGION_LABEL) or self.zone.rpartition("-")[0]

    @property
    def machine(self) -> str:
        return self.labels.get(names.MACHINE_LABEL, "")

    @property
    def spot(self) -> bool:
        return any(self.labels.get(label) == "true" for label in names.SPOT_LABELS)

    @property
    def drain_taint(self) -> str | None:
        """The order id in our taint, or None without our taint."""
        return next((taint.value for taint in self.taints if taint.key == names.OUR_TAINT), None)

    def has_taint(self, key: str) -> bool:
        return any(taint.key == key for taint in self.taints)


@dataclass(frozen=True, slots=True)
class NodePool:
    """A GKE node pool's autoscaling limits. Minimums: per zone, or in total (exclusive)."""

    name: str
    autoscaled: bool = True
    min_per_zone: int = 0
    min_total: int = 0
    upgrading: bool = False
    tpu_topology: str = ""
    """The shape of a TPU slice, in chips."""
    queued: bool = False
    """Whether its nodes come by queued provisioning."""
    compact: bool = False
    """Whether its nodes are placed close together."""
    consolidation_delay: timedelta | None = None
    """How long the autoscaler waits before it deletes an unneeded node; None = what its profile says."""
