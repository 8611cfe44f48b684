from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.policy import Budget, BudgetUntil, Freeze, Limit, NamespaceRate, Policy, Rate, Schedule
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import Backoff, Breaker, ClusterState, Start
from shared.core.rules.counts import NodeCounts, count_nodes
from shared.core.rules.gates import blockers, claim_blockers
from tests.builders import NOW, claim, node, policy, resources, taint
from tests.depth import cases

UNDERUTILIZED, EMPTY, MANUAL = DrainReason.UNDERUTILIZED, DrainReason.EMPTY, DrainReason.MANUAL
FIVE = tuple(node(f"n{i}") for i in range(1, 6))
N1 = FIVE[0]
DAY_TIME = Schedule("0 9 * * mon-fri", timedelta(hours=8))
SECOND = timedelta(seconds=1)
HOURLY = Rate(Limit(count=1), timedelta(hours=1))
GPU = node("g", taints=(taint("gpu"),))


def budget(nodes: int, *reasons: str) -> Budget:
    return Budget(Limit(count=nodes), None, frozenset(reasons))


def stand(
    rules: Policy | None = None, nodes: Iterable[Node] = FIVE, pools: Mapping[str, NodePool] | None = None, **state: Any
) -> NodeCounts:
    return count_nodes(nodes, pools or {}, ClusterState(**state), rules or policy(), NOW)


def words(found: Iterable[Blocker]) -> list[str]:
    return [str(blocker.reason) for blocker in found]


def test_an_open_policy_closes_no_gate() -> None:
    assert blockers(stand(), N1, UNDERUTILIZED) == ()


@cases(
    "expected, where",
    ("paused by the policy", "paused", stand(policy(cluster_wide={"paused": True}))),
    ("paused by the flag", "paused", stand(paused=True)),
    ("frozen", "frozen", stand(policy(cluster_wide={"freezes": (Freeze(NOW - SECOND, NOW + SECOND),)}))),
    ("no window is open", "outside_windows", stand(policy(windows=(DAY_TIME,)))),
    ("the breaker is open", "breaker_open", stand(breakers={"a": Breaker(NOW + SECOND, "pending")})),
    ("the node backs off", "backing_off", stand(backoffs={"uid-n1": Backoff("n1", NOW + SECOND, SECOND, "deadline")})),
    ("at the zone's minimum", "pool_at_minimum", stand(pools={"a": NodePool("a", min_per_zone=5)})),
    ("at the pool's minimum", "pool_at_minimum", stand(pools={"a": NodePool("a", min_total=5)})),
    ("minimum nodes", "minimum_nodes", stand(policy(cluster_wide={"minimum_nodes": 5}))),
    ("minimum non-tainted nodes", "minimum_non_tainted_nodes",
     stand(policy(cluster_wide={"minimum_non_tainted_nodes": 5}))),
    ("the pool's budget", "budget", stand(policy(budgets=(budget(0),)))),
    ("the ceiling", "cluster_budget", stand(policy(cluster_wide={"budgets": (budget(0),)}))),
    ("the cluster's rate", "rate", stand(policy(cluster_wide={"rate": HOURLY}), starts=(Start(NOW - SECOND, "b"),))),
    ("the pool's rate", "rate", stand(policy(rate=HOURLY), starts=(Start(NOW - SECOND, "a"),))),
)  # fmt: skip
@pytest.mark.parametrize("reason", DrainReason)
def test_a_claim_meets_its_gates_whatever_the_reason(expected: str, where: NodeCounts, reason: DrainReason) -> None:
    assert words(claim_blockers(where, N1, reason)) == [expected]


@cases(
    "where",
    ("a breaker that has closed", stand(breakers={"a": Breaker(NOW, "pending")})),
    ("another pool's breaker", stand(breakers={"b": Breaker(NOW + SECOND, "pending")})),
    ("a back-off that has passed", stand(backoffs={"uid-n1": Backoff("n1", NOW, SECOND, "x")})),
    ("a former node's", stand(backoffs={"uid-old": Backoff("n1", NOW + SECOND, SECOND, "x")})),
    ("another pool's start", stand(policy(rate=HOURLY), starts=(Start(NOW, "b"),))),
)
def test_what_has_passed_or_is_of_others_closes_nothing(where: NodeCounts) -> None:
    assert claim_blockers(where, N1, UNDERUTILIZED) == ()


