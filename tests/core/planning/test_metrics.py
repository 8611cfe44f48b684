from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.names import SAFE_TO_EVICT
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.search import LITTLE
from shared.core.planning.make_plan import make_plan, plan_without_policy
from shared.core.planning.metrics import ClusterMetrics, MissedSaving, cluster_metrics, missed_savings, node_metrics
from shared.core.planning.plan import Plan
from shared.core.policy import Budget, DrainSettings, Limit, Policy
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.reasons import ReasonGroup
from shared.core.records.state import MICRO, Breaker, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, our_taint, pod, policy, resources
from tests.core.planning.passes import MINUTE, between_passes, marked
from tests.depth import cases


def planned(snapshot: Snapshot, state: ClusterState | None = None) -> Plan:
    return make_plan(Situation(snapshot, state or ClusterState(), policy()), {}, load())


def told(state: ClusterState) -> ClusterMetrics:
    snapshot = cluster([node("n1")])
    return cluster_metrics(planned(snapshot, state), snapshot, state, NOW)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.floats(0, 4)), max_size=12))
def test_the_pools_add_up_to_the_cluster(rows: list[tuple[str, bool, float]]) -> None:
    nodes = [node(f"n{number}", pool=pool, unschedulable=cordoned) for number, (pool, cordoned, _) in enumerate(rows)]
    pods = [pod(f"p{number}", on=f"n{number}", cpu=cpu) for number, (_, _, cpu) in enumerate(rows)]
    snapshot = cluster(nodes, pods)
    plan = planned(snapshot)

    whole = node_metrics(plan, snapshot, load())
    pools = [node_metrics(plan, snapshot, load(), pool) for pool in snapshot.nodes_by_pool]
    for name in (
        "nodes", "ready_nodes", "non_tainted_nodes", "unschedulable_nodes", "underutilized", "marked", "in_flight",
        "pods", "cost", "saving",
    ):  # fmt: skip
        assert getattr(whole, name) == sum(getattr(pool, name) for pool in pools), name
    assert whole.requested.cpu == sum(pool.requested.cpu for pool in pools)
    assert whole.cost == plan.cost
    assert [whole.excess, *(pool.excess for pool in pools)] == [
        plan.excess[key] for key in ("", *snapshot.nodes_by_pool)
    ]
    assert sum(cluster_metrics(plan, snapshot, ClusterState(), NOW).kept.values()) == plan.counts()["keep"]


@cases(
    "outside",
    ("waiting", {"labels": {names.STANDBY_NODE: "true"}}),
    ("suspended", {"conditions": frozenset({names.SUSPENDED_CONDITION}), "unschedulable": True, "ready": False}),
    ("managed", {"labels": {names.MANAGED_NODE: "true"}}),
)
def test_nodes_that_others_keep_or_pay_for_are_in_no_figure_of_their_pool(outside: dict[str, Any]) -> None:
    """The first would be the emptiest by far, and twice the size of the others."""
    own, pods = [node("n1"), node("n2")], [pod("p", on="n1", cpu=3), pod("q", on="n2", cpu=1)]
    alone, beside = cluster(own, pods), cluster([node("n0", cpu=8, **outside), *own], pods)

    figures, seen = (node_metrics(planned(row), row, load(), "a") for row in (alone, beside))

    assert seen == figures
    assert missed_savings(planned(beside), beside) == missed_savings(planned(alone), alone)


def test_pods_on_nodes_that_google_manages_are_none_of_their_pools() -> None:
    seen = cluster(
        [node("n0", labels={names.MANAGED_NODE: "true"}), node("n1")], [pod("p", on="n0"), pod("q", on="n1")]
    )
    assert [node_metrics(planned(seen), seen, load(), *pool).pods for pool in (("a",), ())] == [1, 2]


def test_a_node_that_we_hold_counts_whatever_it_has_become() -> None:
    held = node("n1", taints=(our_taint(),), labels={names.STANDBY_NODE: "true"})
    seen = cluster([held, node("n2")])
    assert node_metrics(planned(seen), seen, load()).nodes == len(seen.nodes)


def test_a_pod_waits_that_has_no_node_and_found_none() -> None:
    waiting = cluster(
        [node("n1")], [pod("a", unschedulable_since=NOW), pod("b"), pod("c", on="n1", unschedulable_since=NOW)]
    )
    assert cluster_metrics(planned(waiting), waiting, ClusterState(), NOW).unschedulable_pods == 1


def test_without_a_policy_the_numbers_are_shown_all_the_same() -> None:
    snapshot = cluster([node("n1")], [pod("p", on="n1", cpu=1)])
    plan = plan_without_policy(snapshot, ClusterState(), {}, load())

    whole = node_metrics(plan, snapshot, load())
    assert (whole.nodes, whole.underutilized, whole.marked) == (1, 0, 0)
    assert whole.cpu_ratio == resources(1).cpu / resources(4).cpu
    assert cluster_metrics(plan, snapshot, ClusterState(), NOW).kept[ReasonGroup.OFF] == 1


def test_a_cluster_without_nodes_has_no_ratio() -> None:
    snapshot = cluster([])

    assert node_metrics(planned(snapshot), snapshot, load()).cpu_ratio is None


@cases(
    "expected, age",
    ("deadline, six minutes for disks, watchdog and two passes to the second", 0, 57.5),
    ("longer", 1, 58),
)
def test_a_claim_is_overdue_after_deadline_watchdog_and_two_passes(expected: int, age: float) -> None:
    settings = DrainSettings(timeout=8.5 * MINUTE, max_grace=8 * MINUTE, watchdog=25 * MINUTE)
    state = ClusterState(claims={"uid-n1": claim("n1", since=NOW - age * MINUTE, settings=settings)})

    assert told(state).overdue_claims == expected
    assert told(state).claims == 1


