"""Which rules keep one pod off which nodes, and how many: why it has no place, or so few.

Each rule is asked by itself, so that a node counts with every rule that excludes it; `alone` are those that would be
open without the one rule. Must agree with `Packing.taking`: what no rule excludes is what may take the pod.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from shared.core.cluster.node import Node
from shared.core.placement.constraints import NewConstraint
from shared.core.placement.constraints.anti_affinity import AntiAffinity
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.host_ports import HostPorts
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import OnePodClaims, VolumePlace
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.packing import Packing
from shared.core.reasons import Reason


class Exclusion(Reason):
    """Why a pod may not go to a node."""

    SHUT = "shut", "Not Ready, cordoned, being upgraded or on its way out."
    TAINT = "taint", "The pod does not tolerate a taint of the node."
    SELECTOR = "selector", "The pod's node selector or required node affinity means other nodes."
    KUBELET = "kubelet", "The node's kubelet is older than the one that the pod runs on, or declares less features."
    ROOM = "room", "Too little of it is free there, with the headroom that the policy keeps."
    ANTI_AFFINITY = "anti_affinity", "Required anti-affinity keeps it apart from a pod there or in the node's domain."
    AFFINITY = "affinity", "No pod that its required affinity asks for is there or in the node's domain."
    HOST_PORT = "host_port", "Another pod has the host port that it needs."
    SPREAD = "spread", "A topology spread constraint (DoNotSchedule) would be more uneven than its maxSkew."
    VOLUME_PLACE = (
        "volume_place",
        "A volume of the pod cannot be mounted there: it lies elsewhere.",
    )
    CLAIM_IN_USE = "claim_in_use", "A claim that one pod at a time may use (ReadWriteOncePod) is in use."
    ATTACH_LIMIT = "attach_limit", "The node can attach no further volume."


OF_CONSTRAINT: Final[Mapping[NewConstraint, Exclusion]] = {
    AntiAffinity: Exclusion.ANTI_AFFINITY,
    RequiredAffinity: Exclusion.AFFINITY,
    HostPorts: Exclusion.HOST_PORT,
    TopologySpread: Exclusion.SPREAD,
    VolumePlace: Exclusion.VOLUME_PLACE,
    OnePodClaims: Exclusion.CLAIM_IN_USE,
    AttachLimits: Exclusion.ATTACH_LIMIT,
}
"""A test holds it to name every line of `CONSTRAINTS`."""


class Places:
    """Some of the nodes, named only when somebody asks: of what is counted for thousands little is ever named."""

    __slots__ = ("_mask", "_nodes")

    def __init__(self, nodes: Sequence[Node], mask: NodeMask) -> None:
        self._nodes = nodes
        self._mask = mask

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._nodes[at].name for at in np.flatnonzero(self._mask).tolist())


NOWHERE: Final = Places((), np.zeros(0, dtype=bool))


@dataclass(frozen=True, slots=True)
class Excluded:
    """One rule, what it is about (a resource), how many nodes it excludes, and how many no other rule does."""

    rule: Exclusion
    detail: str
    nodes: int
    alone: int
    where: Places = field(default=NOWHERE, compare=False)
    where_alone: Places = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """How many other nodes there are, how many could take the pod, and what excludes the others."""

    nodes: int
    open: int
    excluded: tuple[Excluded, ...] = ()
    where: Places = field(default=NOWHERE, compare=False)
    """Those that could take it."""


NO_CHOICE: Final = NodeChoice(0, 0)


def choice(packing: Packing, kind: int, source: int) -> NodeChoice:
    """Return what there is to choose from for one pod of a class that leaves a node; rules in the scheduler's order."""
    nodes = packing.arrays.nodes
    answers = [(rule, detail, _elsewhere(mask, source)) for rule, detail, mask in _answers(packing, kind)]
    counted = np.sum([mask for _, _, mask in answers], axis=0, dtype=np.int64)
    found = (_excluded(rule, detail, nodes, mask, counted == 1) for rule, detail, mask in answers)
    still_open = _elsewhere(counted == 0, source)
    excluded = tuple(each for each in found if each.nodes)
    return NodeChoice(len(nodes) - 1, int(still_open.sum()), excluded, Places(nodes, still_open))


def _excluded(rule: Exclusion, detail: str, nodes: Sequence[Node], mask: NodeMask, once: NodeMask) -> Excluded:
    alone = mask & once
    return Excluded(rule, detail, int(mask.sum()), int(alone.sum()), Places(nodes, mask), Places(nodes, alone))


def _elsewhere(mask: NodeMask, source: int) -> NodeMask:
    """Leave out the node that the pod is on: that it does not stay there needs no rule."""
    elsewhere = mask.copy()
    elsewhere[source] = False
    return elsewhere


def _answers(packing: Packing, kind: int) -> Iterator[tuple[Exclusion, str, NodeMask]]:
    spec, filters = packing.arrays.classes[kind], packing.arrays.node_filters
    yield Exclusion.SHUT, "", packing.shut()
    yield Exclusion.TAINT, "", ~filters.tolerating(spec.tolerations)
    yield Exclusion.SELECTOR, "", ~filters.selected(spec)
    yield Exclusion.KUBELET, str(spec.needs_kubelet or ""), ~filters.able(spec)
    for resource, mask in packing.lacking(kind):
        yield Exclusion.ROOM, resource, mask
    for constraint, mask in packing.refusing(kind):
        yield OF_CONSTRAINT[constraint], "", mask