def test_every_closed_gate_is_named_in_order() -> None:
    shut = policy(budgets=(budget(0),), windows=(), cluster_wide={"paused": True, "minimum_nodes": 9})
    assert words(claim_blockers(stand(shut), N1, EMPTY)) == ["paused", "outside_windows", "minimum_nodes", "budget"]


@pytest.mark.acceptance(53)
@cases(
    "expected, nodes, ignored",
    ("two left", ["minimum_non_tainted_nodes"], (*FIVE[:2], GPU), set()),
    ("three left", [], FIVE[:3], set()),
    ("an ignored taint is none", [], (*FIVE[:2], GPU), {"gpu"}),
    ("a cordon", ["minimum_non_tainted_nodes"], (*FIVE[:2], node("c", unschedulable=True)), set()),
)
def test_the_minimum_of_non_tainted_nodes_holds_after_the_removal(
    expected: list[str], nodes: tuple[Node, ...], ignored: set[str]
) -> None:
    rules = policy(ignore_taints=frozenset(ignored), cluster_wide={"minimum_non_tainted_nodes": 2})
    assert words(claim_blockers(stand(rules, nodes), N1, EMPTY)) == expected


def test_a_tainted_node_does_not_lower_the_number_of_non_tainted_ones() -> None:
    where = stand(policy(cluster_wide={"minimum_non_tainted_nodes": 2}), (*FIVE[:2], GPU))
    assert claim_blockers(where, GPU, EMPTY) == ()


@pytest.mark.acceptance(54)
@cases(
    "expected, limits, claimed",
    ("one above the zone's minimum", [], NodePool("a", min_per_zone=1), {}),
    ("less one in flight", ["pool_at_minimum"], NodePool("a", min_per_zone=1), {"uid-n2": claim("n2")}),
    ("one above the pool's minimum", [], NodePool("a", min_total=2), {}),
    ("less one elsewhere", ["pool_at_minimum"], NodePool("a", min_total=2), {"uid-m": claim("m")}),
)
def test_a_pool_never_falls_below_what_the_autoscaler_keeps(
    expected: list[str], limits: NodePool, claimed: dict[str, Any]
) -> None:
    nodes = (*FIVE[:2], node("m", zone="y"))
    assert words(claim_blockers(stand(nodes=nodes, pools={"a": limits}, claims=claimed), N1, EMPTY)) == expected


@cases(
    "expected, minimum, claimed",
    ("two of three nodes offer just that", [], resources(8, 32), {}),
    ("a millicore more", ["resource_minimum"], resources(8.001), {}),
    ("memory", ["resource_minimum"], resources(0, 33), {}),
    ("less one in flight", ["resource_minimum"], resources(8), {"uid-n2": claim("n2")}),
    ("no minimum", [], NOTHING, {}),
)
def test_the_cluster_never_falls_below_the_cpu_and_memory_that_the_autoscaler_keeps(
    expected: list[str], minimum: Resources, claimed: dict[str, Any]
) -> None:
    """It says so as no.scale.down.node.minimal.resource.limits.exceeded; whoever asks for the drain."""
    where = count_nodes(FIVE[:3], {}, ClusterState(claims=claimed), policy(), NOW, minimum)
    assert words(claim_blockers(where, N1, EMPTY)) == expected
    assert words(claim_blockers(where, N1, DrainReason.MANUAL, frozenset({"gates", "budgets"}))) == expected


def test_nodes_taken_in_the_same_pass_no_longer_offer_their_cpu() -> None:
    where = count_nodes(FIVE[:3], {}, ClusterState(), policy(), NOW, resources(8)).with_claim(FIVE[1])
    assert words(claim_blockers(where, N1, EMPTY)) == ["resource_minimum"]


@pytest.mark.acceptance(71)
@cases(
    "expected, state",
    ("the first has not ended", ["budget"], {"claims": {"uid-n2": claim("n2")}}),
    ("the first has ended a second ago", [], {"starts": (Start(NOW - SECOND, "a"),)}),
)
def test_a_budget_limits_how_many_at_once_and_not_how_fast(expected: list[str], state: dict[str, Any]) -> None:
    assert words(claim_blockers(stand(policy(budgets=(budget(1),)), **state), N1, EMPTY)) == expected


