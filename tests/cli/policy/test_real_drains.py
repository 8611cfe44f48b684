"""The first line of `ebb policy diff`: which real drains begin, of how many nodes at most, and from when."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.input.inputs import Inputs, gather
from functions.cli.input.options import Sources, instant
from functions.cli.policy.comparing import drains_of
from functions.cli.policy.diff import UNKNOWN, DrainChange, DrainsCompared, RealDrains
from shared.core.policy.parsing import parse
from tests.builders import NOW
from tests.cli import dumps
from tests.cli.test_main import ebb

AT: Final = "2026-03-05T12:00:00Z"
NIGHT: Final = 'windows: [{schedule: "0 20 * * *", duration: 4h, timeZone: UTC}]'
LIVE: Final = f"""
dryRun: false
cluster: {{timeSinceLastAddition: 1m, timeGap: 0s}}
defaults: {{excessNodesThreshold: 0, maxNodesPerPass: 9, disruption: {{budgets: [{{nodes: 3}}], {NIGHT}}}}}
nodePools: {{default-pool: {{enabled: true}}, web-pool: {{enabled: true}}}}
"""
DRY, PAUSED = LIVE.replace("dryRun: false", "dryRun: true"), f"paused: true{LIVE}"
LATE, TIGHT = LIVE.replace("0 20", "0 22"), LIVE.replace("nodes: 3", "nodes: 1")
ONE_POOL: Final = LIVE.replace("web-pool: {enabled: true}", "web-pool: {enabled: false}")
DISABLED: Final = ONE_POOL.replace("enabled: true", "enabled: false")


def drains(*minutes: int, is_rest: bool = True) -> RealDrains:
    begins = {f"n{number}": NOW + timedelta(minutes=minute) for number, minute in enumerate(minutes)}
    return RealDrains(begins=begins, is_rest=is_rest)


OFF: Final = RealDrains("dryRun is true")
UNKNOWN_DRAINS: Final = RealDrains(begins=None)


@pytest.mark.parametrize(
    ("expected", "before", "after"),
    [
        pytest.param(DrainChange.NONE, OFF, OFF, id="a dry run as before"),
        pytest.param(DrainChange.NONE, OFF, drains(), id="nothing that may go"),
        pytest.param(DrainChange.SAME, drains(5, 9), drains(5, 9), id="the same"),
        pytest.param(DrainChange.STARTS, OFF, drains(5), id="no dry run any more"),
        pytest.param(DrainChange.STARTS, drains(), drains(5), id="something may go now"),
        pytest.param(DrainChange.STARTS, OFF, UNKNOWN_DRAINS, id="of a cluster that nobody knows"),
        pytest.param(DrainChange.STOPS, drains(5), OFF, id="a dry run again"),
        pytest.param(DrainChange.STOPS, UNKNOWN_DRAINS, OFF, id="a dry run of what nobody knows"),
        pytest.param(DrainChange.MORE, drains(5, 9), drains(5, 9, 90), id="more nodes"),
        pytest.param(DrainChange.MORE, drains(9), drains(5), id="earlier"),
        pytest.param(DrainChange.MORE, drains(5, 90), drains(5, 6), id="faster"),
        pytest.param(DrainChange.FEWER, drains(5, 9), drains(5), id="fewer nodes"),
        pytest.param(DrainChange.FEWER, drains(5, 6), drains(5, 90), id="slower"),
        pytest.param(DrainChange.OTHER, drains(5), drains(9, 10), id="more and later"),
        pytest.param(DrainChange.OTHER, drains(5, 9), drains(5, 8), id="other times"),
        pytest.param(DrainChange.UNKNOWN, UNKNOWN_DRAINS, UNKNOWN_DRAINS, id="two that nobody knows"),
    ],
)
def test_a_change_is_named_by_what_becomes_of_the_drains(
    expected: DrainChange, before: RealDrains, after: RealDrains
) -> None:
    assert DrainsCompared(before, after, NOW).change is expected


def test_a_forecast_that_ends_early_names_no_most() -> None:
    assert drains(5, 9).figures(NOW).startswith("up to 2 nodes, from 22:05 UTC on")
    assert drains(5, 9, is_rest=False).figures(NOW).startswith("2 nodes or more, ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drains")
    dumps.write(folder / "dump.json", 24)
    return folder


@pytest.fixture(scope="module")
def inputs(folder: Path) -> Inputs:
    return gather(Sources((folder / "dump.json",), at=instant(AT)))


def compared(folder: Path, old: str, new: str, *options: str | Path) -> dict[str, Any]:
    (folder / "old.yaml").write_text(old)
    (folder / "new.yaml").write_text(new)
    done = ebb("policy", "diff", folder / "old.yaml", folder / "new.yaml", "-o", "json", *options)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("change", "first", "old", "new"),
    [
        pytest.param("starts", "20:00", DRY, LIVE, id="no dry run any more"),
        pytest.param("starts", "20:00", PAUSED, LIVE, id="no pause any more"),
        pytest.param("starts", "20:00", DISABLED, LIVE, id="the first pools enabled"),
        pytest.param("more", "20:00", ONE_POOL, LIVE, id="another pool enabled"),
        pytest.param("more", "20:00", LATE, LIVE, id="a wider window"),
        pytest.param("more", "20:00", TIGHT, LIVE, id="a wider budget"),
        pytest.param("fewer", "22:00", LIVE, LATE, id="a narrower window"),
        pytest.param("stops", None, LIVE, DRY, id="a dry run"),
        pytest.param("stops", None, LIVE, PAUSED, id="a pause"),
        pytest.param("none", None, DRY, PAUSED, id="from a dry run to a pause"),
    ],
)
def test_every_setting_that_lets_drains_begin_or_end_is_seen(
    change: str, first: str | None, old: str, new: str, inputs: Inputs
) -> None:
    found = drains_of(inputs, *(parse(text.encode()) for text in (old, new)))
    assert found.change == change
    assert (found.after.first and f"{found.after.first:%m-%d %H:%M}") == (first and f"03-05 {first}")
    assert bool(found.after.nodes) is bool(first)


def test_what_the_autoscaler_might_take_first_is_among_the_nodes_at_most(folder: Path) -> None:
    """The nodes of this dump are below the autoscaler's gate: the steady state leaves them all to it."""
    found = compared(folder, DRY, LIVE, "--dump", folder / "dump.json", "--at", AT)
    steady = found["ladder"]["after"][2]
    assert (steady["rung"], steady["by"]) == ("policy_at_rest", None)
    assert found["drains"]["after"]["nodes"] > 0


