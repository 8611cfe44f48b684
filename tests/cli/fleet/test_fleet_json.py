"""What docs/fleet.md says of the fleet's JSON: every key is told, and no other."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.fleet.installations import Mode, Trouble
from functions.cli.fleet.prints import document
from functions.cli.fleet.view import view_of
from tests.cli.fleet.fleets import asked, cut_off, dump, installation, planned
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
    words = {*(each.value for each in Mode), *(each.value for each in Trouble), "trouble", "sentence"}
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


def test_a_fleet_of_nothing_read_is_a_document_too(tmp_path: Path) -> None:
    found = document(view_of(planned(cut_off(tmp_path / "bad.json")), ()))
    assert (found["ladder"], found["totals"]["nodes"], found["totals"]["not_read"]) == ([], 0, 1)