@pytest.mark.acceptance(73)
def test_a_budget_is_its_pools_alone() -> None:
    rules = policy(budgets=(budget(1),))
    rules = Policy(**{**vars(rules), "pools": {"a": rules.pool("a"), "b": rules.pool("a")}})
    nodes = (*FIVE, node("m", pool="b"))
    where = stand(rules, nodes, claims={"uid-n2": claim("n2")})
    assert words(claim_blockers(where, N1, EMPTY)) == ["budget"]
    assert claim_blockers(where, nodes[-1], EMPTY) == ()


def test_a_budget_for_another_reason_leaves_the_way_free() -> None:
    where = stand(policy(budgets=(budget(0, "underutilized"),)))
    assert words(claim_blockers(where, N1, UNDERUTILIZED)) == ["budget"]
    assert claim_blockers(where, N1, EMPTY) == ()


@cases(
    "expected, reason, ignore, allowed",
    ("windows", ["budget"], MANUAL, {"windows"}, {"windows"}),
    ("budgets", ["outside_windows"], MANUAL, {"budgets"}, {"budgets"}),
    ("nothing is allowed", ["outside_windows", "budget"], MANUAL, {"budgets", "windows"}, set()),
    ("nothing is asked for", ["outside_windows", "budget"], MANUAL, set(), {"windows"}),
    ("not a person's order", ["outside_windows", "budget"], EMPTY, {"windows"}, {"windows"}),
)
def test_an_order_ignores_only_what_the_policy_allows_a_person(
    expected: list[str], reason: DrainReason, ignore: set[str], allowed: set[str]
) -> None:
    rules = policy(budgets=(budget(0),), windows=(), cluster_wide={"manual_may_ignore": frozenset(allowed)})
    assert words(claim_blockers(stand(rules), N1, reason, frozenset(ignore))) == expected


def test_a_pause_a_back_off_and_the_pools_minimum_can_never_be_ignored() -> None:
    everything = frozenset({"windows", "budgets", "gates"})
    rules = policy(cluster_wide={"paused": True, "manual_may_ignore": everything})
    backoffs = {"uid-n1": Backoff("n1", NOW + SECOND, SECOND, "deadline")}
    where = stand(rules, pools={"a": NodePool("a", min_total=5)}, backoffs=backoffs)
    assert words(claim_blockers(where, N1, MANUAL, everything)) == ["paused", "backing_off", "pool_at_minimum"]


@cases(
    "expected, word",
    ("windows", {"outside_windows"}, "windows"),
    ("budgets", {"budget", "cluster_budget", "awaiting_deletion", "rate", "namespace_rate"}, "budgets"),
    ("gates", {"frozen", "breaker_open", "minimum_nodes", "minimum_non_tainted_nodes"}, "gates"),
)
def test_each_word_of_an_order_leaves_out_its_own_gates_and_no_other(expected: set[str], word: str) -> None:
    """Of a node against which everything speaks that a claim is asked."""
    closed = policy(budgets=(budget(0),), windows=(), cluster_wide={
        "freezes": (Freeze(NOW - SECOND, NOW + SECOND),), "budgets": (budget(0),), "minimum_nodes": 5,
        "minimum_non_tainted_nodes": 5, "rate": Rate(Limit(count=0), timedelta(hours=1)), "paused": True,
        "evictions_per_namespace": NamespaceRate(1, timedelta(hours=1)), "manual_may_ignore": frozenset({word}),
        "budget_until": BudgetUntil.REPLACED, "awaiting_deletion": Limit(count=0),
    })  # fmt: skip
    where = stand(closed, breakers={"a": Breaker(NOW + SECOND, "pending")}).with_moved_pods({"uid-n1": {"shop": 2}})

    everything, left = (
        set(words(claim_blockers(where, N1, MANUAL, asked))) for asked in (frozenset(), frozenset({word}))
    )
    assert everything - left == expected
    assert "paused" in left


