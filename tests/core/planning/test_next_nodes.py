"""The nodes that go next are told where a policy steers scale-in: marks, budgets and windows only put them off."""

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan
from shared.core.policy import Budget, Freeze, Limit, Policy, Schedule
from shared.core.records.state import Backoff, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, pod, policy
from tests.core.planning.passes import MINUTE, ordered, plan

HOUR = timedelta(hours=1)
AT_NOON = Schedule("0 12 * * *", HOUR)
"""Not now."""
STATE = ClusterState(last_pass=NOW - 5 * MINUTE)


def half_empty() -> Snapshot:
    """Two of three can go; n3 is used most."""
    names = ("n1", "n2", "n3")
    pods = [
        pod(f"p{index}-{name}", on=name, cpu=0.5, owner=f"ReplicaSet/r{index}")
        for place, name in enumerate(names)
        for index in range(1 + place)
    ]
    return cluster([node(name) for name in names], pods)


def steers(**settings: Any) -> Policy:
    return policy(**{"steer_scale_in": True, **settings})


def told(rules: Policy, state: ClusterState = STATE) -> tuple[list[str], tuple[str, ...]]:
    made: Plan = plan(half_empty(), rules, state=state)
    return ordered(made), made.next_nodes


def test_without_the_setting_nothing_is_shown() -> None:
    assert told(policy()) == (["n1"], ())


@pytest.mark.parametrize(
    ("expected", "settings"),
    [
        pytest.param((["n1"], ("n2",)), {}, id="one goes in this pass, the other next"),
        pytest.param(([], ("n1", "n2")), {"consolidate_after": 5 * MINUTE}, id="marks are young"),
        pytest.param(([], ("n1", "n2")), {"windows": (AT_NOON,)}, id="no window is open"),
        pytest.param(([], ("n1", "n2")), {"cluster_wide": {"time_gap": HOUR}}, id="a drain has just begun"),
        pytest.param(([], ()), {"budgets": (Budget(Limit(0)),)}, id="a budget allows nothing"),
        pytest.param(([], ()), {"windows": (AT_NOON,), "enabled": False}, id="the pool is not enabled"),
        pytest.param(([], ()), {"cluster_wide": {"paused": True}}, id="paused"),
        pytest.param(
            ([], ()), {"cluster_wide": {"freezes": (Freeze(NOW - HOUR, NOW + HOUR),)}}, id="frozen: hands off"
        ),
    ],
)
def test_what_only_waits_is_shown(expected: tuple[list[str], tuple[str, ...]], settings: dict[str, Any]) -> None:
    assert told(steers(**settings), ClusterState(last_pass=NOW - 5 * MINUTE, last_scale_down=NOW - MINUTE)) == expected


def test_a_pool_whose_window_is_shut_is_shown_beside_one_that_drains() -> None:
    """The plan that the pass follows is without it."""
    both = cluster([*half_empty().nodes, node("b1", pool="b"), node("b2", pool="b")], half_empty().pods)
    rules = steers()
    shut = replace(rules.pools["a"], windows=(AT_NOON,))
    made = plan(both, replace(rules, pools={"a": rules.pools["a"], "b": shut}))
    assert (ordered(made), made.next_nodes) == (["n1"], ("b1", "n2", "n3"))


def test_the_plan_that_the_pass_follows_is_not_searched_again() -> None:
    def asked(rules: Policy) -> int:
        """Return how often the search looks whether it must end."""
        looks = count()
        make_plan(Situation(half_empty(), STATE, rules), {}, load(), brake=lambda: next(looks) < 0)
        return next(looks)

    assert asked(steers()) == asked(policy()) > 0


def test_a_node_that_is_left_alone_for_a_while_is_not_shown() -> None:
    given = ClusterState(last_pass=STATE.last_pass, backoffs={"uid-n1": Backoff("n1", NOW + HOUR, HOUR, "deadline")})
    assert told(steers(consolidate_after=5 * MINUTE), given) == ([], ("n2", "n3"))


def test_a_node_in_flight_is_not_shown() -> None:
    given = ClusterState(last_pass=STATE.last_pass, claims={"uid-n1": claim("n1")})
    assert told(steers(required_count=0, consolidate_after=5 * MINUTE), given) == ([], ("n2",))


def test_a_pool_that_does_not_steer_is_not_shown() -> None:
    both = cluster([*half_empty().nodes, node("b1", pool="b"), node("b2", pool="b")], half_empty().pods)
    other = policy().pools["a"]
    quiet = replace(rules := steers(consolidate_after=5 * MINUTE), pools={**rules.pools, "b": other})
    loud = replace(rules, pools={**rules.pools, "b": replace(other, steer_scale_in=True)})
    assert plan(both, loud).next_nodes == ("b2", "n1", "n2")
    assert plan(both, quiet).next_nodes == ("n1", "n2")
