"""One pass over a small picture, for the tests of planning."""

from datetime import timedelta
from typing import Any

from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.policy import Policy
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, only_empty, pod, policy

MINUTE = timedelta(minutes=1)
SINGLE = Workload(
    "web", 1, 1, created=1, deployment=Deployment(name="web", wanted=1, created=1, updated=1, available=1)
)
"""A Deployment of one pod."""


def between_passes(**given: Any) -> ClusterState:
    """A state whose last pass was five minutes ago."""
    return ClusterState(last_pass=NOW - 5 * MINUTE, **given)


def in_flight(name: str) -> ClusterState:
    """The state of a pass in which that node is being drained."""
    return ClusterState(claims={f"uid-{name}": claim(name)}, last_pass=NOW)


def plan(snapshot: Snapshot, rules: Policy | None = None, **given: Any) -> Plan:
    """Plan with the open policy and, unless given, a state whose last pass was five minutes ago."""
    state = given.pop("state", between_passes())
    return make_plan(Situation(snapshot, state, rules or policy()), given.pop("marks", {}), load())


def decision(name: str, verdict: Verdict = Verdict.KEEP) -> NodeDecision:
    return NodeDecision(name, f"uid-{name}", "a", verdict, "", 0, underutilized=False, outside=False)


def verdicts(made: Plan) -> dict[str, tuple[str, str]]:
    return {any_decision.name: (any_decision.verdict.value, any_decision.reason) for any_decision in made.decisions}


def ordered(made: Plan) -> list[str]:
    return [order.node for order in made.orders]


def marked(*names: str, ago: timedelta = 10 * MINUTE, pool: str = "a") -> dict[str, PoolMarks]:
    return {pool: PoolMarks(marks={f"uid-{name}": Mark(name, NOW - ago) for name in names})}


def half_full(*names: str, cpu: float = 2, **changes: Any) -> Snapshot:
    nodes = [node(name) for name in names]
    pods = [pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}", labels={"app": "web"}) for name in names]
    return only_empty(cluster(nodes, pods, **changes))
