"""One node, and the GKE node pool it belongs to. Must not hold rules, nor know the pods on it."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.cluster import names
from shared.core.cluster.kubelet import ANY_KUBELET, Kubelet
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
    conditions: frozenset[str] = frozenset()
    """Those of `names.LIFECYCLE_CONDITIONS` and `names.SUSPENDED_CONDITION` that are True."""
    kubelet: Kubelet = ANY_KUBELET
    version: str = ""
    """GKE's version of it (`1.33.4-gke.1245000`), by which an upgrade is seen to have reached it."""

    @property
    def stands_by(self) -> bool:
        """Whether it waits, running or suspended, for pods that a capacity buffer keeps room for."""
        labelled = self.labels.get(names.STANDBY_NODE) == "true" or names.SUSPENDED_CONDITION in self.conditions
        return labelled or self.has_taint(names.STANDBY_NODE) or self.has_taint(names.STANDBY_SUSPENDED_TAINT)

    @property
    def managed(self) -> bool:
        """Whether Google manages it and bills its pods, not the node."""
        return self.labels.get(names.MANAGED_NODE) == "true" or self.has_taint(names.MANAGED_NODE)

    @property
    def outside(self) -> bool:
        """Whether it is no part of what is consolidated: neither source nor destination, counted and priced nowhere."""
        return self.stands_by or self.managed

    @property
    def lifecycle(self) -> tuple[str, ...]:
        """The conditions by which somebody else says that it goes or is worked on, in the order of `names`."""
        return tuple(each for each in names.LIFECYCLE_CONDITIONS if each in self.conditions)

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
        """The order id in our taint, `NO_ORDER` where it has no value, or None without our taint."""
        return next((taint.value or names.NO_ORDER for taint in self.taints if taint.key == names.OUR_TAINT), None)

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
    version: str = ""
    """The version that GKE gives its nodes; empty where it is not known."""
    tpu_topology: str = ""
    """The shape of a TPU slice, in chips."""
    queued: bool = False
    """Whether its nodes come by queued provisioning."""
    compact: bool = False
    """Whether its nodes are placed close together."""
    consolidation_delay: timedelta | None = None
    """How long the autoscaler waits before it deletes an unneeded node; None = what its profile says."""
