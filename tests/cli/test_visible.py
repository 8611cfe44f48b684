"""A dump is made to be shared: no name in it steers the terminal, the page or the comment that it is shown in."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from rich.text import Text

from functions.cli.output.visible import visible, visible_lines
from shared.adapters.prices import OWN_TABLE
from tests.cli import dumps
from tests.cli.running import ebb, read_json
from tests.depth import cases

STEERING: Final = "\x1b]0;owned\x07\x1b[31m\u202e\u2066\x9b\nkeep  \r"
SHOWN: Final = r"\x1b]0;owned\x07\x1b[31m\u202e\u2066\x9b\nkeep  \r"
HARM: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def _hostile(number: int) -> str:
    return f"{dumps.name_of(number)}{STEERING}"


def _items() -> list[dict[str, Any]]:
    """Twelve nodes whose names, pools, zones, machines, pods, workloads, namespaces and budgets all steer."""
    text = json.dumps(list(dumps.items(12)))
    names = (*(dumps.name_of(number) for number in range(12)), *dumps.POOLS, "shop", "bare-3", "web-5d4f8b",
             "db-5d4f8b", "e2-standard-4", "europe-west4-a")  # fmt: skip
    for name in names:
        text = text.replace(f'"{name}"', json.dumps(f"{name}{STEERING}"))
    found: list[dict[str, Any]] = json.loads(text)
    for item in found:
        if item["kind"] == "PodDisruptionBudget":
            item["metadata"]["name"] += STEERING
    return found


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumps.write_items(tmp_path_factory.mktemp("hostile") / "c.json", _items())


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ebb's own table, in which the machine whose name steers has a price: changes are ranked by money."""
    table = yaml.safe_load(Path(OWN_TABLE).read_text())
    table["machines"][f"e2-standard-4{STEERING}"] = 0.13
    path = tmp_path_factory.mktemp("prices") / "prices.json"
    path.write_text(json.dumps(table, default=str))
    return path


def _run(*words: str | Path) -> str:
    shown = ebb(*words)
    assert shown.exit_code in (0, 1, 2), shown.output
    assert shown.exception is None or isinstance(shown.exception, SystemExit), shown.exception
    return shown.output


@cases(
    "words",
    ("plan", ("plan",)),
    ("its nodes", ("plan", "--nodes")),
    ("as markdown", ("plan", "--nodes", "-o", "markdown")),
    ("a pool that is not there", ("plan", "--pool", "none\x1b[31m")),
    ("a node", ("explain", _hostile(1))),
    ("a pod", ("explain", f"shop{STEERING}/{'bare-3'}{STEERING}")),
    ("a workload", ("explain", f"shop{STEERING}/db-5d4f8b{STEERING}")),
    ("which node is meant", ("explain", STEERING)),
    ("why-not", ("why-not",)),
    ("fleet", ("fleet",)),
    ("fleet as markdown", ("fleet", "-o", "markdown")),
    ("report", ("report", "--out", "-")),
    ("a first policy", ("policy", "init")),
)
def test_no_name_of_a_dump_steers_who_reads_it(dump: Path, prices: Path, words: tuple[str, ...]) -> None:
    priced = ("--prices", str(prices)) if words == ("why-not",) else ()
    told = _run(*words, *priced, "--dump", dump)
    assert HARM.findall(told) == []
    assert not [line for line in told.splitlines() if line.startswith("keep  ")]
    assert r"\x1b" in unescape(told)


def test_the_page_of_a_fleet_shows_them_too(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    _run("fleet", "--dump", dump, "--out", page)
    assert HARM.findall(page.read_text()) == []


def test_json_keeps_names_as_they_are(dump: Path) -> None:
    assert {node["name"] for node in read_json("plan", dump)["nodes"]} == {_hostile(number) for number in range(12)}


def test_each_is_shown_as_python_writes_it() -> None:
    assert visible(STEERING) == SHOWN
    assert visible_lines("a\nb\x1b") == "a\nb\\x1b"
    assert visible(str(Text("größer … → ≥ é"))) == "größer … → ≥ é"
    assert visible("\ud800") == r"\ud800"
