"""`ebb fleet`: many clusters, one table; what cannot be read is a row and no end."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.compute import ENDED, Read, read_all, show
from functions.cli.fleet.prints import table_of
from functions.cli.fleet.sources import ClusterSource
from functions.cli.fleet.view import view_of
from functions.cli.input.options import AnswerFormat, FleetSort
from functions.cli.output.format import use_currency
from functions.cli.plan.scenarios import BOUND
from shared.adapters.process import system_time
from shared.core.records.state import Backoff, Breaker, Reclaimed
from tests.cli import dumps
from tests.cli.fleet.fleets import cluster_path, cut_off, dump, ebb, installation, planned
from tests.cli.running import read_json
from tests.depth import cases

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clusters, and a third that is cut off."""
    folder = tmp_path_factory.mktemp("fleet")
    dump(folder / "a.json", "prod", 24)
    dump(folder / "b.json", "stage", 12)
    cut_off(folder / "bad.json")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four installations: live, in dry run, paused, and one that fails in every way."""
    now = system_time()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("EBB_CLUSTER", raising=False)
    installation(tmp_path, "calm", dry_run=False, reclaimed=(Reclaimed("web", now - HOUR, 3, 2_000_000),))
    installation(tmp_path, "trial")
    installation(tmp_path, "held", paused=True, pause_reason="release week")
    installation(
        tmp_path,
        "sick",
        last_pass=now - 5 * HOUR,
        breakers={"web": Breaker(now + HOUR, "shop/api found no place")},
        backoffs={"u": Backoff("n1", now + HOUR, HOUR, "deadline")},
    )
    return tmp_path


def shown(*args: str | Path) -> dict[str, Any]:
    return read_json("fleet", *args)


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    """Return the JSON of the folder as the command prints it."""
    return shown("--dump", folder)


@pytest.fixture(scope="module")
def results(folder: Path) -> tuple[SourceResult, ...]:
    return planned(folder / "a.json", folder / "b.json", folder / "bad.json")


def row(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (cluster for cluster in found["clusters"] if name in cluster["cluster"])
    return dict(one)


@pytest.mark.workers
def test_each_cluster_has_the_figures_that_it_has_alone(folder: Path, found: dict[str, Any]) -> None:
    for name, file in (("prod", "a.json"), ("stage", "b.json")):
        alone = read_json("plan", "--dump", folder / file)
        one = row(found, name)
        for key in ("ladder", "totals", "pools", "holds", "prices", "taken_at", "dry_run", "partial"):
            assert one[key] == alone[key], key


def test_what_cannot_be_read_is_a_row_with_its_sentence_and_the_others_are_read(folder: Path) -> None:
    result = ebb("fleet", "--dump", folder)
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    at = next(number for number, line in enumerate(lines) if line.startswith("bad.json"))
    assert lines[at].endswith("not read")
    assert "is cut off; " in lines[at + 1]
    assert lines[at + 2].startswith("all 2 that were read")
    assert lines[-1].startswith("1 of 3 clusters could not be read. Ebb adds ")


def test_the_sum_is_that_of_the_rows_and_of_the_same_dumps_in_a_plan(folder: Path, found: dict[str, Any]) -> None:
    plan = read_json("plan", "--dump", folder / "a.json", folder / "b.json")
    assert found["ladder"] == plan["ladder"]
    assert {name: found["totals"][name] for name in plan["totals"]} == plan["totals"]
    assert (found["totals"]["clusters"], found["totals"]["not_read"]) == (2, 1)


def test_each_row_has_the_money_of_that_clusters_plan_and_the_sum_is_that_of_the_rows(
    folder: Path, results: tuple[SourceResult, ...]
) -> None:
    view = view_of(results, ())
    own = [ebb("plan", "--dump", folder / name).stdout.splitlines() for name in ("a.json", "b.json")]
    *table, total = [[cells[1], *cells[3:8]] for cells in table_of(view, None).rows if "bad" not in cells[0]]
    for told, (_, now, alone, rest, bound, _) in zip(own, table, strict=True):
        assert f"for {now} a month; " in told[-1]
        assert f"for {alone}; " in told[-1]
        assert f"for {rest}" in told[-1].partition("with Ebb")[2]
        assert bound in next(line for line in told if line.startswith(BOUND))
    whole = [int(cell[1:].replace(",", "")) for cell in total]
    assert whole == [sum(int(cell[1:].replace(",", "")) for cell in column) for column in zip(*table, strict=True)]
    assert [f"for {amount}" in view.headline for amount in total[1:4]] == [True] * 3
    assert [*table_of(view, None).rows][-1][2] == "36"


def test_what_holds_is_summed_over_all_clusters_the_most_money_first(found: dict[str, Any]) -> None:
    for held in found["holds"]:
        parts = [hold for name in ("prod", "stage") for hold in row(found, name)["holds"]]
        own = [part for part in parts if (part["reason"], part["of"]) == (held["reason"], held["of"])]
        assert held["nodes"] == sum(part["nodes"] for part in own)
        assert [cluster["nodes"] for cluster in held["clusters"]] == sorted(
            (part["nodes"] for part in own), reverse=True
        )
    for kind in ("node", "pod"):
        money = [hold["cost_per_hour"] for hold in found["holds"] if hold["of"] == kind]
        assert money == sorted(money, reverse=True)


@cases(
    "expected, sort",
    ("what is saved", ["prod", "stage", "bad.json"], FleetSort.SAVED),
    ("what it costs", ["prod", "stage", "bad.json"], FleetSort.COST),
    ("names", ["bad.json", "prod", "stage"], FleetSort.NAME),
    ("what is wrong", ["bad.json", "prod", "stage"], FleetSort.STATE),
)
def test_rows_are_sorted_by(expected: list[str], sort: FleetSort, results: tuple[SourceResult, ...]) -> None:
    view = view_of(results, (), sort)
    assert [row.cluster.split()[0] for row in view.rows] == expected


def test_top_lists_the_first_and_what_could_not_be_read_and_sums_stay_whole(
    results: tuple[SourceResult, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    show(view_of(results, ()), AnswerFormat.TABLE, 1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["prod", "bad.json"]
    assert lines[4].startswith("… 1 more")
    assert (lines[5].split()[:5], lines[5].split()[6]) == (["all", "2", "that", "were", "read"], "36")


def test_markdown_has_the_same_rows_and_no_name_is_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(view_of(planned(dump(tmp_path / "a|<img src=x>@team.json", "prod")), ()), AnswerFormat.MARKDOWN, None)
    page = capsys.readouterr().out
    assert "<img" not in page
    assert "@team" not in page
    heads, sides, first = page.splitlines()[:3]
    assert heads.count("|") == sides.count("|") == first.count("|") == 9


def test_two_readings_of_one_cluster_count_once(tmp_path: Path) -> None:
    monday, tuesday = (dump(tmp_path / name, "prod") for name in ("monday.json", "tuesday.json"))
    tuesday.write_text(tuesday.read_text().replace("2026-03-04T22:00:00Z", "2026-03-05T22:00:00Z"))
    view = view_of(planned(monday, tuesday), ())
    assert [row.source for row in view.rows] == ["tuesday.json"]
    assert "(monday.json) is the same cluster as tuesday.json and was read earlier" in view.notes[-1]
    assert view.not_read == 0


def test_clusters_that_share_uids_of_nodes_are_as_many_as_in_a_plan(tmp_path: Path) -> None:
    """Two copies of one dump, in which only the UID of kube-system differs."""
    one, other = (dump(tmp_path / f"{name}.json", "prod") for name in ("one", "other"))
    other.write_text(other.read_text().replace('"uid": "prod"', '"uid": "stage"'))
    plans = read_json("plan", "--dump", one, "--dump", other)["clusters"]
    view = view_of(planned(one, other), ())
    assert (len(view.rows), len(plans)) == (2, 2)


def test_a_folder_in_a_folder_is_one_cluster_also_of_a_file_a_kind(tmp_path: Path) -> None:
    for name in ("prod", "stage"):
        (tmp_path / name).mkdir()
        items = json.loads(dump(tmp_path / name / "all.json", name).read_text())["items"]
        (tmp_path / name / "all.json").unlink()
        for kind in {item["kind"] for item in items}:
            dumps.write_items(tmp_path / name / f"{kind}.json", (item for item in items if item["kind"] == kind))
    totals = shown("--dump", tmp_path)["totals"]
    assert (totals["clusters"], totals["not_read"]) == (2, 0)


def test_installations_are_shown_by_state_and_policy_alone(home: Path) -> None:
    found = shown("--installations", "--state-only")
    modes = {cluster["installation"]["name"]: cluster["installation"]["mode"] for cluster in found["clusters"]}
    assert modes == {"calm": "live", "trial": "dry_run", "held": "paused", "sick": "dry_run"}
    counts = {name: found["totals"][name] for name in ("installations", "live", "dry_run", "paused", "failing")}
    assert counts == {"installations": 4, "live": 1, "dry_run": 2, "paused": 1, "failing": 1}
    troubles = [trouble["trouble"] for trouble in row(found, "sick")["installation"]["troubles"]]
    assert troubles == ["no_pass", "breaker", "backoffs"]
    assert row(found, "calm")["installation"]["saved_per_hour"] == 2.0
    assert home.exists()


@cases(
    "sentence",
    ("why it is paused", "Paused: release week"),
    ("no pass for long", "15m"),
    ("an open breaker", "No drain starts in web until"),
    ("back-offs", "1 node is left alone after failed drains"),
)
@pytest.mark.usefixtures("home")
def test_what_is_wrong_stands_below_its_row(sentence: str) -> None:
    result = ebb("fleet", "--installations", "--state-only", "--sort", "state")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[0] == "sick"
    assert sentence in result.stdout
    assert "1 live, 2 dry run, 1 paused, 1 failing" in result.stdout


def test_an_invalid_policy_is_a_trouble_and_a_broken_profile_or_state_a_row(home: Path) -> None:
    (home / "calm.yaml").write_text("dryRun: perhaps")
    (home / "ebb" / "broken.env").write_text("rm -rf /")
    (home / "trial.state").write_text("no database")
    result = ebb("fleet", "--installations", "--state-only", "-o", "json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [trouble["trouble"] for trouble in row(found, "calm")["installation"]["troubles"]] == ["policy"]
    assert "is no variable of Ebb's" in row(found, "broken")["faults"][0]
    assert row(found, "trial")["faults"]
    assert found["totals"]["not_read"] == 2


def test_a_dump_finds_its_installation_and_is_planned_under_its_policy(home: Path, tmp_path: Path) -> None:
    (home / "calm.yaml").write_text("dryRun: false\nnodePools: {web-pool: {enabled: true}}\n")
    (tmp_path / "dumps").mkdir()
    dump(tmp_path / "dumps" / "d.json", "calm")
    found = shown("--dump", tmp_path / "dumps", "--cluster", "calm", "--state-only")
    (one,) = found["clusters"]
    assert one["cluster"] == "calm europe-west4 p (d.json)"
    assert one["installation"]["cluster"] == cluster_path("calm")
    assert one["policy_hash"]
    assert "pool_disabled" in {hold["reason"] for hold in one["holds"]}


@cases(
    "expected, args",
    ("nothing", "Which clusters?", ()),
    ("stdin", "stdin holds one cluster", ("--dump", "-")),
    ("a folder that is not there", "does not exist", ("--dump", "gone")),
    ("a folder without dumps", "holds no .json", ("--dump", "EMPTY")),
    ("state of dumps", "--state-only: it is of installations", ("--dump", "EMPTY", "--state-only")),
    ("an installation that is not there", "no file", ("--cluster", "gone")),
    ("no installation at all", "there is no profile yet", ("--installations",)),
)
def test_what_was_typed_wrong_is_refused(
    expected: str, args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    result = ebb("fleet", *(str(tmp_path) if word == "EMPTY" else word for word in args))
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_policy_with_faults_ends_it_for_it_would_be_wrong_for_all(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("dryRun: perhaps")
    result = ebb("fleet", "--dump", folder, "--policy", tmp_path / "p.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "dryRun" in result.stderr


@pytest.mark.parametrize("output", list(AnswerFormat))
def test_a_fleet_of_which_nothing_could_be_read_is_shown_all_the_same(
    output: AnswerFormat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(view_of(planned(folder / "bad.json"), ()), output, None)
    assert "bad.json" in capsys.readouterr().out


def test_money_is_shown_in_the_currency_of_the_prices_wherever_it_was_planned(folder: Path) -> None:
    args = ("--dump", folder / "b.json", "--currency", "EUR=0.92")
    assert "EUR " in ebb("fleet", *args).stdout
    assert "$" not in ebb("fleet", *args).stdout
    use_currency("USD")


BAD = "bad"
NAMES = ("a", BAD, "b", "c")


def end_process(source: ClusterSource) -> SourceResult:
    """End the process as a kernel without memory does."""
    if source.name == BAD:
        os._exit(137)
    return SourceResult(source)


def have_a_fault(source: ClusterSource) -> SourceResult:
    if source.name == BAD:
        raise KeyError(source.name)
    return SourceResult(source)


@pytest.mark.workers
@cases(
    "expected, read",
    ("its process is ended", ENDED, end_process),
    ("a fault of ours", "It could not be planned (KeyError: 'bad')", have_a_fault),
)
def test_all_others_are_read(expected: str, read: Read) -> None:
    results = {
        result.source.name: result.faults for result in read_all([ClusterSource(name) for name in NAMES], read, 2)
    }
    assert results.keys() == set(NAMES)
    assert results.pop(BAD)[0].startswith(expected)
    assert set(results.values()) == {()}


@pytest.mark.workers
def test_nothing_to_read_is_no_fault() -> None:
    assert list(read_all((), end_process, 4)) == []
