"""Where the pods of a node would land if it were drained next, and which rules keep a pod off which nodes.

A node counts with every rule that excludes it; a proof takes all pods or none, this shows which have a place.
Must agree with `Packing.taking`: a node that no rule excludes may take the pod.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Final

import numpy as np

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.constraint import NewConstraint
from shared.core.placement.constraints.exclusion import AntiAffinity, HostPorts, OnePodClaims
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import VolumePlace
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.simulation import Simulation
from shared.core.reasons import Finding, Reason
from shared.core.reasons import ReasonRow as Row


class Exclusion(Reason):
    """Why a pod may not go to a node."""

    # fmt: off
    SHUT = Row("shut", "The node is not Ready, cordoned, upgrading or on its way out.",
        "Fix or uncordon such nodes if they are to stay; kubectl get nodes shows their state.")
    TAINT = Row("taint", "The pod does not tolerate a taint of the node.",
        "Let the pod tolerate the taint, unless it reserves the pool for others.")
    SELECTOR = Row("selector", "The pod's node selector or required node affinity does not match the node.",
        "Select a label that more nodes have, or use preferred affinity.")
    KUBELET = Row("kubelet", "The node's kubelet is older, has fewer features, or is of another operating system.",
        "Upgrade the older node pools: pods return only to kubelets with the same features.")
    ROOM = Row("room", "The node has too little free room, with the headroom that the policy keeps.",
        "Set requests closer to what the pod uses, or lower headroom of the pool.")
    ANTI_AFFINITY = Row("anti_affinity",
        "Required anti-affinity separates the pod from a pod on the node or in its domain.",
        "Use topology spread instead, which lets pods share nodes when nodes are few.")
    AFFINITY = Row("affinity", "No pod that its required affinity needs is on the node or in its domain.",
        "Use a wider domain (topologyKey), such as the zone instead of the node.")
    HOST_PORT = Row("host_port", "Another pod uses its host port.", "Use a Service instead of a host port.")
    SPREAD = Row("spread", "A topology spread constraint (DoNotSchedule) would exceed its maxSkew.",
        "Run one more replica, or spread over larger domains.")
    VOLUME_PLACE = Row("volume_place", "A volume of the pod cannot be mounted on the node.",
        "Use a regional disk or a network volume if the pod may change zones.")
    CLAIM_IN_USE = Row("claim_in_use", "Another pod uses a claim that one pod at a time may use (ReadWriteOncePod).",
        "Give each pod its own claim (volumeClaimTemplates of a StatefulSet).")
    ATTACH_LIMIT = Row("attach_limit", "The node can attach no more volumes.",
        "Use larger machines for pods with many disks, or fewer disks.")
    # fmt: on


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


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Some of the nodes, named only when somebody asks: of what is counted for thousands little is ever named."""

    nodes: Sequence[Node]
    mask: NodeMask

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.nodes[at].name for at in np.flatnonzero(self.mask).tolist())


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
    where: Places = field(default=NOWHERE, compare=False)  # Those that could take it.

    @property
    def most(self) -> Excluded | None:
        return max(self.excluded, key=lambda excluded: (excluded.nodes, excluded.alone), default=None)


NO_CHOICE: Final = NodeChoice(0, 0)


def choice(packing: Packing, kind: int, source: int) -> NodeChoice:
    """Return what there is to choose from for one pod of a class that leaves a node; rules in the scheduler's order."""
    nodes = packing.arrays.nodes
    answers = [(rule, detail, _elsewhere(mask, source)) for rule, detail, mask in _answers(packing, kind)]
    counted = np.sum([mask for _, _, mask in answers], axis=0, dtype=np.int64)
    found = (_exclude_nodes(rule, detail, nodes, mask, counted == 1) for rule, detail, mask in answers)
    still_open = _elsewhere(counted == 0, source)
    excluded = tuple(excluded for excluded in found if excluded.nodes)
    return NodeChoice(len(nodes) - 1, int(still_open.sum()), excluded, Places(nodes, still_open))


