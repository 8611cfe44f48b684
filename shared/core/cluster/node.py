"""One node, its kubelet and its GKE node pool, and our annotation: which order cordoned the node, and since when.

The annotation comes with the cordon and the taint in one patch, and stays when somebody removes those by hand. While
the taint is there, it names the owner of the node; without the taint, the annotation does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, Final

import msgspec

from shared.core.cluster import names
from shared.core.cluster.names import OUR_ANNOTATION
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import PREFER_NO_SCHEDULE, Labels, Taint, no_labels

_VERSION: Final = re.compile(r"v([0-9]{1,4})\.([0-9]{1,4})\.", re.ASCII)
UNKNOWN_VERSION: Final = (0, 0)


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Its version as (major, minor), and the features that the node declares (`status.declaredFeatures`)."""

    version: tuple[int, int] = UNKNOWN_VERSION
    features: frozenset[str] = frozenset()

    def can_all_of(self, other: "Kubelet") -> bool:
        """Whether what runs under the other may run under this one: not older, and no feature missing."""
        # A newer kubelet runs what an older one does (using-api/deprecation-policy; plugin NodeDeclaredFeatures).
        return self.version >= other.version and self.features >= other.features

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}" if self.version != UNKNOWN_VERSION else "unknown"


def minor_version(written: str) -> tuple[int, int]:
    """Return major and minor of a kubelet's version (`v1.33.4-gke.1245000`); what is not of that form is unknown."""
    match = _VERSION.match(written)
    return (int(match[1]), int(match[2])) if match else UNKNOWN_VERSION


SOFT_TAINT: Final = Taint(names.HELD_TAINT, PREFER_NO_SCHEDULE)  # What Ebb writes on nodes of a wave and costly ones.
ANY_KUBELET: Final = Kubelet()  # One of which nothing is known.


@dataclass(frozen=True)
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
    once_ready: bool = True  # Whether it has registered and been Ready at some time (budgets count only such nodes).
    allocatable: Resources = NOTHING
    conditions: frozenset[str] = frozenset()  # `names.LIFECYCLE_CONDITIONS` and `SUSPENDED_CONDITION` that are True.
    kubelet: Kubelet = ANY_KUBELET
    version: str = ""  # GKE's version of the node (`1.33.4-gke.1245000`); an upgrade changes it.

    @cached_property
    def stands_by(self) -> bool:
        """Whether it waits, running or suspended, for pods that a capacity buffer keeps room for."""
        labelled = self.labels.get(names.STANDBY_NODE) == "true" or names.SUSPENDED_CONDITION in self.conditions
        return labelled or self.has_taint(names.STANDBY_NODE) or self.has_taint(names.STANDBY_SUSPENDED_TAINT)

    @cached_property
    def managed(self) -> bool:
        """Whether Google manages it and bills its pods, not the node."""
        return self.labels.get(names.MANAGED_NODE) == "true" or self.has_taint(names.MANAGED_NODE)

    @cached_property
    def virtual(self) -> bool:
        """Whether no machine is behind it: a virtual kubelet passes its pods on, and these are billed."""
        return self.labels.get(names.NODE_TYPE_LABEL) == names.VIRTUAL_KUBELET or self.has_taint(names.VIRTUAL_TAINT)

    @cached_property
    def outside(self) -> bool:
        """Whether consolidation ignores it: it is neither source nor destination, and counted and priced nowhere."""
        return self.stands_by or self.managed or self.virtual

    @property
    def lifecycle(self) -> tuple[str, ...]:
        """The conditions that announce its drain, maintenance or shutdown by others, in the order of `names`."""
        return tuple(condition for condition in names.LIFECYCLE_CONDITIONS if condition in self.conditions)

    @cached_property
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
    def os(self) -> str:
        return self.labels.get(names.OS_LABEL, "")

    @property
    def spot(self) -> bool:
        return any(self.labels.get(label) == "true" for label in names.SPOT_LABELS)

    @property
    def drain_taint(self) -> str | None:
        """The order id in our taint, `NO_ORDER` where it has no value, or None without our taint."""
        return next((taint.value or names.NO_ORDER for taint in self.taints if taint.key == names.OUR_TAINT), None)

    @property
    def held(self) -> bool:
        """Whether the node carries a taint of waves, with whatever effect a person gave it."""
        return self.has_taint(names.HELD_TAINT)

    @property
    def softly_held(self) -> bool:
        """Whether its one taint of waves is the one that Ebb writes."""
        return [taint for taint in self.taints if taint.key == names.HELD_TAINT] == [SOFT_TAINT]

    @property
    def is_announced(self) -> bool:
        """Whether the cluster autoscaler has announced to remove it: by a soft taint, so it takes pods yet."""
        return self.has_taint(names.AUTOSCALER_CANDIDATE_TAINT)

    def has_taint(self, key: str) -> bool:
        return key in self._taint_keys

    @cached_property
    def _taint_keys(self) -> frozenset[str]:
        return frozenset(taint.key for taint in self.taints)


@dataclass(frozen=True, slots=True)
class NodePool:
    """A GKE node pool's autoscaling limits. Minimums: per zone, or in total (exclusive)."""

    name: str
    autoscaled: bool = True
    min_per_zone: int = 0
    min_total: int = 0
    upgrading: bool = False
    version: str = ""  # The version that GKE gives its nodes; empty where it is not known.
    tpu_topology: str = ""  # The shape of a TPU slice, in chips.
    queued: bool = False  # Whether its nodes come by queued provisioning.
    compact: bool = False  # Whether its nodes are placed close together.
    consolidation_delay: timedelta | None = None  # Before an unneeded node is deleted; None = as the profile has it.


class DrainAnnotation(msgspec.Struct, frozen=True):
    since: Annotated[datetime, msgspec.Meta(tz=True)]
    order_id: Annotated[str, msgspec.Meta(max_length=63, pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$")] = ""
    """A value that a taint can have, as an order id is."""


def read_annotation(node: Node) -> DrainAnnotation | None:
    """Return the annotation's content; None without one, and for content that cannot be read."""
    try:
        return msgspec.json.decode(node.annotations.get(OUR_ANNOTATION, ""), type=DrainAnnotation)
    except msgspec.DecodeError:
        return None


def holding_order(node: Node) -> str | None:
    if node.drain_taint is not None:
        return node.drain_taint
    note = read_annotation(node)
    return (note.order_id or None) if note else None


def region_of(nodes: Iterable[Node]) -> str:
    return next(filter(None, (node.region for node in nodes)), "")