@pytest.mark.parametrize(("output", "line"), [("table", 0), ("markdown", 2)])
def test_it_is_the_first_thing_to_read(output: str, line: int, folder: Path) -> None:
    options = ("--dump", folder / "dump.json", "--at", AT)
    sentence = compared(folder, DRY, LIVE, *options)["drains"]["sentence"]
    shown = ebb("policy", "diff", folder / "old.yaml", folder / "new.yaml", "-o", output, *options).stdout
    assert shown.splitlines()[line].strip("*") == sentence


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        pytest.param("starts", DRY, LIVE, id="no dry run any more"),
        pytest.param("stops", LIVE, DRY, id="a dry run"),
        pytest.param("unknown", LATE, LIVE, id="a wider window"),
    ],
)
def test_without_a_cluster_it_is_known_only_whether_any_begin(change: str, old: str, new: str, folder: Path) -> None:
    found = compared(folder, old, new)["drains"]
    assert (found["change"], found["after"]["from"]) == (change, None)


def test_of_a_cluster_that_is_not_whole_no_number_is_shown(folder: Path, tmp_path: Path) -> None:
    items = [item for item in dumps.items(12) if item["metadata"].get("namespace") != "kube-system"]
    (tmp_path / "d.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = compared(folder, DRY, LIVE, "--dump", tmp_path / "d.json")["drains"]
    assert (found["change"], found["after"]["nodes"]) == ("starts", None)
    assert UNKNOWN in found["sentence"]
