"""What is true of the rows of a fleet together, and docs/fleet.md of its JSON: every key is told, and no other."""

import re
from typing import Any, Final

import pytest

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.installations import InstallationResult, Mode, Trouble
from functions.cli.fleet.prints import document
from functions.cli.fleet.sources import ClusterSource, InstallationSource
from functions.cli.fleet.view import view_of
from functions.cli.input.options import CLUSTER
from functions.cli.plan import view as plan_view
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from functions.cli.plan.totals import THEIR_POLICIES, settings_of
from tests.cli.fleet.fleets import asked, cut_off, dump, installation, planned
from tests.cli.plan.plans import busy, plan
from tests.depth import cases
from tests.pages import DOCS, rows

TOLD: Final = {
    cells[0]: set(re.findall(r"`(\w+)`", cells[1]))
    for cells in rows((DOCS / "fleet.md").read_text(encoding="utf-8"), "| key | holds |")
}
PLAN: Final = {"schema", "nodes", "orders", "at_rest", "potential"}
"""What a plan's JSON has, and a cluster of a fleet has not."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("fleet")
    results = planned(dump(folder / "a.json", "prod"), cut_off(folder / "bad.json"))
    return document(view_of(results, (asked(installation(folder, "prod")),)))


def test_every_key_of_an_installation_is_shown(told: dict[str, Any]) -> None:
    words = {*(word.value for word in Mode), *(word.value for word in Trouble), "trouble", "sentence"}
    assert TOLD["`clusters[].installation`"] == {*told["clusters"][0]["installation"], *words}


def test_every_key_of_the_sums_is_shown(told: dict[str, Any]) -> None:
    own = {"not_read", "installations", "live", "dry_run", "paused", "failing"}
    assert TOLD["`ladder`, `totals`"] == {"totals", *own}
    assert own <= told["totals"].keys()
    assert TOLD["`holds`"] == {"clusters", *told["holds"][0]["clusters"][0]}
    assert told.keys() == {"schema", "clusters", "ladder", "totals", "holds"}


def test_a_cluster_that_was_not_read_has_every_key_too(told: dict[str, Any]) -> None:
    read, missing = told["clusters"]
    assert read.keys() == missing.keys()
    assert not PLAN & read.keys()
    assert (missing["totals"], missing["ladder"], missing["installation"]) == (None, [], None)


def planned_under(policy: str) -> plan_view.PlanView:
    return plan_view.view_of(plan(busy("n1"), policy_hash=policy), whose=POLICY if policy else DEFAULTS)


@cases(
    "expected, policies",
    ("one policy", POLICY, ["a", "a"]),
    ("none", DEFAULTS, ["", ""]),
    ("two", THEIR_POLICIES, ["a", "b"]),
    ("one, and none", THEIR_POLICIES, ["a", ""]),
)
def test_the_sum_of_a_fleet_rests_on(expected: str, policies: list[str]) -> None:
    assert settings_of([*map(planned_under, policies)]) == expected


def test_an_installation_stands_at_one_row_though_its_cluster_is_read_twice() -> None:
    here = {CLUSTER: "projects/p/locations/l/clusters/c"}
    twice = [SourceResult(ClusterSource(name, environment=here), faults=("not read",)) for name in ("one", "other")]
    installed = InstallationResult(InstallationSource("ebb", here), faults=("no state",))

    assert [row.faults for row in view_of(twice, [installed]).rows] == [("not read", "no state"), ("not read",)]
