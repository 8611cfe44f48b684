"""`ebb policy diff`: the same picture under two policies."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from functions.cli.input.inputs import all_marked
from functions.cli.main import app
from functions.cli.policy.diff import NOTHING, SAME, SETTINGS_ONLY, PolicyChange, settings, verdicts
from shared.core.planning.plan import Verdict
from shared.core.policy import Policy, PoolPolicy
from tests.builders import cluster, node
from tests.cli import dumps
from tests.cli.plan.plans import busy, decision, ordered, plan

ON, OFF = PoolPolicy(enabled=True), PoolPolicy()
OLD = """
cluster: {timeSinceLastAddition: 1m}
nodePools: {default-pool: {enabled: true, excessNodesThreshold: 0}, web-pool: {enabled: true}}
"""
NEW = OLD.replace("web-pool: {enabled: true}", "web-pool: {enabled: false}")


@pytest.mark.parametrize(
    ("expected", "old", "new"),
    [
        pytest.param((), Policy(hash="a"), Policy(hash="b"), id="nothing but the hash"),
        pytest.param(
            (PolicyChange("cluster", "dryRun", "true", "false"),), Policy(), Policy(dry_run=False), id="the cluster's"
        ),
        pytest.param(
            (PolicyChange("pool a", "enabled", "true", "false"),),
            Policy(pools={"a": ON}),
            Policy(),
            id="a pool left out",
        ),
        pytest.param(
            (PolicyChange("pool a", "enabled", "false", "true"),), Policy(), Policy(pools={"a": ON}), id="a new pool"
        ),
        pytest.param((), Policy(pools={"a": OFF}), Policy(), id="a disabled pool left out"),
        pytest.param(
            (PolicyChange("pool a", "disruption.consolidateAfter", "5m", "10m"),),
            Policy(pools={"a": ON}),
            Policy(pools={"a": replace(ON, consolidate_after=timedelta(minutes=10))}),
            id="a timer",
        ),
        pytest.param(
            (PolicyChange("every other pool", "headroom", "5%", "8%"),),
            Policy(),
            Policy(other_pools=PoolPolicy(headroom_percent=8)),
            id="what holds for pools that are not named",
        ),
    ],
)
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
    (folder / "old.yaml").write_text(OLD)
    (folder / "new.yaml").write_text(NEW)
    return folder


def diff(folder: Path, old: str, new: str, *options: str) -> Result:
    paths = [str(folder / each) for each in (old, new)]
    return CliRunner().invoke(app, ["policy", "diff", *paths, "--dump", str(folder / "dump.json"), *options])


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        pytest.param("pool web-pool  enabled  true    false\n", (), id="the setting"),
        pytest.param("\nwaiting: marked_recently  keep: pool_disabled ", (), id="nodes that would wait"),
        pytest.param("No marks are known here", (), id="that marks are not known"),
        pytest.param("Every node that could go counts as marked long ago", ("--assume-marked",), id="what is assumed"),
        pytest.param(" keep: pool_disabled ", ("--assume-marked",), id="nodes whose time has come"),
        pytest.param("of 12 verdicts would change at this moment\n", (), id="how many"),
    ],
)
def test_it_shows(expected: str, options: tuple[str, ...], folder: Path) -> None:
    assert expected in diff(folder, "old.yaml", "new.yaml", *options).output


def test_with_marks_assumed_nothing_waits_for_a_mark(folder: Path) -> None:
    output = diff(folder, "old.yaml", "new.yaml", "--assume-marked").output
    assert "would change" in output
    assert "marked_recently" not in output


def test_of_equal_policies_it_shows_plainly_that_nothing_changes(folder: Path) -> None:
    result = diff(folder, "old.yaml", "old.yaml")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, NOTHING)


def bare(folder: Path, *rest: str) -> Result:
    return CliRunner().invoke(app, ["policy", "diff", str(folder / "old.yaml"), *rest])


def test_without_a_cluster_only_settings_are_compared_and_that_is_shown(folder: Path) -> None:
    result = bare(folder, str(folder / "new.yaml"))
    assert result.exit_code == 0
    assert "pool web-pool  enabled  true    false\n" in result.output
    assert SETTINGS_ONLY in result.output
    assert "verdict" not in result.output.replace(SETTINGS_ONLY, "")


def test_without_a_cluster_equal_policies_are_called_so(folder: Path) -> None:
    assert bare(folder, str(folder / "old.yaml")).output.splitlines()[-1] == SAME


@pytest.mark.parametrize("option", [("--assume-marked",), ("--at", "2026-03-04T22:00:00Z")])
def test_what_needs_a_cluster_shows_it(option: tuple[str, ...], folder: Path) -> None:
    result = bare(folder, str(folder / "new.yaml"), *option)
    assert result.exit_code == 2
    assert result.stderr == f"ebb: {option[0]}: it needs a cluster; add --dump FILE.\n"


def test_pools_that_either_policy_names_and_the_cluster_does_not_have_are_warned_about(folder: Path) -> None:
    (folder / "typo.yaml").write_text(OLD.replace("web-pool", "web-pol"))
    output = diff(folder, "old.yaml", "typo.yaml").output
    assert output.count("warning: nodePools.web-pol: no node here belongs to such a pool; write web-pool,") == 1


@pytest.mark.parametrize(
    ("expected", "code", "new"),
    [
        pytest.param("nowhere.yaml: cannot be read", 2, "nowhere.yaml", id="no file"),
        pytest.param("dump.txt: it is empty or no mapping", 1, "dump.txt", id="no policy"),
    ],
)
def test_bad_input_is_one_sentence(expected: str, code: int, new: str, folder: Path) -> None:
    (folder / "dump.txt").write_text("")
    result = diff(folder, "old.yaml", new)
    assert result.exit_code == code
    assert expected in result.stderr
