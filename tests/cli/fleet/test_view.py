"""What is true of the rows of a fleet together."""

import pytest

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.installations import InstallationResult
from functions.cli.fleet.sources import ClusterSource, InstallationSource
from functions.cli.fleet.view import THEIR_POLICIES, FleetRow, name_of_settings, view_of
from functions.cli.input.profiles import CLUSTER
from functions.cli.plan import view as plan_view
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from tests.cli.plan.plans import busy, plan


def row(policy: str) -> FleetRow:
    view = plan_view.view_of(plan(busy("n1"), policy_hash=policy))
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
    assert name_of_settings(map(row, policies)) == expected


def test_an_installation_stands_at_one_row_though_its_cluster_is_read_twice() -> None:
    here = {CLUSTER: "projects/p/locations/l/clusters/c"}
    twice = [SourceResult(ClusterSource(name, environment=here), faults=("not read",)) for name in ("one", "other")]
    installed = InstallationResult(InstallationSource("ebb", here), faults=("no state",))

    assert [row.faults for row in view_of(twice, [installed]).rows] == [("not read", "no state"), ("not read",)]
