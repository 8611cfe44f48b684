"""What a simulated cluster counts, and what is left of pods and nodes that are gone."""

from datetime import timedelta
from typing import Any

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import bind, evict
from functions.cli.analysis.simulated_days.settings import DELAYS
from functions.cli.analysis.simulated_days.world import World
from shared.adapters.prices import load
from shared.core.cluster.pod import Phase, Pod
from tests.builders import NOW, cluster, node, pdb, pod
from tests.cli.analysis.simulated_days.time_passing import let_pass

MINUTE = timedelta(minutes=1)


def world(*pods: Pod, **picture: Any) -> World:
    return World(cluster([node("n1"), node("n2")], pods, **picture), load(), DELAYS, NOW)


def counted(seen: World) -> list[tuple[int, int]]:
    return [(each.expected_pods, each.current_healthy) for each in seen.budgets.now()]


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


def test_of_what_happens_in_one_moment_only_its_end_is_sampled() -> None:
    seen = world()
    seen.sample()
    seen.delete_node("n1")
    seen.sample()

    assert [(each.at, each.nodes) for each in seen.measures.series] == [(NOW, 1)]


def test_a_pod_that_ends_leaves_its_budget_once_and_nothing_behind() -> None:
    seen = world(pod("p", on="n1"), pod("q", on="n2"), disruption_budgets=(pdb("web", app="web"),))
    evict(seen, seen.pods["default/p"], Actor.EBB)
    (second,) = seen.pending
    assert counted(seen) == [(2, 1)]
    assert seen.moved_from == {second: "n1"}

    bind(seen, second, "n2")
    evict(seen, seen.pods[second], Actor.EBB)
    (third,) = seen.pending
    let_pass(seen, NOW + DELAYS.longest_end)
    assert counted(seen) == [(2, 1)]
    assert (seen.moved_from, seen.times_moved) == ({third: "n2"}, {third: 2})


def test_while_a_pod_waits_every_change_is_news_to_the_scheduler() -> None:
    waiting, idle = world(pod("p")), world()
    for each in (waiting, idle):
        each.changed("n1", detail=True)

    assert (waiting.revision, waiting.details) == (1, 0)
    assert (idle.revision, idle.details) == (0, 1)
