"""What is true of the rows of a fleet together."""

from dataclasses import replace

import pytest

from functions.cli.fleet.view import THEIR_POLICIES, FleetRow, whose_of
from functions.cli.plan.ladder_rows import DEFAULTS, POLICY
from functions.cli.plan.view import view_of
from tests.cli.plan.plans import busy, plan


def row(policy: str) -> FleetRow:
    view = replace(view_of(plan(busy("n1"))), policy_hash=policy)
    return FleetRow("c", "c", view, has_policy=bool(policy))


@pytest.mark.parametrize(
    ("expected", "policies"),
    [
        pytest.param(POLICY, ["a", "a"], id="one policy"),
        pytest.param(DEFAULTS, ["", ""], id="none"),
        pytest.param(THEIR_POLICIES, ["a", "b"], id="two"),
        pytest.param(THEIR_POLICIES, ["a", ""], id="one, and none"),
    ],
)
def test_the_sum_of_a_fleet_rests_on(expected: str, policies: list[str]) -> None:
    assert whose_of(map(row, policies)) == expected
