"""What becomes of a pod of a simulated cluster when it is told to end."""

from datetime import timedelta
from typing import Any

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import bind, end, evict, scale
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.builders import NOW, cluster, node, pdb, pod
from tests.depth import cases


def world(**changes: Any) -> World:
    pods = [pod(name, on="n1", owner="ReplicaSet/web", **changes) for name in ("a", "b")]
    return World(cluster([node("n1")], pods), load(), DELAYS, NOW)


def test_a_pod_takes_its_grace_to_end_and_no_longer_than_the_longest_end() -> None:
    short, long = world(grace_seconds=30), world(grace_seconds=9 * 3600)
    for played in (short, long):
        end(played, played.pods["default/a"])

    assert short.pods["default/a"].deleting == NOW + timedelta(seconds=30)
    assert long.pods["default/a"].deleting == NOW + DELAYS.longest_end


def test_a_pod_that_takes_anothers_place_has_been_moved_as_often_and_once_more() -> None:
    seen = world()
    evict(seen, seen.pods["default/a"], Actor.EBB)
    (first,) = seen.pending
    assert seen.moves[first].times == 1

    evict(seen, seen.pods[first], Actor.EBB)
    (second,) = seen.pending
    assert (seen.moves[second].times, seen.measures.twice) == (2, 1)


def test_a_pod_that_is_made_again_once_its_forerunner_has_ended_has_been_moved_as_often_too() -> None:
    seen = World(cluster([node("n1")], [pod("a", on="n1", owner="StatefulSet/db")]), load(), DELAYS, NOW)
    for times in (1, 2):
        (latest,) = seen.pods.values()
        evict(seen, latest, Actor.EBB)
        seen.now += DELAYS.longest_end
        for action in seen.agenda.due(seen.now):
            action()

        assert [move.times for move in seen.moves.values()] == [times]
        (following,) = seen.pending
        bind(seen, following, "n1")


def test_a_pod_that_is_ending_from_the_beginning_counts_for_no_budget() -> None:
    pods = [pod("a", on="n1"), pod("b", on="n1", deleting=NOW)]
    seen = World(cluster([node("n1")], pods, disruption_budgets=(pdb("web", app="web"),)), load(), DELAYS, NOW)

    assert [(budget.expected_pods, budget.current_healthy) for budget in seen.budgets.now()] == [(1, 1)]


def costing(written: str | None = None, mark: str = "") -> Pod:
    """A pod on which people wrote a deletion cost, or that carries Ebb's mark of one."""
    notes = {} if written is None else {names.DELETION_COST: written}
    return pod("b", on="n1", owner="ReplicaSet/web", annotations=notes, steered=mark)


@cases(
    "expected, other",
    ("no cost: the first by name", "a", costing()),
    ("Ebb's", "b", costing(mark="-5")),
    ("its people's", "b", costing("-5")),
    ("its people's, written over Ebb's", "a", costing("7", mark="-5")),
    ("what stands there and cannot be read is none", "a", costing("dear", mark="-5")),
    ("a mark from its template, next to no cost", "a", costing(mark="true")),
    ("a mark with its cost from its template, above Ebb's own", "a", costing(mark="7")),
)
def test_of_two_pods_the_one_of_the_lower_cost_is_dropped(expected: str, other: Pod) -> None:
    pods = [pod("a", on="n0", owner="ReplicaSet/web"), other]
    world = World(cluster([node("n0"), node("n1")], pods), load(), DELAYS, NOW)

    scale(world, other.spec, 1)

    assert [one.name for one in world.pods.values() if one.deleting is not None] == [expected]
