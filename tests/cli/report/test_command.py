"""`ebb report` as a person types it: where the page goes, what is said, and what is refused."""

import json
import re
from pathlib import Path

import pytest

from functions.cli.report.compute import draw_report
from infra.archive import source_files
from tests.browser.pictures import FOLDER, PICTURES
from tests.cli import dumps
from tests.cli.report import reports
from tests.cli.running import ebb, read_json
from tests.depth import cases
from tests.pages import DOCS, rows


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return dumps.write(tmp_path / "cluster.json", 8)


def test_the_page_is_written_and_the_headline_shown(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    ended = ebb("report", "--dump", dump, "--out", out)

    first, second = ended.stdout.splitlines()
    assert ended.exit_code == 0
    assert first.startswith("Ebb adds ")
    assert second.startswith(f"{out}: ")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_that_is_given_no_place_is_written_here(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ebb("report", "--dump", dump)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.json", "ebb-report.html"]


def test_its_data_is_json_on_stdout_or_in_a_file(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("report", "--dump", dump, "--output", "json")
    printed = ebb(*words).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]

    ebb(*words, "--out", "report.json")
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == printed
    assert json.loads(printed)["report"]["schema"] == 1


def test_money_is_that_of_the_options(dump: Path) -> None:
    told = read_json("report", dump, "--discount", "50%", "--currency", "EUR=2")
    full = read_json("report", dump)

    assert told["report"]["ladder"][0]["month"].startswith("EUR ")
    assert told["report"]["ladder"][0]["cost"] == pytest.approx(full["report"]["ladder"][0]["cost"] / 2, abs=8)


@cases(
    "said, out",
    ("no folder", "--out: nowhere/report.html cannot be written (No such file or directory).", "nowhere/report.html"),
    ("a folder", "--out: . cannot be written (Is a directory).", "."),
)
def test_a_place_that_cannot_be_written_is_a_sentence(
    said: str, out: str, dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = ebb("report", "--dump", dump, "--out", out)
    assert (ended.exit_code, ended.stderr) == (2, f"ebb: {said}\n")


def test_the_functions_archive_knows_nothing_of_it() -> None:
    assert [name for name in source_files() if "report" in name or not name.endswith((".py", ".txt", ".yaml"))] == []


TEXT = (DOCS / "report.md").read_text(encoding="utf-8")
MOST_BYTES = 300_000


def test_every_key_is_shown_and_no_other(tmp_path: Path) -> None:
    told = {word for cells in rows(TEXT, "| key of `report` | holds |") for word in re.findall(r"`(\w+)`", cells[0])}
    assert told == reports.told(reports.shop(tmp_path, 6))["report"].keys()


def test_every_section_is_shown_in_its_order(tmp_path: Path) -> None:
    titles = re.findall(r"<h2>(.*?)</h2>", draw_report(reports.told(reports.shop(tmp_path, 6))))
    told = [cells[0] for cells in rows(TEXT, "| section | what it shows |")]
    assert told == titles


def test_the_pictures_are_there_and_small() -> None:
    for page in sorted({name.shown_in for name in PICTURES.values()}):
        text = (DOCS / page).read_text(encoding="utf-8")
        own = [name for name, picture in PICTURES.items() if picture.shown_in == page]
        assert re.findall(r"\]\(pictures/([\w.-]+)\)", text) == own
    assert sorted(path.name for path in FOLDER.glob("*.png")) == sorted(PICTURES)
    assert [path.name for path in FOLDER.iterdir() if path.stat().st_size > MOST_BYTES] == []