def _exclude_nodes(rule: Exclusion, detail: str, nodes: Sequence[Node], mask: NodeMask, once: NodeMask) -> Excluded:
    alone = mask & once
    return Excluded(rule, detail, int(mask.sum()), int(alone.sum()), Places(nodes, mask), Places(nodes, alone))


def _elsewhere(mask: NodeMask, source: int) -> NodeMask:
    """Leave out the node that the pod is on: that it does not stay there needs no rule."""
    elsewhere = mask.copy()
    elsewhere[source] = False
    return elsewhere


def _answers(packing: Packing, kind: int) -> Iterator[tuple[Exclusion, str, NodeMask]]:
    spec, filters = packing.arrays.classes[kind], packing.arrays.node_filters
    yield Exclusion.SHUT, "", packing.closed_nodes()
    yield Exclusion.TAINT, "", ~filters.tolerating(spec.tolerations)
    yield Exclusion.SELECTOR, "", ~filters.selected_nodes(spec)
    yield Exclusion.KUBELET, f"{spec.needs_kubelet or ''} {spec.os}".strip(), ~filters.able(spec)
    for resource, mask in packing.lacking(kind):
        yield Exclusion.ROOM, resource, mask
    for constraint, mask in packing.refusing(kind):
        yield OF_CONSTRAINT[constraint], "", mask


@dataclass(frozen=True, slots=True)
class Landing:
    """Where one pod would go; an empty node = it has no place, and `choice` has what excludes the nodes."""

    pod: Pod
    node: str = ""
    runner_up: str = ""
    choice: NodeChoice = NO_CHOICE
    fixed: tuple[Finding, ...] = ()  # What of the pod is not modelled, so that its place is unknown.


def landings(simulation: Simulation, name: str) -> tuple[Landing, ...]:
    """Return where each movable pod of a node would go, in the order of their names; the simulation stays as it is."""
    packing, places = _empty_node(simulation, name)
    return tuple(_landing(packing, pod, simulation.arrays.index[name], target) for pod, target in places)


def without_a_place(simulation: Simulation, name: str) -> Iterator[tuple[Pod, NodeChoice]]:
    """Yield the pods of a node that `landings` finds no place for, with what excludes the nodes."""
    (packing, places), arrays = _empty_node(simulation, name), simulation.arrays
    for pod, target in places:
        kind = arrays.kind_of[pod.spec]
        if target == OUTSIDE and not arrays.lasting_findings(kind):
            yield pod, choice(packing, kind, arrays.index[name])


def _empty_node(simulation: Simulation, name: str) -> tuple[Packing, list[tuple[Pod, int]]]:
    """Return a packing in which the node's pods lie elsewhere as far as they can, and the node of each, or OUTSIDE."""
    arrays, node = simulation.arrays, simulation.arrays.index[name]
    packing = simulation.first_packing.copy()
    begun = len(packing.log)
    packing.close([node])
    kinds = [kind for pod in arrays.movable(node) if not arrays.lasting_findings(kind := arrays.kind_of[pod.spec])]
    packing.reserve(packing.strategy.order(arrays, kinds), node)
    targets = defaultdict[int, list[int]](list)
    for placement in sorted(packing.log[begun:], key=attrgetter("kind", "source", "target"), reverse=True):
        targets[placement.kind].append(placement.target)
    own = ((pod, targets[arrays.kind_of[pod.spec]]) for pod in arrays.movable(node))
    return packing, [(pod, left.pop() if left else OUTSIDE) for pod, left in own]


def _landing(packing: Packing, pod: Pod, node: int, target: int) -> Landing:
    arrays, kind = packing.arrays, packing.arrays.kind_of[pod.spec]
    if arrays.lasting_findings(kind):
        return Landing(pod, fixed=arrays.lasting_findings(kind))
    if target == OUTSIDE:
        return Landing(pod, choice=choice(packing, kind, node))
    runner_up = packing.without(kind, target, partial(packing.best_other_than, kind, target))
    around = packing.without(kind, target, partial(choice, packing, kind, node))
    second = "" if runner_up == OUTSIDE else arrays.nodes[runner_up].name
    return Landing(pod, arrays.nodes[target].name, second, around)
