"""What a simulated cluster counts, and what is left of pods and nodes that are gone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import bind, evict
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit
from shared.core.policy.values import Capacity, Commitment, Commitments
from tests.builders import NOW, cluster, node, pdb, pod
from tests.cli.analysis.simulated_days.recorded import let_pass
from tests.depth import cases

MINUTE = timedelta(minutes=1)


def world(*pods: Pod, **picture: Any) -> World:
    return World(cluster([node("n1"), node("n2")], pods, **picture), load(), DELAYS, NOW)


def counted(seen: World) -> list[tuple[int, int]]:
    return [(budget.expected_pods, budget.current_healthy) for budget in seen.budgets.now()]


def test_pods_that_have_finished_take_no_room() -> None:
    seen = world(pod("done", on="n1", phase=Phase.SUCCEEDED), pod("p", on="n1"))

    assert seen.pods.keys() == {"default/p"}


def test_a_pod_whose_end_is_over_already_goes_at_once() -> None:
    """Time never goes back."""
    seen = world(pod("late", on="n1", deleting=NOW - MINUTE))

    assert seen.agenda.next_at == NOW


def test_a_deleted_node_costs_nothing_and_takes_its_pods_with_it() -> None:
    seen = world(pod("p", on="n1"), pod("q", on="n2"))
    seen.sample()
    seen.now += MINUTE
    seen.delete_node("n1")
    seen.sample()

    (both, one) = seen.measures.series
    assert (one.nodes, one.cost) == (1, both.cost // 2)
    assert seen.pods.keys() == {"default/q"}
    assert seen.controlled.of("default/ReplicaSet/web").keys() == {"default/q"}


def test_the_bill_follows_nodes_and_ends_of_commitments() -> None:
    """One of two nodes is committed for nothing, for a minute."""
    whole = Capacity(Fraction(4), Fraction(16))
    committed = Commitments((Commitment("e2", whole, NOW + 2 * MINUTE, Fraction(1)),), elsewhere={})
    seen = World(cluster([node("n1"), node("n2")]), load(), DELAYS, NOW, commitments=committed)
    seen.sample()
    seen.now += MINUTE
    seen.delete_node("n1")
    seen.sample()
    seen.now += MINUTE
    seen.sample()

    price = load().of(node("n1")).per_hour
    assert [row.bill for row in seen.measures.series] == [pytest.approx(nodes * price, abs=10) for nodes in (1, 0, 1)]


def test_of_what_happens_in_one_moment_only_its_end_is_sampled_without_commitments_without_a_bill() -> None:
    seen = world()
    seen.sample()
    seen.delete_node("n1")
    seen.sample()

    assert [(moment.at, moment.nodes, moment.bill) for moment in seen.measures.series] == [(NOW, 1, None)]


@cases(
    "change",
    ("a pod is bound", lambda seen: bind(seen, "default/w", "n1")),
    ("a bound pod comes", lambda seen: seen.add_pod(pod("r", on="n1"))),
    ("a pod changes", lambda seen: seen.change_pod(pod("p", on="n1", ready=False))),
    ("a pod is on its way out", lambda seen: evict(seen, seen.pods["default/p"], Actor.EBB)),
    ("a pod is gone", lambda seen: seen.delete_pod(seen.pods["default/p"])),
)
def test_snapshots_show_each_change_of_a_node_and_keep_what_is_known_of_the_others(
    change: Callable[[World], None],
) -> None:
    seen = world(pod("p", on="n1"), pod("q", on="n2"), pod("w", on=""))
    before = seen.snapshot().pods_by_node
    change(seen)
    seen.now += MINUTE
    after = seen.snapshot()

    assert replace(after).pods_by_node == after.pods_by_node
    assert after.pods_by_node["n1"] != before["n1"]
    assert after.pods_by_node["n2"] is before["n2"]


def test_a_pod_that_ends_leaves_its_budget_once_and_nothing_behind() -> None:
    seen = world(pod("p", on="n1"), pod("q", on="n2"), disruption_budgets=(pdb("web", app="web"),))
    evict(seen, seen.pods["default/p"], Actor.EBB)
    (second,) = seen.pending
    assert counted(seen) == [(2, 1)]

    bind(seen, second, "n2")
    evict(seen, seen.pods[second], Actor.EBB)
    (third,) = seen.pending
    let_pass(seen, NOW + DELAYS.longest_end)
    assert counted(seen) == [(2, 1)]
    assert {key: move.times for key, move in seen.moves.items()} == {third: 2}


ONE_AWAY = pdb("db", app="db", max_unavailable=Limit(count=1))
HALF = pdb("db", app="db", min_available=Limit(percent=50))
TWO = pdb("db", app="db", min_available=Limit(count=2))
SET = "StatefulSet/db"


@cases(
    "expected, budget, owner, away",
    ("all are there", [], ONE_AWAY, SET, 0),
    ("one is not made again yet, and is wanted still", ["default/db"], ONE_AWAY, SET, 1),
    ("a share of those wanted", [], HALF, SET, 1),
    ("no more than that share", ["default/db"], HALF, SET, 2),
    ("a number of pods", [], TWO, SET, 1),
    ("no more than that number", ["default/db"], TWO, SET, 2),
    ("no controller expects them, so a share lets none go", ["default/db"], ONE_AWAY, None, 0),
    ("a number counts the pods there are, without a controller, too", [], TWO, None, 0),
)
def test_a_budget_counts_the_pods_that_are_wanted(
    expected: list[str], budget: PodDisruptionBudget, owner: str | None, away: int
) -> None:
    pods = [pod(name, on="n1", owner=owner, labels={"app": "db"}) for name in "abcd"]
    seen = world(*pods, disruption_budgets=(budget,))
    for name in "abcd"[:away]:
        evict(seen, seen.pods[f"default/{name}"], Actor.EBB)

    assert [budget.key for budget in seen.budgets.refusing(seen.pods["default/d"])] == expected


@cases(
    "expected, changes, budgets",
    ("not Ready, and as many as must stay are", [], {"ready": False}, [pdb("web", app="web")]),
    ("not Ready, and too few", ["default/all"], {"ready": False}, [pdb("all", max_unavailable=Limit(count=0))]),
    ("not Ready, and always let go then", [], {"ready": False},
     [pdb("all", max_unavailable=Limit(count=0), always_evict_unhealthy=True)]),
    ("not started", [], {"phase": Phase.PENDING}, [pdb("all", max_unavailable=Limit(count=0))]),
    ("several budgets", ["default/a", "default/b"], {}, [pdb("a"), pdb("b")]),
    ("its pods cannot be counted", ["default/web"], {}, [pdb("web", allowed=0, fault="no scale")]),
)  # fmt: skip
def test_the_eviction_api_asks_the_budgets_of_a_pod(
    expected: list[str], changes: dict[str, Any], budgets: list[PodDisruptionBudget]
) -> None:
    seen = world(pod("p", on="n1", **changes), pod("q", on="n2"), disruption_budgets=tuple(budgets))

    assert [budget.key for budget in seen.budgets.refusing(seen.pods["default/p"])] == expected


def test_while_a_pod_waits_every_change_is_news_to_the_scheduler() -> None:
    waiting, idle = world(pod("p")), world()
    for seen in (waiting, idle):
        seen.note_change("n1", detail=True)

    assert (waiting.revision, waiting.details) == (1, 0)
    assert (idle.revision, idle.details) == (0, 1)
