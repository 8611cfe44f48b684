"""Dumps of several clusters give a report of each and their sum; no pod moves from one cluster to another."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli import dumps
from tests.cli.fleet.fleets import dump
from tests.cli.running import ebb, read_json
from tests.depth import cases


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return dump(tmp_path / "a.json", "prod", 60), dump(tmp_path / "b.json", "stage", 24)


def plan(*args: str | Path) -> dict[str, Any]:
    return read_json("plan", *args)


@cases("typed", ("--dump repeated", "repeated"), ("what a shell makes of *", "files"), ("a folder", "folder"))
def test_each_cluster_has_the_report_that_it_has_alone(typed: str, two: tuple[Path, Path]) -> None:
    alone = [plan("--dump", path, "--potential") for path in two]
    named = {"repeated": (two[0], "--dump", two[1]), "files": two, "folder": (two[0].parent,)}[typed]
    together = plan("--dump", *named, "--potential")
    assert [{**one, "cluster": ""} for one in together["clusters"]] == [{**one, "cluster": ""} for one in alone]
    names = ["prod europe-west4 p (a.json)", "stage europe-west4 p (b.json)"]
    assert [one["cluster"] for one in together["clusters"]] == names


def test_markdown_and_yaml_keep_the_clusters_apart_too(two: tuple[Path, Path]) -> None:
    page = ebb("plan", "--dump", two[0], "--dump", two[1], "-o", "markdown").stdout
    assert [line.split(" ")[1] for line in page.splitlines() if line.startswith("# ")] == ["prod", "stage"]
    assert "| **all** | " in page.splitlines()[-5]
    assert page.splitlines()[-1].startswith("**Ebb adds ")
    assert yaml.safe_load(ebb("plan", "--dump", *two, "-o", "yaml").stdout)["totals"]["nodes"] == 84


def test_the_markdown_of_one_cluster_begins_with_its_name(two: tuple[Path, Path]) -> None:
    assert ebb("plan", "--dump", two[0], "-o", "markdown").stdout.startswith(f"# {two[0].name}\n\n")


def test_the_name_of_a_cluster_is_no_markdown(two: tuple[Path, Path]) -> None:
    hostile = two[1].rename(two[1].with_name("b|<img src=x>@team.json"))
    page = ebb("plan", "--dump", two[0], "--dump", hostile, "-o", "markdown").stdout
    assert "<img" not in page
    assert "@team" not in page
    assert {line.count("|") for line in page.splitlines()[-9:-4]} == {9}


def test_the_total_is_the_sum(two: tuple[Path, Path]) -> None:
    shown = plan("--dump", two[0], "--dump", two[1])
    totals = [one["totals"] for one in shown["clusters"]]
    assert shown["totals"]["clusters"] == 2
    assert shown["totals"]["nodes"] == 84
    for number, scenario in enumerate(shown["ladder"][:3]):
        parts = [one["ladder"][number] for one in shown["clusters"]]
        assert scenario["nodes"] == sum(part["nodes"] for part in parts)
        assert scenario["cost_per_month"] == pytest.approx(sum(part["cost_per_month"] for part in parts), abs=0.02)
    assert shown["totals"]["cost_per_hour"] == pytest.approx(sum(total["cost_per_hour"] for total in totals))


def test_a_table_ends_with_a_row_a_cluster_with_the_money_of_its_report_and_their_sum(two: tuple[Path, Path]) -> None:
    *_, heads, first, second, total, _, _, headline = ebb("plan", *two, "--potential").stdout.splitlines()
    own = [ebb("plan", path).stdout.splitlines()[-1] for path in two]
    rows = [[int(cell[1:].replace(",", "")) for cell in line.split() if "$" in cell] for line in (first, second, total)]

    assert heads.split()[:2] == ["2", "clusters"]
    assert (first.split()[0], second.split()[0], total.split()[0], total.split()[2]) == ("prod", "stage", "all", "84")
    assert [one + other for one, other in zip(rows[0], rows[1], strict=True)] == rows[2]
    for (adds, now, alone, rest, *_), told in zip(rows, (*own, headline), strict=True):
        assert adds == alone - rest
        assert f"for ${now:,} a month; autoscaler alone" in told
        assert f"for ${alone:,}; " in told
        assert f"for ${rest:,}" in told.partition("with Ebb")[2]


def test_a_command_about_one_cluster_shows_which_were_named(two: tuple[Path, Path]) -> None:
    shown = ebb("explain", dumps.name_of(1), "--dump", two[0], "--dump", two[1])
    assert shown.exit_code == 2
    assert "--dump: 2 clusters (prod" in shown.stderr


def test_a_partial_cluster_is_not_summed_up_as_a_whole_one(two: tuple[Path, Path]) -> None:
    found = json.loads(two[1].read_text())
    found["items"] = [
        item for item in found["items"] if item["kind"] != "Pod" or item["metadata"]["namespace"] != "kube-system"
    ]
    two[1].write_text(json.dumps(found))
    *_, second, total, _, _, headline = ebb("plan", "--dump", two[0], "--dump", two[1]).stdout.splitlines()
    assert second.split()[-4:] == ["unknown"] * 4
    assert total.startswith("all (partial)")
    assert headline.startswith("Partial: 1 of 2 clusters. Ebb adds ")
    assert "Now 60 nodes for $" in headline


def test_nodes_without_a_price_are_not_in_the_sentence_about_money(two: tuple[Path, Path]) -> None:
    two[1].write_text(two[1].read_text().replace('"e2-standard-4"', '"m5.xlarge"'))
    *_, total, _, _, headline = ebb("plan", "--dump", two[0], "--dump", two[1]).stdout.splitlines()
    assert total.split()[2] == "84"
    assert "Now 60 nodes for $" in headline
    assert "24 nodes" in headline.rpartition("; with Ebb ")[2]


def test_of_two_snapshots_of_one_cluster_the_newer_counts_and_one_line_shows_it(tmp_path: Path) -> None:
    old = dumps.write(tmp_path / "old.json", 12)
    new = tmp_path / "new.json"
    new.write_text(old.read_text().replace("web-5d4f8b-", "web-6e5a9c-").replace(dumps.NEWEST, "2026-03-04T23:00:00Z"))

    both, alone = plan("--dump", new, "--dump", old), plan("--dump", new)

    assert {**both, "cluster": None} == {**alone, "cluster": None}
    said = [line for line in ebb("plan", "--dump", new, "--dump", old).stdout.splitlines() if "snapshots" in line]
    assert len(said) == 1
    assert said[0].index("22:00:00 UTC (old.json)") < said[0].index("23:00:00 UTC (new.json)")
