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
    """All that the sections of a report read; `whose` are the settings of Ebb."""

    view: PlanView
    now: Snapshot
    policy: Policy
    whose: str

    @property
    def ladder(self) -> Ladder | None:
        return self.view.ladder.ladder if self.view.ladder else None

    @property
    def rest(self) -> Snapshot:
        """The snapshot in steady state; that of now if no steady state is known."""
        return (self.ladder.left if self.ladder else None) or self.now

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each node in the plan, by its name: by that other lists name it."""
        return {node.name: number for number, node in enumerate(self.view.nodes)}

    @cached_property
    def places_at_rest(self) -> Mapping[str, str]:
        """The node of each pod in steady state, by its key."""
        left = self.rest.node_by_name
        return {pod.key: pod.node for pod in self.rest.pods if pod.node in left}

    def workload_of(self, pod: Pod) -> str:
        """Return `namespace/kind/name` of what stands behind a pod; of a pod without a controller its namespace."""
        known = self.now.workloads.get(pod.spec.workload)
        return (known.name if known else "") or pod.spec.workload or f"{pod.spec.namespace}/no controller"

    def moves_from(self, node: str) -> int:
        """Return how many pods of a node are elsewhere in steady state."""
        return sum(self.places_at_rest.get(pod.key, node) != node for pod in self.now.pods_by_node[node])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return a list as JSON: the names of its columns once, then a row each."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}


GLOSSARY: Final = {
    "node": "A machine of the cluster. It costs the same whether it is full or half empty.",
    "node pool": "Nodes of one kind, made from one template. Its minimum size is the number of nodes that always stay.",
    "zone": "One of the data centers of a region, in which nodes are.",
    "spot": "A cheaper node that the cloud may take back at any time.",
    "pod": "One running copy of a program. It is on one node; a pending pod has no node yet.",
    "workload": "What keeps copies of one program running: a Deployment, a StatefulSet, a DaemonSet, a Job.",
    "DaemonSet": "A workload with one pod on each node. Its pods go with their nodes and never have to move.",
    "reserved, requests": "The CPU and memory that pods ask for. What is requested of a node is taken, used or not.",
    "autoscaler": "GKE's cluster autoscaler. It adds nodes when pods need room and deletes nearly empty ones. "
    "A rollout that never ends (stuck) and a pool with autoscaling off stop it.",
    "drain, eviction": "A drain moves all pods of a node elsewhere: each is evicted (ended) here and starts there.",
    "PodDisruptionBudget (PDB)": "How many copies of a program its owner wants to be up at any time. Ebb never breaks "
    "one. 'PDB x allows 1' is what would happen if it let one copy go.",
    "scenario": "What would be left of the cluster: by the autoscaler alone, with Ebb, or with one constraint relaxed.",
    "relaxing": "To give one constraint of the policy or the cluster more room, as an experiment.",
    "Ebb adds": "What Ebb saves on top of what the autoscaler would save by itself.",
    "steady state": "No more nodes would go: Ebb has drained what it may, and the autoscaler has deleted empty nodes.",
    "no plan can go below": "A theoretical minimum: the pods' requests need that many nodes under any rules. No plan "
    "is known to reach it.",
    "policy, default settings": "The rules that Ebb follows: yours, or without a policy its defaults for every pool.",
    "ratio limit": "How full a node may be and still count as under-utilised.",
    "required number of nodes, excess nodes": "How many under-utilised nodes there must be before one goes, and how "
    "many of them stay as a reserve.",
    "local storage": "Data that a pod keeps on its node; it is lost when the pod moves.",
    "mark": "Since when a node could go. A node is drained only after it could for some time.",
    "disruption budget": "How many nodes of a pool may be out of work at once.",
    "window": "Hours in which nodes may be drained.",
    "pass": "One look at the cluster every few minutes, and what is decided then. In a dry run nothing is drained.",
    "verdict": "What a pass decides about a node: one of the following words.",
    "order, would order": "The node is drained now; in a dry run it only would be.",
    "waiting": "The node could go, and its time has not come.",
    "in flight": "The node is being drained.",
    "keep": "The node stays, for the reason that is named.",
}
