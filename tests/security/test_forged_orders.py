"""Whoever may publish can say what the planner can say, and no more: what an order claims of itself lifts no limit."""

from typing import Any

from shared.core.policy import Budget, Limit, Policy
from shared.core.records.orders import OrderKind, Origin
from shared.core.records.state import ClusterState
from tests.builders import NOW, claim, node, order, our_taint, pdb, pod, pod_class, policy
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb

IN_ITS_OWN_FAVOUR: dict[str, Any] = {
    "origin": Origin.PLANNER,
    "reason": "expired",
    "ignore": ("budgets", "windows", "gates"),
    "dry_run": False,
    "picture_at": NOW,
    "requested_by": "planner",
}
"""All that an order can say to be taken for more than it is."""
ONE_NODE = (Budget(Limit(1)),)


def fake_ebb(*things: Any, rules: Policy | None = None) -> FakeEbb:
    given = (node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=pod_class(owner="ReplicaSet/web")))
    return FakeEbb(*given, *things, policy=rules or policy())


def outcome(ebb: FakeEbb, **changes: Any) -> str:
    """Deliver the order and return how it ended; nothing may have been done to the cluster."""
    ebb.drain(order(**{**IN_ITS_OWN_FAVOUR, **changes}))
    assert ebb.effects() == []
    (line,) = ebb.log.of("drain_result")
    return str(line.get("reason") or line["outcome"])


@cases(
    "expected, ebb",
    ("the policy's dry run", "would_drain", fake_ebb(rules=policy(cluster_wide={"dry_run": True}))),
    ("a pause", "paused", fake_ebb(rules=policy(cluster_wide={"paused": True}))),
    ("a pool that is not enabled", "pool_disabled", fake_ebb(rules=policy(enabled=False))),
    ("a minimum", "minimum_nodes", fake_ebb(rules=policy(cluster_wide={"minimum_nodes": 3}))),
    ("a PodDisruptionBudget", "blocked_by_pod", fake_ebb(pdb("web", allowed=0, app="web"))),
    ("a person's cordon", "cordoned_by_other", fake_ebb(node("n1", unschedulable=True))),
    ("a pod that would not come back", "blocked_by_pod", fake_ebb(pod("bare", on="n1", owner=None))),
)
def test_what_an_order_shows_of_itself_lifts_nothing(expected: str, ebb: FakeEbb) -> None:
    assert outcome(ebb) == expected


@cases(
    "expected, rules",
    ("the pool's budget", "budget", policy(budgets=ONE_NODE)),
    ("the cluster's ceiling", "cluster_budget", policy(cluster_wide={"budgets": ONE_NODE})),
)
def test_no_order_exceeds_a_budget_that_the_policy_does_not_let_people_ignore(expected: str, rules: Policy) -> None:
    ebb = fake_ebb(node("n2", unschedulable=True, taints=(our_taint("other"),)), rules=rules)
    ebb.remember(ClusterState(claims={"uid-n2": claim("n2", order_id="other")}))
    assert outcome(ebb) == expected


def test_a_forged_release_gives_no_cordon_of_a_person_back() -> None:
    ebb = fake_ebb(node("n1", unschedulable=True))
    ebb.drain(order(kind=OrderKind.RELEASE, origin=Origin.PLANNER, why="orphan"))
    assert ebb.effects() == []
    assert ebb.cluster.nodes["n1"].unschedulable
