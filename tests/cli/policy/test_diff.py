"""`ebb policy diff`: the same cluster under two policies, and which real drains begin, how many at most, and when."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import Result

from functions.cli.input.inputs import Inputs, all_marked, gather
from functions.cli.input.options import Sources, instant
from functions.cli.policy.comparing import drains_of
from functions.cli.policy.diff import (
    NOTHING,
    SAME,
    SETTINGS_ONLY,
    UNKNOWN,
    DrainChange,
    DrainsCompared,
    PolicyChange,
    RealDrains,
    settings,
    verdicts,
)
from shared.core.planning.plan import Verdict
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.parsing import parse
from tests.builders import NOW, cluster, node
from tests.cli import dumps
from tests.cli.plan.plans import busy, decision, ordered, plan
from tests.cli.running import ebb
from tests.depth import cases

ON, OFF = PoolPolicy(enabled=True), PoolPolicy()
OLD = """
cluster: {timeSinceLastAddition: 1m}
nodePools: {default-pool: {enabled: true, excessNodesThreshold: 0}, web-pool: {enabled: true}}
"""
NEW = OLD.replace("web-pool: {enabled: true}", "web-pool: {enabled: false}")


@cases(
    "expected, old, new",
    ("nothing but the hash", (), Policy(hash="a"), Policy(hash="b")),
    ("the cluster's", (PolicyChange("cluster", "dryRun", "true", "false"),), Policy(), Policy(dry_run=False)),
    ("a pool left out", (PolicyChange("pool a", "enabled", "true", "false"),), Policy(pools={"a": ON}), Policy()),
    ("a new pool", (PolicyChange("pool a", "enabled", "false", "true"),), Policy(), Policy(pools={"a": ON})),
    ("a disabled pool left out", (), Policy(pools={"a": OFF}), Policy()),
    ("a timer", (PolicyChange("pool a", "disruption.consolidateAfter", "5m", "10m"),), Policy(pools={"a": ON}),
     Policy(pools={"a": replace(ON, consolidate_after=timedelta(minutes=10))})),
    ("a default that is written, and binds at any time",
     (PolicyChange("pool a", "excessNodesThreshold", "2 until demand has fallen", "2"),), Policy(pools={"a": ON}),
     Policy(pools={"a": replace(ON, written=frozenset({"excess_threshold"}))})),
    ("what holds for pools that are not named", (PolicyChange("every other pool", "headroom", "5%", "8%"),), Policy(),
     Policy(other_pools=PoolPolicy(headroom_percent=8))),
)  # fmt: skip
def test_the_settings_that_differ_are_named(expected: tuple[PolicyChange, ...], old: Policy, new: Policy) -> None:
    assert settings(old, new) == expected


def test_the_verdicts_that_differ_are_named_and_no_other() -> None:
    before = plan(ordered("n1"), busy("n2"), decision("n3", Verdict.IN_FLIGHT, reason="order"))
    after = plan(busy("n1"), busy("n2"), decision("n3", Verdict.IN_FLIGHT, reason="order"))
    assert verdicts(before, after) == (PolicyChange("a", "n1", "would order: underutilized", "keep: cpu_above_limit"),)


def test_marks_of_long_ago_are_older_than_any_policy_may_ask() -> None:
    snapshot = cluster([node("n1"), node("n2", pool="b")])
    marks = all_marked(snapshot)
    assert set(marks) == {"a", "b"}
    assert snapshot.taken_at - marks["a"].marks["uid-n1"].since > timedelta(days=3660)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    dumps.write(folder / "dump.json", 12)
    dumps.write(folder / "two_dozen.json", 24)
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(NEW)
    return folder


def diff(folder: Path, old: str, new: str, *options: str) -> Result:
    return ebb("policy", "diff", folder / old, folder / new, "--dump", folder / "dump.json", *options)


@cases(
    "expected, options",
    ("the setting", "pool web-pool  enabled  true    false\n", ()),
    ("nodes that would wait", "\nwaiting: marked_recently  keep: pool_disabled ", ()),
    ("that marks are not known", "No marks are known here", ()),
    ("what is assumed", "Every node that could go counts as marked long ago", ("--assume-marked",)),
    ("nodes whose time has come", " keep: pool_disabled ", ("--assume-marked",)),
    ("how many", "of 12 verdicts would change at this moment\n", ()),
)
def test_it_shows(expected: str, options: tuple[str, ...], folder: Path) -> None:
    output = diff(folder, "old.yaml", "new.yaml", *options).output
    assert expected in output
    assert ("marked_recently" in output) is not bool(options)


def test_of_equal_policies_it_shows_plainly_that_nothing_changes(folder: Path) -> None:
    results = diff(folder, "old.yaml", "old.yaml"), bare(folder, str(folder / "old.yaml"))
    assert [(result.exit_code, result.output.splitlines()[-1]) for result in results] == [(0, NOTHING), (0, SAME)]


def bare(folder: Path, *rest: str) -> Result:
    return ebb("policy", "diff", folder / "old.yaml", *rest)


def test_without_a_cluster_only_settings_are_compared_and_that_is_shown(folder: Path) -> None:
    result = bare(folder, str(folder / "new.yaml"))
    assert result.exit_code == 0
    assert "pool web-pool  enabled  true    false\n" in result.output
    assert SETTINGS_ONLY in result.output
    assert "verdict" not in result.output.replace(SETTINGS_ONLY, "")


@pytest.mark.parametrize("option", [("--assume-marked",), ("--at", "2026-03-04T22:00:00Z")])
def test_what_needs_a_cluster_shows_it(option: tuple[str, ...], folder: Path) -> None:
    result = bare(folder, str(folder / "new.yaml"), *option)
    assert result.exit_code == 2
    assert result.stderr == f"ebb: {option[0]}: it needs a cluster; add --dump FILE.\n"


def test_pools_that_either_policy_names_and_the_cluster_does_not_have_are_warned_about(folder: Path) -> None:
    (folder / "typo.yaml").write_text(OLD.replace("web-pool", "web-pol"))
    output = diff(folder, "old.yaml", "typo.yaml").output
    assert output.count("no node here belongs to such a pool; pools without settings: web-pool.") == 1


@cases(
    "expected, code, new",
    ("no file", "nowhere.yaml: cannot be read", 2, "nowhere.yaml"),
    ("no policy", "dump.txt: it is empty or no mapping", 1, "dump.txt"),
)
def test_bad_input_is_one_sentence(expected: str, code: int, new: str, folder: Path) -> None:
    (folder / "dump.txt").write_text("")
    result = diff(folder, "old.yaml", new)
    assert result.exit_code == code
    assert expected in result.stderr


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


DRY_RUN: Final = RealDrains("dryRun is true")
UNKNOWN_DRAINS: Final = RealDrains(begins=None)


@cases(
    "expected, before, after",
    ("a dry run as before", DrainChange.NONE, DRY_RUN, DRY_RUN),
    ("nothing that may go", DrainChange.NONE, DRY_RUN, drains()),
    ("the same", DrainChange.SAME, drains(5, 9), drains(5, 9)),
    ("no dry run any more", DrainChange.STARTS, DRY_RUN, drains(5)),
    ("something may go now", DrainChange.STARTS, drains(), drains(5)),
    ("of a cluster that nobody knows", DrainChange.STARTS, DRY_RUN, UNKNOWN_DRAINS),
    ("a dry run again", DrainChange.STOPS, drains(5), DRY_RUN),
    ("a dry run of what nobody knows", DrainChange.STOPS, UNKNOWN_DRAINS, DRY_RUN),
    ("more nodes", DrainChange.MORE, drains(5, 9), drains(5, 9, 90)),
    ("earlier", DrainChange.MORE, drains(9), drains(5)),
    ("faster", DrainChange.MORE, drains(5, 90), drains(5, 6)),
    ("fewer nodes", DrainChange.FEWER, drains(5, 9), drains(5)),
    ("slower", DrainChange.FEWER, drains(5, 6), drains(5, 90)),
    ("more and later", DrainChange.OTHER, drains(5), drains(9, 10)),
    ("other times", DrainChange.OTHER, drains(5, 9), drains(5, 8)),
    ("two that nobody knows", DrainChange.UNKNOWN, UNKNOWN_DRAINS, UNKNOWN_DRAINS),
)
def test_a_change_is_named_by_what_becomes_of_the_drains(
    expected: DrainChange, before: RealDrains, after: RealDrains
) -> None:
    assert DrainsCompared(before, after, NOW).change is expected


def test_a_forecast_that_ends_early_names_no_most() -> None:
    assert drains(5, 9).figures(NOW).startswith("up to 2 nodes, from 22:05 UTC on")
    assert drains(5, 9, is_rest=False).figures(NOW).startswith("2 nodes or more, ")


@pytest.fixture(scope="module")
def inputs(folder: Path) -> Inputs:
    return gather(Sources((folder / "two_dozen.json",), at=instant(AT)))


def compared(folder: Path, old: str, new: str, *options: str | Path) -> dict[str, Any]:
    (folder / "first.yaml").write_text(old)
    (folder / "second.yaml").write_text(new)
    done = ebb("policy", "diff", folder / "first.yaml", folder / "second.yaml", "-o", "json", *options)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@cases(
    "change, first, old, new",
    ("no dry run any more", "starts", "20:00", DRY, LIVE),
    ("no pause any more", "starts", "20:00", PAUSED, LIVE),
    ("the first pools enabled", "starts", "20:00", DISABLED, LIVE),
    ("another pool enabled", "more", "20:00", ONE_POOL, LIVE),
    ("a wider window", "more", "20:00", LATE, LIVE),
    ("a wider budget", "more", "20:00", TIGHT, LIVE),
    ("a narrower window", "fewer", "22:00", LIVE, LATE),
    ("a dry run", "stops", None, LIVE, DRY),
    ("a pause", "stops", None, LIVE, PAUSED),
    ("from a dry run to a pause", "none", None, DRY, PAUSED),
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
    found = compared(folder, DRY, LIVE, "--dump", folder / "two_dozen.json", "--at", AT)
    steady = found["ladder"]["after"][2]
    assert (steady["rung"], steady["by"]) == ("policy_at_rest", None)
    assert found["drains"]["after"]["nodes"] > 0


@pytest.mark.parametrize(("output", "line"), [("table", 0), ("markdown", 2)])
def test_it_is_the_first_thing_to_read(output: str, line: int, folder: Path) -> None:
    options = ("--dump", folder / "two_dozen.json", "--at", AT)
    sentence = compared(folder, DRY, LIVE, *options)["drains"]["sentence"]
    shown = ebb("policy", "diff", folder / "first.yaml", folder / "second.yaml", "-o", output, *options).stdout
    assert shown.splitlines()[line].strip("*") == sentence


@cases(
    "change, old, new",
    ("no dry run any more", "starts", DRY, LIVE),
    ("a dry run", "stops", LIVE, DRY),
    ("a wider window", "unknown", LATE, LIVE),
)
def test_without_a_cluster_it_is_known_only_whether_any_begin(change: str, old: str, new: str, folder: Path) -> None:
    found = compared(folder, old, new)["drains"]
    assert (found["change"], found["after"]["from"]) == (change, None)


def test_of_a_cluster_that_is_not_whole_no_number_is_shown(folder: Path, tmp_path: Path) -> None:
    items = (item for item in dumps.items(12) if item["metadata"].get("namespace") != "kube-system")
    found = compared(folder, DRY, LIVE, "--dump", dumps.write_items(tmp_path / "d.json", items))["drains"]
    assert (found["change"], found["after"]["nodes"]) == ("starts", None)
    assert UNKNOWN in found["sentence"]
