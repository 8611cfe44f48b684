"""What becomes of a pod of a simulated cluster when it is told to end."""

from datetime import timedelta
from typing import Any

from shared.adapters.prices import load
from shared.core.simulated_days.measures import Actor
from shared.core.simulated_days.pod_lives import end, evict
from shared.core.simulated_days.settings import DELAYS
from shared.core.simulated_days.world import World
from tests.builders import NOW, cluster, node, pod


def world(**changes: Any) -> World:
    pods = [pod(name, on="n1", owner="ReplicaSet/web", **changes) for name in ("a", "b")]
    return World(cluster([node("n1")], pods), load(), DELAYS, NOW)


def test_a_pod_takes_its_grace_to_end_and_no_longer_than_the_longest_end() -> None:
    short, long = world(grace_seconds=30), world(grace_seconds=9 * 3600)
    for each in (short, long):
        end(each, each.pods["default/a"])

    assert short.pods["default/a"].deleting == NOW + timedelta(seconds=30)
    assert long.pods["default/a"].deleting == NOW + DELAYS.longest_end


def test_a_pod_that_takes_anothers_place_has_been_moved_as_often_and_once_more() -> None:
    seen = world()
    evict(seen, seen.pods["default/a"], Actor.EBB)
    (first,) = seen.pending
    assert seen.times_moved[first] == 1

    evict(seen, seen.pods[first], Actor.EBB)
    (second,) = seen.pending
    assert (seen.times_moved[second], seen.measures.twice) == (2, 1)
