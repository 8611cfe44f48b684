from collections.abc import Iterable
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.policy import BudgetUntil, Policy
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.counts import NodeCounts, PoolMeasure, count_nodes
from tests.builders import NOW, claim, node, our_taint, policy, resources, taint
from tests.depth import cases

OFF: dict[str, Any] = {"ready": False, "unschedulable": True}
SUSPENDED = {**OFF, "conditions": frozenset({names.SUSPENDED_CONDITION})}
DELETING = taint(names.AUTOSCALER_DELETING_TAINT)


def stand(nodes: Iterable[Node], claims: dict[str, Claim] | None = None, rules: Policy | None = None) -> NodeCounts:
    return count_nodes(nodes, {}, ClusterState(claims=claims or {}), rules or policy(), NOW)


@pytest.mark.acceptance(72)
@cases(
    "expected, second, claims",
    ("an idle node", set(), node("n2"), {}),
    ("a claim", {"uid-n2"}, node("n2"), {"uid-n2": claim("n2")}),
    ("our taint without a claim", {"uid-n2"}, node("n2", taints=(our_taint(),)), {}),
    ("a NotReady node", {"uid-n2"}, node("n2", ready=False), {}),
    ("all three count once", {"uid-n2"}, node("n2", ready=False, taints=(our_taint(),)), {"uid-n2": claim("n2")}),
    ("a person's cordon", set(), node("n2", unschedulable=True), {}),
    ("a node that is still joining", set(), node("n2", ready=False, once_ready=False), {}),
    ("one that the autoscaler deletes", set(), node("n2", ready=False, taints=(DELETING,)), {}),
    ("one that it deletes after our drain", {"uid-n2"}, node("n2", taints=(DELETING, our_taint())), {}),
    ("a claim whose node is gone", {"uid-old"}, node("n2"), {"uid-old": claim("old")}),
    ("a node of another pool", set(), node("n2", pool="b", ready=False), {}),
    ("a node that stands by, suspended", set(), node("n2", **SUSPENDED), {}),
    ("one that is claimed all the same", {"uid-n2"}, node("n2", **SUSPENDED), {"uid-n2": claim("n2")}),
    ("one that carries our taint all the same", {"uid-n2"}, node("n2", **SUSPENDED, taints=(our_taint(),)), {}),
)
def test_claims_our_taint_and_not_ready_nodes_use_up_the_budget(
    expected: set[str], second: Node, claims: dict[str, Claim]
) -> None:
    assert stand([node("n1"), second], claims).pool("a").in_use == expected


@cases(
    "expected, until, change",
    ("until it is deleted", {"uid-n2"}, "deleted", {"drained": True, "replaced": NOW}),
    ("pods still move", {"uid-n2"}, "replaced", {}),
    ("what was moved does not run yet", {"uid-n2"}, "replaced", {"drained": True}),
    ("all that was moved runs again", set(), "replaced", {"drained": True, "replaced": NOW}),
)
@pytest.mark.parametrize("ready", [True, False])
def test_a_budget_ends_when_the_policy_lets_the_disruption_end(
    expected: set[str], until: str, change: dict[str, Any], *, ready: bool
) -> None:
    """A node that is drained may stop being Ready: the autoscaler deletes its machine."""
    nodes = [node("n1"), node("n2", taints=(our_taint(),), ready=ready)]
    rules = policy(cluster_wide={"budget_until": BudgetUntil(until)})
    found = stand(nodes, {"uid-n2": claim("n2", **change)}, rules).pool("a")
    assert found.in_use == expected
    assert (found.in_flight, found.left) == (frozenset({"uid-n2"}), 1)


@cases(
    "expected, change",
    ("ready", 2, {}),
    ("not Ready now", 2, {"ready": False}),
    ("never yet Ready", 1, {"ready": False, "once_ready": False}),
    ("being deleted", 1, {"taints": (DELETING,)}),
    ("drained by us", 2, {"taints": (our_taint(),)}),
    ("of another pool", 1, {"pool": "b"}),
    ("standing by", 1, SUSPENDED),
    ("managed by Google", 1, {"labels": {names.MANAGED_NODE: "true"}}),
)
def test_percentages_are_taken_of_nodes_that_were_once_ready(expected: int, change: dict[str, Any]) -> None:
    nodes = [node("n1"), node("n2", **change)]
    assert stand(nodes).pool("a").nodes == expected


def test_the_cluster_counts_all_pools() -> None:
    nodes = [node("n1"), node("n2", pool="b", ready=False), node("n3", pool="c")]
    claims = {"uid-n3": claim("n3", pool="c")}
    whole = stand(nodes, claims)
    assert (whole.nodes, whole.in_use, whole.in_flight) == (3, 2, 1)


@cases(
    "expected, claims",
    ("a claim in flight", 2, {"uid-n1": claim("n1")}),
    ("a claim whose node is already gone takes nothing twice", 3, {"uid-old": claim("old")}),
)
def test_what_is_leaving_is_not_counted_as_left(expected: int, claims: dict[str, Claim]) -> None:
    nodes = [node("n1"), node("n2"), node("n3"), node("n4", taints=(DELETING,))]
    assert stand(nodes, claims).left == expected


def test_a_node_that_is_not_ready_is_none_of_those_that_are_left() -> None:
    """The pool's own count keeps it: the autoscaler holds its minimum by nodes, Ready or not."""
    nodes = [node("n1"), node("n2"), node("n3", ready=False)]

    where = stand(nodes)
    assert (where.left, where.pool("a").left) == (2, 3)
    assert where.with_claim(nodes[0]).left == where.with_claim(nodes[0]).with_claim(nodes[2]).left == 1


@pytest.mark.parametrize("key", [names.STANDBY_NODE, names.MANAGED_NODE])
def test_a_node_outside_consolidation_is_none_of_its_pool_its_zone_or_the_cluster(key: str) -> None:
    """A minimum must not be thought to hold because of nodes that no pod may use."""
    where = stand([node("n1"), node("n2"), node("n3", labels={key: "true"})])

    assert (where.left, where.left_non_tainted, where.pool("a").left) == (2, 2, 2)
    assert dict(where.pool("a").left_by_zone) == {"z": 2}
    assert where.left_resources == node("n1").allocatable + node("n2").allocatable


def test_taking_a_node_is_seen_by_every_count() -> None:
    nodes = [node("n1"), node("n2"), node("n3")]
    before = stand(nodes).with_measures({"a": PoolMeasure(3, resources(10, 40, pods=300))})
    pool = before.with_claim(nodes[0]).pool("a")
    assert pool.in_flight == pool.in_use == {"uid-n1"}
    assert (pool.left, dict(pool.left_by_zone), pool.taken) == (2, {"z": 2}, 1)
    assert pool.measure == PoolMeasure(2, resources(6, 24, pods=190))


def test_a_node_taken_twice_counts_once() -> None:
    once = stand([node("n1"), node("n2")]).with_claim(node("n1"))
    assert once.with_claim(node("n1")) == once


def test_a_pool_without_nodes_stands_at_nothing() -> None:
    assert stand([]).pool("z").left == 0
