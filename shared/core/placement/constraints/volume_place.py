"""Where the volumes of a pod can be mounted.

A bound claim's volume binds by its node affinity (plugin VolumeBinding) and by its zone and region labels
(VolumeZone), one that is still to be made by the topologies of its class. A mask is made once for each place:
thousands of claims are in a few zones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import numpy as np

from shared.core.cluster import names
from shared.core.cluster.pod import WITH_CLAIM, PodClass, Volume
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.storage import PersistentVolume, Storage
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.node_filters import NodeMask
from shared.core.rules.unmodelled import claim_of, disk_of, made_for

GCE_ZONE: Final = "topology.gke.io/zone"
BETA_ZONE, BETA_REGION = names.VOLUME_ZONE_LABELS[:2]
_NEWER: Final = {BETA_ZONE: names.ZONE_LABEL, BETA_REGION: names.REGION_LABEL}
"""The label that has taken the place of each beta label, which newer nodes do not have."""
_SEVERAL: Final = "__"  # What stands between the zones in a regional disk's label.
Terms = tuple[NodeTerm, ...]


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Where an in-tree volume is; where a CSI driver has taken over from its plugin, as that driver puts it."""

    plugin: str
    terms: Terms | None
    by_driver: Terms


Place = Terms | TakenOver


class VolumePlace(Constraint):
    def __init__(self, given: ConstraintInput) -> None:
        self._storage = given.snapshot.storage
        self._filters = given.node_filters
        self._nodes = given.snapshot.nodes
        self._places = [frozenset(_places(spec, self._storage)) for spec in given.classes]
        self._masks: dict[Place, NodeMask] = {}
        self._common: dict[frozenset[Place], NodeMask] = {}

    def concerns(self, kind: int) -> bool:
        return bool(self._places[kind])

    def admits(self, kind: int) -> NodeMask | None:
        places = self._places[kind]
        if places not in self._common:
            self._common[places] = reduce(np.logical_and, map(self._mask, places))
        return self._common[places]

    def state(self) -> "Unchanging":
        return Unchanging()

    def _mask(self, place: Place) -> NodeMask:
        if place not in self._masks:
            mask = self._taken_over(place) if isinstance(place, TakenOver) else self._filters.meeting(place)
            self._masks[place] = mask
        return self._masks[place]

    def _taken_over(self, place: TakenOver) -> NodeMask:
        at = self._storage.csi_nodes
        here = (node.name in at and place.plugin in at[node.name].migrated for node in self._nodes)
        as_written = True if place.terms is None else self._mask(place.terms)
        taken_over = np.fromiter(here, np.bool_, len(self._nodes))
        return np.where(taken_over, self._mask(place.by_driver), as_written)


class Unchanging(ConstraintState):
    """What lies on the nodes changes nothing."""

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        del kind, node, pods

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        del kind
        return None

    def copy(self) -> "Unchanging":
        return self


def _places(spec: PodClass, storage: Storage) -> Iterator[Place]:
    for volume in spec.volumes:
        if storage.known and volume.kind in WITH_CLAIM:
            yield from _places_of(spec, volume, storage)


def _places_of(spec: PodClass, volume: Volume, storage: Storage) -> Iterator[Place]:
    claim = claim_of(spec, volume, storage)
    disk, made = disk_of(claim, storage), made_for(volume, claim, storage)
    if disk is not None:
        yield from _of_disk(disk)
        return
    if claim is not None and claim.selected_node:
        yield (NodeTerm(fields=(Requirement("metadata.name", "In", (claim.selected_node,)),)),)
    if made is not None and made.allowed_topologies is not None:
        yield made.allowed_topologies


def _of_disk(disk: PersistentVolume) -> Iterator[Place]:
    # Labels alone can meet them: a volume's affinity is asked of a node's labels, never of its name.
    terms = disk.node_terms and tuple(term for term in disk.node_terms if not term.fields)
    by_driver = _by_driver(disk, terms) if disk.plugin == "kubernetes.io/gce-pd" else terms
    if by_driver is not None and by_driver != terms:
        yield TakenOver(disk.plugin, terms, by_driver)
    elif terms is not None:
        yield terms
    for key, value in disk.labels.items():
        zones = _zones(value)
        if "" not in zones:  # the scheduler passes over a label that it cannot read
            yield tuple(_in_zones(key, zones))


def _in_zones(key: str, zones: tuple[str, ...]) -> Iterator[NodeTerm]:
    """Yield what a label of the volume means: only in these zones or regions, as far as nodes have any."""
    yield NodeTerm(tuple(Requirement(label, "DoesNotExist") for label in names.VOLUME_ZONE_LABELS))
    yield NodeTerm((Requirement(key, "In", zones),))
    if key in _NEWER:
        yield NodeTerm((Requirement(key, "DoesNotExist"), Requirement(_NEWER[key], "In", zones)))


def _zones(value: str) -> tuple[str, ...]:
    return tuple(sorted({word.strip() for word in value.split(_SEVERAL)}))


def _by_driver(disk: PersistentVolume, terms: Terms | None) -> Terms | None:
    """Return a GCE disk's node affinity as the CSI driver puts it."""
    # Zones by its own label (translateTopologyFromInTreeToCSI).
    label_keys = {expression.key for term in terms or () for expression in term.expressions}
    zone = _zone_key(disk, label_keys)
    renamed = {zone: GCE_ZONE} | ({BETA_REGION: names.REGION_LABEL} if zone == BETA_ZONE else {})
    zones = tuple(filter(None, _zones(disk.labels.get(zone, ""))))
    added = (Requirement(GCE_ZONE, "In", zones),) if zones and zone not in label_keys else ()
    if terms is None and not added:
        return None
    base = (NodeTerm(),) if terms is None else terms
    rows = ([replace(row, key=renamed.get(row.key, row.key)) for row in term.expressions] for term in base)
    return tuple(NodeTerm((*kept, *added)) for kept in rows)


def _zone_key(disk: PersistentVolume, label_keys: set[str]) -> str:
    """Return the label by which the disk names its zone: affinity before labels, the newer before the beta label."""
    keys = (key for where in (label_keys, disk.labels.keys()) for key in (names.ZONE_LABEL, BETA_ZONE) if key in where)
    return next(keys, names.ZONE_LABEL)
