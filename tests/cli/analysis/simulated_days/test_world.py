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


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda seen: bind(seen, "default/w", "n1"), id="a pod is bound"),
        pytest.param(lambda seen: seen.add_pod(pod("r", on="n1")), id="a bound pod comes"),
        pytest.param(lambda seen: seen.change_pod(pod("p", on="n1", ready=False)), id="a pod changes"),
        pytest.param(lambda seen: evict(seen, seen.pods["default/p"], Actor.EBB), id="a pod is on its way out"),
        pytest.param(lambda seen: seen.delete_pod(seen.pods["default/p"]), id="a pod is gone"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "budget", "owner", "away"),
    [
        pytest.param([], ONE_AWAY, SET, 0, id="all are there"),
        pytest.param(["default/db"], ONE_AWAY, SET, 1, id="one is not made again yet, and is wanted still"),
        pytest.param([], HALF, SET, 1, id="a share of those wanted"),
        pytest.param(["default/db"], HALF, SET, 2, id="no more than that share"),
        pytest.param([], TWO, SET, 1, id="a number of pods"),
        pytest.param(["default/db"], TWO, SET, 2, id="no more than that number"),
        pytest.param(["default/db"], ONE_AWAY, None, 0, id="no controller expects them, so a share lets none go"),
        pytest.param([], TWO, None, 0, id="a number counts the pods there are, without a controller, too"),
    ],
)
def test_a_budget_counts_the_pods_that_are_wanted(
    expected: list[str], budget: PodDisruptionBudget, owner: str | None, away: int
) -> None:
    pods = [pod(name, on="n1", owner=owner, labels={"app": "db"}) for name in "abcd"]
    seen = world(*pods, disruption_budgets=(budget,))
    for name in "abcd"[:away]:
        evict(seen, seen.pods[f"default/{name}"], Actor.EBB)

    assert [budget.key for budget in seen.budgets.refusing(seen.pods["default/d"])] == expected


@pytest.mark.parametrize(
    ("expected", "changes", "budgets"),
    [
        pytest.param([], {"ready": False}, [pdb("web", app="web")], id="not Ready, and as many as must stay are"),
        pytest.param(
            ["default/all"], {"ready": False}, [pdb("all", max_unavailable=Limit(count=0))], id="not Ready, and too few"
        ),
        pytest.param(
            [],
            {"ready": False},
            [pdb("all", max_unavailable=Limit(count=0), always_evict_unhealthy=True)],
            id="not Ready, and always let go then",
        ),
        pytest.param([], {"phase": Phase.PENDING}, [pdb("all", max_unavailable=Limit(count=0))], id="not started"),
        pytest.param(["default/a", "default/b"], {}, [pdb("a"), pdb("b")], id="several budgets"),
        pytest.param(["default/web"], {}, [pdb("web", allowed=0, fault="no scale")], id="its pods cannot be counted"),
    ],
)
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
