"""The input of the report's sections, and its tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.plan.view import PlanView
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy


@dataclass(frozen=True)
class ReportInput:
    """All that the sections of a report read."""

    view: PlanView
    now: Snapshot
    policy: Policy

    @property
    def scenarios(self) -> Scenarios | None:
        return self.view.scenarios.values if self.view.scenarios else None

    @property
    def rest(self) -> Snapshot:
        """The snapshot in steady state; that of now if no steady state is known."""
        return (self.scenarios.left if self.scenarios else None) or self.now

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each node in the plan, by its name: by that other lists name it."""
        return {node.name: number for number, node in enumerate(self.view.nodes)}

    @cached_property
    def places_in_steady_state(self) -> Mapping[str, str]:
        left = self.rest.node_by_name
        return {pod.key: pod.node for pod in self.rest.pods if pod.node in left}

    def workload_of(self, pod: Pod) -> str:
        """Return `namespace/kind/name` of what stands behind a pod; of a pod without a controller its namespace."""
        known = self.now.workloads.get(pod.spec.workload)
        return (known.name if known else "") or pod.spec.workload or f"{pod.spec.namespace}/no controller"

    def moves_from(self, node: str) -> int:
        """Return how many pods of a node are elsewhere in steady state."""
        return sum(self.places_in_steady_state.get(pod.key, node) != node for pod in self.now.pods_by_node[node])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return a list as JSON: the names of its columns once, then a row each."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}
