"""The input of the report's sections, its tables and its glossary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.plan.view import PlanView
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy


@dataclass(frozen=True)
class Material:
    """All that the sections of a report read; `whose` are the settings at rest."""

    view: PlanView
    now: Snapshot
    policy: Policy
    whose: str

    @property
    def ladder(self) -> Ladder | None:
        return self.view.ladder.ladder if self.view.ladder else None

    @property
    def rest(self) -> Snapshot:
        """The picture at rest; that of now where nothing is known of it."""
        return (self.ladder.left if self.ladder else None) or self.now

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each node in the plan, by its name: by that other lists name it."""
        return {node.name: number for number, node in enumerate(self.view.nodes)}

    @cached_property
    def places_at_rest(self) -> Mapping[str, str]:
        """The node of each pod at rest, by its key."""
        left = self.rest.node_by_name
        return {pod.key: pod.node for pod in self.rest.pods if pod.node in left}

    def workload_of(self, pod: Pod) -> str:
        """Return `namespace/kind/name` of what stands behind a pod; of a pod without a controller its namespace."""
        known = self.now.workloads.get(pod.spec.workload)
        return (known.name if known else "") or pod.spec.workload or f"{pod.spec.namespace}/no controller"

    def moves_from(self, node: str) -> int:
        """Return how many pods of a node are elsewhere at rest."""
        return sum(self.places_at_rest.get(pod.key, node) != node for pod in self.now.pods_by_node[node])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return a list as JSON: the names of its columns once, then a row each."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}


GLOSSARY: Final = {
    "node": "A machine of the cluster. It costs the same whether it is full or half empty.",
    "node pool": "Nodes of one kind, made from one template.",
    "pod": "One running copy of a program. It lies on one node.",
    "workload": "What keeps copies of one program running: a Deployment, a StatefulSet, a DaemonSet, a Job.",
    "requests": "The CPU and memory that a pod reserves. What is requested of a node is taken, used or not.",
    "autoscaler": "GKE's cluster autoscaler. It adds nodes when pods need room and deletes nodes that are"
    " nearly empty.",
    "to drain, to evict": "To move all pods of a node elsewhere, each by asking the cluster to end it here and start "
    "it there.",
    "PodDisruptionBudget (PDB)": "How many copies of a program its owner wants to be up at any time. Never broken.",
    "at rest": "When no node more would go: pass after pass has drained what it may, and the autoscaler has deleted "
    "the empty nodes.",
    "bound": "A cost below which no plan can come, whatever its rules: the pods' requests need that many nodes.",
    "mark": "Since when a node could go. A node is drained only after it could for some time.",
    "disruption budget": "How many nodes of a pool may be out of work at once.",
    "window": "Hours in which nodes may be drained.",
    "pass": "One look at the cluster every few minutes, and what is decided then.",
    "waiting": "A node that could go, and whose time has not come.",
    "keep": "A node that stays, for the reason that is named.",
}
