"""What follows from a policy at rest: nothing by itself, and with a change what the change brings."""

from dataclasses import replace

import pytest

from functions.cli.analysis.forecast.steady_state import PolicyAtRest, find_steady_state
from shared.adapters.prices import load
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, policy

HALF_FULL = cluster(
    [node("n1"), node("n2"), node("n3")], [pod(f"p{number}", on=f"n{number}", cpu=2.2) for number in (1, 2)]
)


def _at_rest(rules: Policy) -> PolicyAtRest:
    return find_steady_state(Situation(HALF_FULL, ClusterState(), rules), {}, load())


def test_from_a_rest_nothing_follows_without_a_change() -> None:
    told = _at_rest(policy())
    assert (told.settled, told.rest.gone, told.anyway) == (True, 1, told.rest)
    assert told.onward(told.situation.policy, told.rest.snapshot).gone == 1


def test_what_was_left_to_be_done_is_no_merit_of_a_change() -> None:
    """The rounds ended before the empty node went; it goes without any change, too."""
    begun = _at_rest(policy())
    cut_short = replace(begun, rest=begun.start, settled=False)
    assert (cut_short.rest.gone, cut_short.anyway.gone) == (0, 1)


@pytest.mark.parametrize(
    ("expected", "rounds"), [pytest.param(False, 1, id="one round"), pytest.param(True, 2, id="and one to see it")]
)
def test_a_change_is_in_steady_state_once_a_round_has_found_nothing(expected: bool, rounds: int) -> None:
    told = _at_rest(policy())

    assert told.onward(told.situation.policy, HALF_FULL, rounds).is_rest is expected
