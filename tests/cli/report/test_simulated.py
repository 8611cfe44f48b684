"""Simulated days in the report: the figures of `ebb simulate`, its plot, and nothing played that was not asked for."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from functions.cli.analysis.forecast.scenarios import Scenario, ScenarioKind, Scenarios
from functions.cli.analysis.simulated_days.measures import Measures, Moment, outcome
from functions.cli.main import app
from functions.cli.report.extras import section
from functions.cli.simulate.view import DaysView, PlayedDay
from tests.cli import dumps
from tests.cli.report import big_shop

KINDS = (ScenarioKind.NOW, ScenarioKind.AUTOSCALER_ALONE, ScenarioKind.POLICY_AT_REST, ScenarioKind.BOUND)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dumps.write(tmp_path / "cluster.json", 8)
    (tmp_path / "policy.yaml").write_text(big_shop.POLICY, encoding="utf-8")
    (tmp_path / "never.yaml").write_text("defaults: {enabled: false}\n", encoding="utf-8")
    return tmp_path


def extras(*words: str) -> list[dict[str, Any]]:
    ended = CliRunner().invoke(app, ["report", "--dump", "cluster.json", "-o", "json", *words])
    assert ended.exit_code == 0, ended.output
    found: list[dict[str, Any]] = json.loads(ended.stdout)["report"]["extras"]
    return found


@pytest.mark.usefixtures("files")
def test_nothing_is_played_that_was_not_asked_for() -> None:
    assert extras() == []


def test_its_figures_are_those_of_the_command(files: Path) -> None:
    [section] = extras("--policy", "policy.yaml", "--compare", str(files / "never.yaml"), "--days", "2")
    words = ["simulate", "--dump", "cluster.json", "--policy", "policy.yaml", "--policy", str(files / "never.yaml")]
    alone = json.loads(CliRunner().invoke(app, [*words, "--days", "2", "-o", "json"]).stdout)

    assert section["title"] == "2 simulated days to come"
    assert section["table"]["columns"] == ["", "autoscaler alone", "policy.yaml", "never.yaml"]
    by_name = {row[0].partition(":")[0]: row[1:] for row in section["table"]["rows"]}
    assert by_name["evictions"] == [str(run["evictions"]) for run in alone["runs"]]
    assert by_name["nodes"] == [f"{run['mean_nodes']:.1f}" for run in alone["runs"]]
    plot = section["plot"]
    assert [line["name"] for line in plot["lines"]] == section["table"]["columns"][1:]
    assert {len(plot["x"])} == {len(line["values"]) for line in plot["lines"]} == {96}
    assert [line["values"][0] for line in plot["lines"]] == [8, 8, 8]


def days(saved: int) -> DaysView:
    """A day in which the autoscaler alone costs 100, the first policy so much less, and the second as much."""
    noon, cost = datetime(2026, 3, 2, 12, tzinfo=UTC), 100
    rows = (("autoscaler alone", cost), ("x/policy.yaml", cost - saved), ("x/never.yaml", cost))
    hour = timedelta(hours=1)
    played = [
        (name, outcome(Measures(series=[Moment(noon, 3, cost, 0)]), noon, noon + hour, ())) for name, cost in rows
    ]
    return DaysView("c", noon, 1, tuple(PlayedDay(name, each) for name, each in played), ())


@pytest.mark.parametrize(
    ("expected", "saved"),
    [
        pytest.param(True, 5, id="the days show much less"),
        pytest.param(False, 29, id="as good as the same"),
        pytest.param(True, 40, id="the days show more"),
    ],
)
def test_the_forecast_is_shown_next_to_the_days_if_it_differs(*, expected: bool, saved: int) -> None:
    now, alone, rest, least = (
        Scenario(scenario, 3, cost) for scenario, cost in zip(KINDS, (120, 100, 70, 50), strict=True)
    )
    scenarios = Scenarios(now, alone, rest, (), least, None, {}, {}, approximate=False)
    told = " ".join(section(days(saved), scenarios)["sentences"])

    assert (f"policy.yaml saves {saved}.0%" in told and "30.0%" in told) is expected


def test_policies_of_one_name_are_kept_apart(files: Path) -> None:
    (files / "old").mkdir()
    (files / "old" / "policy.yaml").write_text(big_shop.POLICY, encoding="utf-8")
    [section] = extras("--policy", "policy.yaml", "--compare", "old/policy.yaml", "--days", "1")

    assert section["table"]["columns"][2:] == ["policy.yaml", "old/policy.yaml"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words", [("--compare", "never.yaml"), ("--demand", "hours.csv")])
def test_what_shows_how_days_are_played_needs_days(words: tuple[str, str]) -> None:
    ended = CliRunner().invoke(app, ["report", "--dump", "cluster.json", *words])
    assert (ended.exit_code, ended.stderr) == (2, f"ebb: {words[0]}: name with --days how many to simulate.\n")