def test_only_a_breaker_that_is_open_counts() -> None:
    state = ClusterState(breakers={"a": Breaker(NOW + MINUTE, "why"), "b": Breaker(NOW, "why")})

    assert told(state).open_breakers == 1


PRICES = load()
HALF = Fraction(PRICES.of(node("n")).per_hour, 2)
"""Of a node's price, in micro-dollars an hour."""


def for_half(nodes: int) -> Commitments:
    """So many nodes' worth at half its price."""
    size = Capacity(Fraction(4 * nodes), Fraction(16 * nodes))
    return Commitments((Commitment("e2", size, discount=Fraction(1, 2)),), elsewhere={})


@cases(
    "halves, idle, commitments",
    ("one of two nodes is committed", 3, 0, for_half(1)),
    ("three nodes for two: one fee is paid for nothing", 3, 1, for_half(3)),
    ("money for four nodes", 4, 2, Commitments(flexible=FlexibleCommitment(4 * HALF / MICRO, Fraction(1, 2)))),
)
def test_where_capacity_is_committed_the_bill_is_shown(halves: int, idle: int, commitments: Commitments) -> None:
    snapshot = cluster([node("n1"), node("n2")])
    plan = make_plan(Situation(snapshot, ClusterState(), replace(policy(), commitments=commitments)), {}, PRICES)
    found = cluster_metrics(plan, snapshot, ClusterState(), NOW)

    assert found.bill == pytest.approx(halves * HALF, abs=LITTLE)
    assert found.idle == pytest.approx(idle * HALF, abs=LITTLE)


def test_without_commitments_there_is_no_bill() -> None:
    found = told(ClusterState())
    assert (found.bill, found.idle) == (None, None)


@cases(
    "expected, first, pods",
    ("its pod alone keeps it", True, {}, [pod("p", on="n1", owner=None)]),
    ("too full", False, {}, [pod("p", on="n1", cpu=3.5)]),
    ("too full, and its pod keeps it", False, {}, [pod("p", on="n1", cpu=3.5, owner=None)]),
    ("in flight", False, {"taints": (our_taint(),)}, []),
    ("it reports nothing that pods could use", False, {"allocatable": resources(0, 0)}, [pod("p", on="n1")]),
)
def test_underutilized_is_what_is_below_its_limits_whatever_else_keeps_it(
    expected: bool, first: dict[str, Any], pods: list[Any]
) -> None:
    decision = planned(cluster([node("n1", **first), node("n2")], pods)).of("n1")
    assert decision is not None
    assert decision.underutilized is expected


NONE = Limit(count=0)
PRICE = load().of(node("n")).per_hour


def told_of_missed(
    pods: list[Any], rules: Policy | None = None, *, is_marked: bool = True, **first: Any
) -> tuple[MissedSaving, ...]:
    """Return what is missed of three nodes, the third of which has room for all pods."""
    nodes = [node("n1", **first), node("n2"), node("n3", cpu=32, memory=128, pool="b")]
    marks = marked("n1", "n2") if is_marked else {}
    state = between_passes()
    full = pod("full", on="n3", cpu=30)
    situation = Situation(cluster(nodes, [*pods, full]), state, rules or policy("a", required_count=1))
    return missed_savings(make_plan(situation, marks, load()), situation.snapshot)


def small(number: int, **given: Any) -> Any:
    return pod(f"p{number}", on=f"n{number}", **{"cpu": 0.5, **given})


@cases(
    "expected, pods, rules",
    ("a budget", [("budget", 2)], [small(1), small(2)], policy("a", required_count=1, budgets=(Budget(NONE),))),
    ("one node a pass", [("nodes_per_pass", 1)], [small(1), small(2)], policy("a", required_count=0)),
    ("a pod, by its own word", [("not_replicated", 1)], [small(1, owner=None), small(2)], None),
    ("full nodes are no saving", [], [small(1, cpu=3), small(2, cpu=3)], None),
    ("nor one whose pods find no other place", [], [small(1, node_selector={"disk": "ssd"}), small(2)], None),
)
def test_a_saving_is_missed_by(expected: list[tuple[str, int]], pods: list[Any], rules: Policy | None) -> None:
    found = told_of_missed(pods, rules)
    assert [(row.reason, row.nodes) for row in found] == expected
    assert all((row.pool, row.per_hour) == ("a", row.nodes * PRICE) for row in found)


def test_of_several_pods_that_keep_a_node_the_first_ones_word_counts() -> None:
    """It is the word that the decision names first, so that metric and explanation agree."""
    stays = pod("stays", on="n1", annotations={SAFE_TO_EVICT: "false"}, owner="ReplicaSet/stays")
    found = {row.reason for row in told_of_missed([small(1, owner=None), stays, small(2)])}

    assert found == {"not_replicated"}


def test_a_mark_that_is_too_young_is_a_saving_to_come() -> None:
    found = told_of_missed(
        [small(1), small(2)], policy("a", required_count=1, consolidate_after=timedelta(hours=1)), is_marked=False
    )
    assert {row.reason for row in found} == {"marked_recently"}


def test_what_is_in_flight_is_not_missed() -> None:
    found = told_of_missed([small(1), small(2)], taints=(our_taint(),))
    assert sum(row.nodes for row in found) <= 1
