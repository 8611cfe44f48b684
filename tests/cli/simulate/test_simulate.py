"""`ebb simulate` from options to the table, markdown and JSON; and what is said of a bad file."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from functions.cli.analysis.simulated_days.measures import Measures, Moment, PlayedTotals, outcome
from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.output.answers import show
from functions.cli.simulate.demand import read_hours
from functions.cli.simulate.view import DaysView, document, parts
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases

BEGINS = datetime(2026, 3, 2, tzinfo=UTC)
LONG = ("autoscaler alone", "some/folder/of/policies/as-it-is-now.yaml", "some/folder/of/policies/stricter.yaml")
PLAYED = outcome(Measures(series=[Moment(BEGINS, 3, 0, 0)]), BEGINS, BEGINS + timedelta(days=1))
WEB = "shop/ReplicaSet/web-5d4f8b"
HEAD = f"workload,{','.join(map(str, range(24)))}"


def told(*typed: str, code: int = 0) -> Any:
    found = ebb(*typed)
    assert found.exit_code == code, found.output
    return found


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, ...]:
    return ("simulate", "--dump", str(dumps.write(tmp_path / "small.json", 6)))


@pytest.fixture
def dump(tmp_path: Path) -> str:
    return str(dumps.write(tmp_path / "cluster.json", 12))


def test_the_table_has_a_column_for_each_run_and_shows_what_demand_rests_on(small: tuple[str, ...]) -> None:
    text = told(*small).output

    assert "autoscaler alone" in text
    assert "Ebb, default policy" in text
    assert "Demand is a guess" in text


@cases(
    "titles, saved, bill",
    ("nothing is committed: one figure", ["money"], "50.0%", None),
    ("the list price and the bill; what is saved is of the bill", ["list", "bill"], "10.0%", (10, 9)),
)
def test_the_money_of_days(titles: list[str], saved: str, bill: tuple[int, int] | None) -> None:
    def run(cost: int, paid: int | None) -> PlayedTotals:
        rows = [Moment(BEGINS, 3, cost * 10**6, 0, None if paid is None else paid * 10**6)]
        return outcome(Measures(series=rows), BEGINS, BEGINS + timedelta(hours=1))

    paid = bill or (None, None)
    view = DaysView("c", BEGINS, 1, {"alone": run(20, paid[0]), "ebb": run(10, paid[1])}, ())
    figures = {figure.title: figure.text(view, view.runs["ebb"]) for figure in view.figures}

    assert [title for title in figures if title in {"money", "list", "bill"}] == titles
    assert figures["saved"] == saved
    assert [run["bill"] for run in document(view)["runs"]] == list(paid)


@pytest.mark.deep
def test_long_runs_of_large_clusters_are_played_in_processes_and_come_out_the_same(tmp_path: Path) -> None:
    large = ("simulate", "--dump", str(dumps.write(tmp_path / "large.json", 90)), "--days", "2", "-o", "json")

    assert json.loads(told(*large).stdout) == json.loads(told(*large).stdout)


def test_several_policies_stand_side_by_side(small: tuple[str, ...], tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml")]
    for path in paths:
        path.write_text("nodePools: {web: {enabled: true}}\n", encoding="utf-8")
    document = json.loads(told(*small, *(f"--policy={path}" for path in paths), "-o", "json").stdout)

    assert [run["name"] for run in document["runs"]] == ["autoscaler alone", *map(str, paths)]
    assert document["runs"][1]["cost"] == document["runs"][2]["cost"]


def test_the_json_has_every_figure_and_the_nodes_over_time(small: tuple[str, ...]) -> None:
    document = json.loads(told(*small, "-o", "json").stdout)
    run = document["runs"][0]

    assert document.keys() == {"schema", "cluster", "begins", "days", "runs"}
    assert run["series"][0].keys() == {"at", "nodes", "cost_per_hour", "waiting"}
    assert {"node_hours", "cost", "evictions", "twice", "pending", "longest_wait"} <= run.keys()


def test_markdown_keeps_names_from_being_markup(small: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a|b.yaml"
    path.write_text("nodePools: {web: {enabled: true}}\n", encoding="utf-8")

    assert "a&#124;b.yaml" in told(*small, f"--policy={path}", "-o", "markdown").output


@pytest.mark.parametrize(("expected", "hour"), [(True, "23"), (True, "03"), (False, "12"), (False, "18")])
def test_a_picture_of_the_night_is_shown_to_count_as_the_day(
    small: tuple[str, ...], *, expected: bool, hour: str
) -> None:
    text = told(*small, "--at", f"2026-03-03T{hour}:00:00Z").output

    assert (f"The snapshot is of {hour}:00 UTC" in text) is expected


def test_a_dump_is_played_by_hours_of_a_file(dump: str, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(f"{HEAD}\n{WEB}{',4' * 24}", encoding="utf-8")
    document = json.loads(told("simulate", "--dump", dump, f"--demand={tmp_path / 'h.csv'}", "-o", "json").stdout)

    assert document["runs"][0]["end_nodes"] < 12


@cases(
    "cell",
    ("replicas", "replicas,4"),
    ("cores, of pods of 300 millicores", "cpu,1.2"),
    ("rounded up to whole pods", "cpu,1001m"),
    ("memory, of pods of 768Mi", "memory,3Gi"),
)
def test_hours_may_be_replicas_or_requests(cell: str, dump: str, tmp_path: Path) -> None:
    unit, hour = cell.split(",")
    text = f"workload,unit,0,1,2,…,23\nshop/ReplicaSet/web-5d4f8b,{unit}{f',{hour}' * 24}\n"
    (tmp_path / "h.csv").write_text(text, encoding="utf-8")

    assert read_hours(tmp_path / "h.csv", gather(Sources((Path(dump),))).snapshot) == {WEB: [4] * 24}


WITH_UNITS = f"workload,unit,0,1\n{WEB},"


@cases(
    "expected, text",
    ("empty", "h.csv: is empty; its first line is workload,0,1,2,…,23", ""),
    ("blank", "h.csv: is empty;", "\n \n"),
    ("semicolons of a spreadsheet", "h.csv:1: ; stands between the columns", "workload;0;1;2\n"),
    ("no head", "h.csv:1: the first line names no hours", "shop,1\n"),
    ("unit", ":2: 'pods' is no unit; write replicas, cpu or memory", f"{WITH_UNITS}pods{',1' * 24}"),
    ("no quantity", ":2: hour 0: 'x' is not a quantity", f"{WITH_UNITS}cpu,x{',1' * 23}"),
    ("less than nothing", ":2: hour 0: cpu: -1 is below 0", f"{WITH_UNITS}cpu,-1{',1' * 23}"),
    ("too many pods", ":2: hour 0: 30,000,000 replicas are more than", f"{WITH_UNITS}cpu,9000000{',1' * 23}"),
    ("too few hours with a unit", ":2: 2 hours; write 24", f"{WITH_UNITS}cpu,1,2"),
    ("an empty line", ":2: '' is no unit", WITH_UNITS),
    ("a name alone", ":2: '' is no unit", WITH_UNITS.removesuffix(",")),
    ("unknown", ":2: no pods of a workload 'shop/Deployment/x'", f"{HEAD}\nshop/Deployment/x{',1' * 24}"),
    ("too few hours", ":2: 3 hours; write 24", f"{HEAD}\n{WEB},1,2,3"),
    ("of two days", ":2: 48 hours; write 24", f"{HEAD}\n{WEB}{',1' * 48}"),
    ("no number", ":2: hour 23: 'x' is no number", f"{HEAD}\n{WEB}{',1' * 23},x"),
    ("twice", f":3: '{WEB}' has a line already", "\n".join([HEAD, *[f"{WEB}{',1' * 24}"] * 2])),
    ("too many", ":2: hour 0: 99,999,999 replicas are more than the 100,000 that can be played",
     f"{HEAD}\n{WEB},99999999{',1' * 23}"),
    ("like no name", ":2: no pods of a workload 'nope' are there; write namespace/Deployment/name",
     f"{HEAD}\nnope{',1' * 24}"),
    ("like others by namespace only",
     ":2: no pods of a workload 'shop/Deployment/nope' are there; write namespace/Deployment/name",
     f"{HEAD}\nshop/Deployment/nope{',1' * 24}"),
    ("a letter is missing", f"did you mean {WEB}?", f"{HEAD}\n{WEB[:-1]}{',1' * 24}"),
)  # fmt: skip
def test_a_bad_file_is_named_with_what_to_write(expected: str, text: str, dump: str, tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text(text, encoding="utf-8")
    found = told("simulate", "--dump", dump, "--demand", str(path), code=2).output

    assert expected.replace(" ", "") in "".join(found.split())


@pytest.mark.parametrize(("width", "explained"), [(79, False), (120, True)])
def test_a_narrow_terminal_shows_whole_names_of_policies(width: int, explained: bool) -> None:
    day = DaysView("c", BEGINS, 1, dict.fromkeys(LONG, PLAYED), ())
    with StringIO() as page:
        show(Console(file=page, width=width, highlight=False), parts(day, width))
        text = page.getvalue()

    assert all(Path(name).name in text.splitlines()[1] for name in LONG)
    assert ("nodes on average" in text) is explained


@cases(
    "expected, typed",
    ("time zone", "--time-zone: 'Mars' is not known", ("--time-zone", "Mars")),
    ("boot", "--boot: 'soon'", ("--boot", "soon")),
    ("two clusters", "a dump takes the place of the cluster", ("--context", "prod")),
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    expected: str, typed: tuple[str, ...], small: tuple[str, ...]
) -> None:
    assert expected in told(*small, *typed, code=2).output
