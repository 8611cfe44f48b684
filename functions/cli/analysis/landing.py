"""Where the pods of one node would land if it were drained next, each with the runner-up.

Of a node whose pods do not all fit it says which have a place and which have none: a proof takes all or nothing, an
explanation tells of each. Must not take a node, nor say that it may go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from functions.cli.analysis.exclusions import NO_CHOICE, NodeChoice, choice
from shared.core.cluster.pod import Pod
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import Packing
from shared.core.placement.simulation import Simulation
from shared.core.reasons import Finding


@dataclass(frozen=True, slots=True)
class Landing:
    """Where one pod would go; an empty node = it has no place, and `choice` says what excludes the nodes."""

    pod: Pod
    node: str = ""
    runner_up: str = ""
    choice: NodeChoice = NO_CHOICE
    fixed: tuple[Finding, ...] = ()
    """What of the pod is not modelled, so that nobody says where it would go."""


def landings(simulation: Simulation, name: str) -> tuple[Landing, ...]:
    """Return where each movable pod of a node would go under the first strategy, in the order of their names.

    The simulation stays as it is. Raises KeyError where no node has that name.
    """
    arrays, node = simulation.arrays, simulation.arrays.index[name]
    pods = arrays.movable(node)
    packing = simulation.first_packing.copy()
    begun = len(packing.log)
    packing.close([node])
    kinds = [arrays.kind_of[pod.spec] for pod in pods if not arrays.fixed(arrays.kind_of[pod.spec])]
    packing.reserve(packing.strategy.order(arrays, kinds), node)
    targets: dict[int, list[int]] = {
        kind: [placement.target for placement in placed]
        for kind, placed in groupby(sorted(packing.log[begun:]), key=lambda placement: placement.kind)
    }
    return tuple(_landing(packing, pod, node, targets) for pod in pods)


def _landing(packing: Packing, pod: Pod, node: int, targets: Mapping[int, list[int]]) -> Landing:
    arrays, kind = packing.arrays, packing.arrays.kind_of[pod.spec]
    if arrays.fixed(kind):
        return Landing(pod, fixed=arrays.fixed(kind))
    left = targets.get(kind, [])
    if not left:
        return Landing(pod, choice=choice(packing, kind, node))
    target = left.pop(0)
    runner_up = packing.without(kind, target, partial(packing.best_beside, kind, target))
    around = packing.without(kind, target, partial(choice, packing, kind, node))
    return Landing(pod, arrays.nodes[target].name, _name(packing, runner_up), around)


def _name(packing: Packing, node: int) -> str:
    return "" if node == OUTSIDE else packing.arrays.nodes[node].name
