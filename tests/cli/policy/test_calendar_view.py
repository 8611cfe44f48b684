"""`ebb policy calendar` as a person sees it."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from functions.cli.main import app
from tests.cli import dumps

POLICY = """
dryRun: false
cluster:
  disruption: {budgets: [{nodes: 5%}]}
  freezes: [{from: 2026-11-27, to: 2026-11-28, timeZone: Europe/Amsterdam}]
nodePools:
  day:
    enabled: true
    disruption:
      consolidateAfter: 5m
      budgets:
        - {nodes: 0, schedule: "0 9 * * mon-fri", duration: 8h, timeZone: Europe/Amsterdam}
        - {nodes: 10%}
  night:
    enabled: true
    disruption:
      windows: [{schedule: "30 20 * * *", duration: 10h, timeZone: Europe/Amsterdam}]
  off: {}
"""
AT = ("--at", "2026-11-23T12:00:00Z")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def ebb(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["policy", "calendar", *map(str, args)])


def test_every_letter_stands_in_the_legend_and_every_day_has_its_hours(file: Path) -> None:
    page = ebb(file, *AT).output.splitlines()
    days = [re.findall(r"(\d\d)-(\d\d) \S+ ([a-z])", line) for line in page if re.match(r"\w{3} \d\d \w{3} ", line)]
    legend = {line[0] for line in page if re.match(r"[a-z]\d?  +\S+  ", line)}
    assert [sum(int(end) - int(begin) for begin, end, _ in day) for day in days] == [24] * 14
    assert {letter for day in days for *_, letter in day} == legend


@pytest.mark.parametrize(
    ("expected", "at"),
    [
        pytest.param("02-03 skipped by the clock, 03-07 ", "2026-03-29T00:00Z", id="an hour that the clock skips"),
        pytest.param("06-07 0 b*, 07-20 0 b, 20-21 0 b*", "2026-11-23T12:00Z", id="hours in which a limit changes"),
    ],
)
def test_a_day_is_a_line_of_its_runs_of_equal_hours(expected: str, at: str, file: Path) -> None:
    assert expected in ebb(file, "--at", at, "--pool", "night", "--days", "1").output


def test_json_has_the_same_calendar(file: Path) -> None:
    found = json.loads(ebb(file, *AT, "--pool", "day", "--days", "1", "-o", "json").stdout)
    (pools,) = found.pop("pools")
    (day,) = pools["days"]
    assert [note.split(" (")[0] for note in found.pop("notes")] == ["The cluster's own limits"]
    assert found == {
        "schema": 1, "first": "2026-11-23", "time_zone": "Europe/Amsterdam", "off": ["off"]
    }  # fmt: skip
    assert (pools["names"], pools["always"], day["day"]) == (["day"], False, "Mon 23 Nov")
    assert [(run["from"], run["hours"], run["letter"], run["nodes"], run["none"]) for run in day["runs"]] == [
        (0, 9, "a", "10%", False), (9, 8, "b", "0", True), (17, 7, "a", "10%", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "args"),
    [
        pytest.param("by the hour in Europe/Amsterdam", (), id="whose hours they are"),
        pytest.param("by the hour in UTC", ("--time-zone", "UTC"), id="the hours asked for"),
        pytest.param("drains nothing: off.", (), id="which pools are off"),
        pytest.param("pool day\n", (), id="the pool"),
        pytest.param('b  0    budget 0 "0 9 * * mon-fri" for 8h', (), id="which budget decides"),
        pytest.param("freeze until 2026-11-27 23:00:00 UTC", (), id="which freeze"),
        pytest.param("*       changes within the hour", (), id="what the mark means"),
        pytest.param("shares of all its nodes and not counted", (), id="what is not counted"),
        pytest.param("\nMon 23 Nov  00-09 10% a, 09-17 0 b, ", (), id="the first day"),
    ],
)
def test_it_shows(expected: str, args: tuple[str, ...], file: Path) -> None:
    assert expected in ebb(file, *AT, *args).output


def test_it_draws_as_many_days_as_asked_for(file: Path) -> None:
    output = ebb(file, *AT, "--days", "3", "--pool", "night").output
    assert re.findall(r"^(\w+ \d\d) Nov ", output, re.MULTILINE) == ["Mon 23", "Tue 24", "Wed 25"]
    assert "pool day" not in output


def test_a_whole_month_of_a_schedule_of_every_minute_is_drawn(tmp_path: Path) -> None:
    often = '{nodes: 0, schedule: "* * * * *", duration: 1m}'
    path = tmp_path / "often.yaml"
    path.write_text(f"nodePools: {{a: {{enabled: true, disruption: {{budgets: [{often}]}}}}}}")
    result = ebb(path, *AT, "--days", "2")
    assert result.exit_code == 0
    assert "*" not in result.output.split("pool a")[1].splitlines()[2]


@pytest.mark.parametrize(
    ("expected", "args"),
    [
        pytest.param("no pool 'x'; its pools: day, night, off.", ("--pool", "x"), id="an unknown pool"),
        pytest.param("--time-zone: no time zone of that name is known", ("--time-zone", "Mars"), id="an unknown zone"),
        pytest.param("--at: 'yesterday' is not a time", ("--at", "yesterday"), id="a time that is none"),
        pytest.param("--at: write a time from 1970 to 2199", ("--at", "9999-12-31T23:00Z"), id="the end of all time"),
    ],
)  # fmt: skip
def test_bad_use_is_one_sentence(expected: str, args: tuple[str, ...], file: Path) -> None:
    result = ebb(file, *args)
    assert result.exit_code == 2
    assert expected in re.sub(r"[\s│]+", " ", result.stderr)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_of_a_dump_it_advises_what_there_is(suffix: str, tmp_path: Path) -> None:
    """The command has no --dump."""
    result = ebb(dumps.write(tmp_path / f"cluster{suffix}", 120))
    assert result.exit_code == 1
    assert "`ebb policy init FILE` prints a policy for it" in result.stderr
    assert "--dump" not in result.stderr
