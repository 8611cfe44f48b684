"""Which workloads keep how much: the nodes on which a pod of theirs may not be moved, and what these cost.

A node that several workloads keep counts for each of them. Must not judge: the plan's blockers say it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.cli.report.material import Material
from shared.core.reasons import PodBlock


@dataclass(frozen=True, slots=True)
class KeptNodes:
    """How many nodes, and their cost in micro-dollars an hour."""

    nodes: int = 0
    cost: int = 0

    def and_one_of(self, cost: int) -> "KeptNodes":
        return KeptNodes(self.nodes + 1, self.cost + cost)


def kept_by(material: Material) -> Mapping[str, KeptNodes]:
    """Return what each workload keeps that keeps anything, by its name."""
    found: dict[str, KeptNodes] = {}
    for node in material.view.nodes:
        named = {each.object for each in node.decision.blockers if isinstance(each.reason, PodBlock)}
        pods = (pod for pod in material.now.pods_by_node[node.name] if pod.key in named)
        for name in {material.workload_of(pod) for pod in pods}:
            found[name] = found.get(name, KeptNodes()).and_one_of(node.decision.cost)
    return found
