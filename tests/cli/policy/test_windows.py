"""`ebb policy windows` as a person sees it."""

import re
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from functions.cli.main import app
from functions.cli.policy.calendar import CalendarQuestion, Day, Hour, NodeLimit, Sizes, bars
from functions.cli.policy.windows import show
from shared.core.policy.parsing import parse
from shared.core.policy.schedule import zone_of
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
OPEN, SHUT = NodeLimit(3, None, "budget 3 always"), NodeLimit(0, None, "no window is open")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def ebb(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["policy", "windows", *map(str, args)])


def drawn(width: int) -> list[str]:
    question = CalendarQuestion(
        parse(POLICY.encode()), Sizes({"day": 30}), zone_of("Europe/Amsterdam"), date(2026, 11, 23), 7
    )
    pages = StringIO()
    show(Console(file=pages, width=width, force_terminal=True, color_system=None), "p", question, ["day", "night"])
    return [line.rstrip() for line in pages.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_day_is_one_line_of_the_same_length_within_the_terminal(width: int) -> None:
    rows = [line for line in drawn(width) if line.endswith("│")]
    assert len(rows) == 14
    assert len({len(row) for row in rows}) == 1
    assert max(map(len, drawn(width))) <= width


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_letter_of_a_bar_stands_in_the_legend(width: int) -> None:
    page = drawn(width)
    legend = {line[0] for line in page if re.match(r"[a-z]\d?  +\S+  ", line)}
    bodies = [re.sub(r"^\w{3} \d\d( \w{3})? ", "", line) for line in page if line.endswith("│")]
    assert {letter for body in bodies for letter in re.findall(r"[a-z]", body)} == legend


def test_a_run_shows_its_number_and_a_short_one_its_letter() -> None:
    hours = (Hour(OPEN),) * 8 + (Hour(SHUT, changes=True),) + (Hour(OPEN),) * 15
    rows = bars([Day(date(2026, 11, 23), hours)], 80).rows
    line = "".join(text for text, _ in rows[0][1])
    assert line == f"│3 a {'─' * 19}│b*│3 a {'─' * 40}│"


def test_an_hour_that_the_clock_skips_is_blank() -> None:
    hours = (Hour(OPEN), Hour(OPEN), None, *[Hour(OPEN)] * 21)
    rows = bars([Day(date(2026, 3, 29), hours)], 80).rows
    assert "".join(text for text, _ in rows[0][1]).startswith("│3 a ─│  │3 a ─")


@pytest.mark.parametrize(
    ("expected", "args"),
    [
        pytest.param("by the hour in Europe/Amsterdam", (), id="whose hours they are"),
        pytest.param("by the hour in UTC", ("--time-zone", "UTC"), id="the hours asked for"),
        pytest.param("drains nothing: off.", (), id="which pools are off"),
        pytest.param("pool day\n", (), id="the pool"),
        pytest.param("pool day (30 nodes)\n", ("--nodes", "day=30"), id="its size"),
        pytest.param('b    0  budget 0 "0 9 * * mon-fri" for 8h', (), id="which budget decides"),
        pytest.param("freeze until 2026-11-27 23:00:00 UTC", (), id="which freeze"),
        pytest.param("*     changes within the hour", ("--nodes", "night=9"), id="what the mark means"),
        pytest.param("cluster budget 5% always", ("--nodes", "day=80,night=9", "--nodes", "off=1"), id="the ceiling"),
        pytest.param("shares of all its nodes and not drawn", (), id="what is not drawn"),
        pytest.param("Mon 23 Nov │10% a ", (), id="the first day"),
    ],
)
def test_it_shows(expected: str, args: tuple[str, ...], file: Path) -> None:
    assert expected in ebb(file, *AT, *args).output


def test_it_draws_as_many_days_as_asked_for(file: Path) -> None:
    output = ebb(file, *AT, "--days", "3", "--pool", "night").output
    assert re.findall(r"^(\w+ \d\d) Nov │", output, re.MULTILINE) == ["Mon 23", "Tue 24", "Wed 25"]
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
        pytest.param("--nodes: 'day' is not POOL=N; write for example", ("--nodes", "day"), id="no number"),
        pytest.param("--nodes: 'day=-1' is not POOL=N", ("--nodes", "day=-1"), id="a negative number"),
        pytest.param("--nodes: the policy names no pool 'x'; its pools: day, night, off.", ("--nodes", "x=3"),
                     id="a size of an unknown pool"),
        pytest.param("--pool: the policy names no pool 'x'", ("--pool", "x"), id="an unknown pool"),
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
