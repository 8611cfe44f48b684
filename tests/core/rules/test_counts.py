from collections.abc import Iterable
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.policy import BudgetUntil, Policy
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.counts import NodeCounts, PoolMeasure, count_nodes
from tests.builders import NOW, claim, node, our_taint, policy, resources, taint

SUSPENDED: dict[str, Any] = {
    "ready": False,
    "unschedulable": True,
    "conditions": frozenset({names.SUSPENDED_CONDITION}),
}
DELETING = taint(names.AUTOSCALER_DELETING_TAINT)


def stand(nodes: Iterable[Node], claims: dict[str, Claim] | None = None, rules: Policy | None = None) -> NodeCounts:
    return count_nodes(nodes, {}, ClusterState(claims=claims or {}), rules or policy(), NOW)


@pytest.mark.acceptance(72)
@pytest.mark.parametrize(
    ("expected", "second", "claims"),
    [
        pytest.param(set(), node("n2"), {}, id="an idle node"),
        pytest.param({"uid-n2"}, node("n2"), {"uid-n2": claim("n2")}, id="a claim"),
        pytest.param({"uid-n2"}, node("n2", taints=(our_taint(),)), {}, id="our taint without a claim"),
        pytest.param({"uid-n2"}, node("n2", ready=False), {}, id="a NotReady node"),
        pytest.param(
            {"uid-n2"},
            node("n2", ready=False, taints=(our_taint(),)),
            {"uid-n2": claim("n2")},
            id="all three count once",
        ),
        pytest.param(set(), node("n2", unschedulable=True), {}, id="a person's cordon"),
        pytest.param(set(), node("n2", ready=False, once_ready=False), {}, id="a node that is still joining"),
        pytest.param(set(), node("n2", ready=False, taints=(DELETING,)), {}, id="one that the autoscaler deletes"),
        pytest.param(
            {"uid-n2"}, node("n2", taints=(DELETING, our_taint())), {}, id="one that it deletes after our drain"
        ),
        pytest.param({"uid-old"}, node("n2"), {"uid-old": claim("old")}, id="a claim whose node is gone"),
        pytest.param(set(), node("n2", pool="b", ready=False), {}, id="a node of another pool"),
        pytest.param(set(), node("n2", **SUSPENDED), {}, id="a node that stands by, suspended"),
        pytest.param(
            {"uid-n2"}, node("n2", **SUSPENDED), {"uid-n2": claim("n2")}, id="one that is claimed all the same"
        ),
        pytest.param(
            {"uid-n2"}, node("n2", **SUSPENDED, taints=(our_taint(),)), {}, id="one that carries our taint all the same"
        ),
    ],
)
def test_claims_our_taint_and_not_ready_nodes_use_up_the_budget(
    expected: set[str], second: Node, claims: dict[str, Claim]
) -> None:
    assert stand([node("n1"), second], claims).pool("a").in_use == expected


@pytest.mark.parametrize(
    ("expected", "until", "change"),
    [
        pytest.param({"uid-n2"}, "deleted", {"drained": True, "replaced": NOW}, id="until it is deleted"),
        pytest.param({"uid-n2"}, "replaced", {}, id="pods still move"),
        pytest.param({"uid-n2"}, "replaced", {"drained": True}, id="what was moved does not run yet"),
        pytest.param(set(), "replaced", {"drained": True, "replaced": NOW}, id="all that was moved runs again"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        pytest.param(2, {}, id="ready"),
        pytest.param(2, {"ready": False}, id="not Ready now"),
        pytest.param(1, {"ready": False, "once_ready": False}, id="never yet Ready"),
        pytest.param(1, {"taints": (DELETING,)}, id="being deleted"),
        pytest.param(2, {"taints": (our_taint(),)}, id="drained by us"),
        pytest.param(1, {"pool": "b"}, id="of another pool"),
        pytest.param(1, SUSPENDED, id="standing by"),
        pytest.param(1, {"labels": {names.MANAGED_NODE: "true"}}, id="managed by Google"),
    ],
)
def test_percentages_are_taken_of_nodes_that_were_once_ready(expected: int, change: dict[str, Any]) -> None:
    nodes = [node("n1"), node("n2", **change)]
    assert stand(nodes).pool("a").nodes == expected


def test_the_cluster_counts_all_pools() -> None:
    nodes = [node("n1"), node("n2", pool="b", ready=False), node("n3", pool="c")]
    claims = {"uid-n3": claim("n3", pool="c")}
    whole = stand(nodes, claims)
    assert (whole.nodes, whole.in_use, whole.in_flight) == (3, 2, 1)


@pytest.mark.parametrize(
    ("expected", "claims"),
    [
        pytest.param(2, {"uid-n1": claim("n1")}, id="a claim in flight"),
        pytest.param(3, {"uid-old": claim("old")}, id="a claim whose node is already gone takes nothing twice"),
    ],
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


def test_a_claim_after_the_fact_gives_the_counts_that_were_foreseen() -> None:
    nodes = [node("n1"), node("n2", zone="y"), node("n3", pool="b", taints=(taint("gpu"),))]
    foreseen = stand(nodes).with_claim(nodes[1])
    found = stand(nodes, {"uid-n2": claim("n2", zone="y")})
    assert (foreseen.left, foreseen.left_non_tainted, foreseen.in_use) == (
        found.left,
        found.left_non_tainted,
        found.in_use,
    )
    assert foreseen.pool("a").in_flight == found.pool("a").in_flight


def test_a_pool_without_nodes_stands_at_nothing() -> None:
    assert stand([]).pool("z").left == 0