@cases(
    "expected, held, until, most",
    ("one more may go", "", 3, "replaced", Limit(count=4)),
    ("as many as may, drained or not", "4 of 4 nodes in use", 4, "replaced", Limit(count=4)),
    ("drained nodes are in the budgets", "", 4, "deleted", Limit(count=4)),
    ("a percentage rounds up", "1 of 1 nodes in use", 1, "replaced", Limit(percent=20)),
    ("a number is taken as written", "1 of 1 nodes in use", 1, "replaced", Limit(count=1)),
)
def test_nodes_that_wait_for_their_deletion_are_few(expected: str, held: int, until: str, most: Limit) -> None:
    """Every other one is still drained: it will wait, too."""
    marks: list[dict[str, Any]] = [{"drained": True, "replaced": NOW}, {}]
    claims = {f"uid-x{n}": claim(f"x{n}", pool="b", **marks[n % 2]) for n in range(held)}
    rules = policy(cluster_wide={"budget_until": BudgetUntil(until), "awaiting_deletion": most})
    found = claim_blockers(stand(rules, claims=claims), N1, UNDERUTILIZED)
    assert found == ((Blocker(Unremovable.AWAITING_DELETION, "", expected),) if expected else ())


@cases(
    "expected, held, pool, most",
    ("one more of the pool may go", "", 1, "a", Limit(percent=40)),
    ("as many of the pool as may", "2 of 2 nodes in use", 2, "a", Limit(percent=40)),
    ("those of another pool count for the cluster alone", "", 2, "b", Limit(percent=40)),
    ("a number is one for each pool, too", "2 of 2 nodes in use", 2, "a", Limit(count=2)),
)
def test_no_pool_is_away_as_a_whole_while_its_nodes_wait_for_their_deletion(
    expected: str, held: int, pool: str, most: Limit
) -> None:
    many = [node(f"b{n}", pool="b") for n in range(5)]
    claims = {f"uid-x{n}": claim(f"x{n}", pool=pool, drained=True, replaced=NOW) for n in range(held)}
    rules = policy(cluster_wide={"budget_until": BudgetUntil.REPLACED, "awaiting_deletion": most})

    found = claim_blockers(stand(rules, (*FIVE, *many), claims=claims), N1, UNDERUTILIZED)

    assert found == ((Blocker(Unremovable.AWAITING_DELETION, "a", expected),) if expected else ())


def test_a_node_does_not_wait_for_its_own_deletion() -> None:
    rules = policy(cluster_wide={"budget_until": BudgetUntil.REPLACED, "awaiting_deletion": Limit(count=1)})
    assert claim_blockers(stand(rules, claims={N1.uid: claim(N1.name)}), N1, UNDERUTILIZED) == ()


SHOP = NamespaceRate(10, timedelta(hours=1))


@cases(
    "expected, here, moved",
    ("exactly as many as may", "", {"shop": 4}, [Start(NOW - SECOND, "a", {"shop": 6})]),
    ("one more than may", "6 of 10 moved, 5 here", {"shop": 5}, [Start(NOW - SECOND, "b", {"shop": 6})]),
    ("the hour is over", "", {"shop": 5}, [Start(NOW - timedelta(hours=1), "a", {"shop": 6})]),
    ("of another namespace", "", {"shop": 5}, [Start(NOW - SECOND, "a", {"other": 6})]),
    ("a start of before they were counted", "", {"shop": 5}, [Start(NOW - SECOND, "a")]),
    ("an empty node moves nothing", "", {}, [Start(NOW - SECOND, "a", {"shop": 10})]),
    ("a node that alone has more is warned about",
     "0 of 10 moved, 11 here; more than the limit by itself, so this node never goes", {"shop": 11}, []),
)  # fmt: skip
@pytest.mark.parametrize("reason", DrainReason)
def test_no_namespace_loses_more_pods_in_a_period_than_may(
    expected: str, here: dict[str, int], moved: list[Start], reason: DrainReason
) -> None:
    rules = policy(cluster_wide={"evictions_per_namespace": SHOP})
    where = stand(rules, starts=tuple(moved)).with_moved_pods({"uid-n1": here})

    found = claim_blockers(where, N1, reason)

    assert [(str(blocker.reason), blocker.object, blocker.detail) for blocker in found] == (
        [("namespace_rate", "shop", expected)] if expected else []
    )


def test_what_a_pass_takes_counts_for_the_namespaces_of_the_nodes_after_it() -> None:
    rules = policy(cluster_wide={"evictions_per_namespace": SHOP})
    where = stand(rules).with_moved_pods({"uid-n1": {"shop": 6}, "uid-n2": {"shop": 6}}).with_claim(N1)

    assert words(claim_blockers(where, FIVE[1], UNDERUTILIZED)) == ["namespace_rate"]
