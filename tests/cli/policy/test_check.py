"""`ebb policy check`: the settings in force, and what is odd about them."""

from io import StringIO
from pathlib import Path

from rich.console import Console
from typer.testing import CliRunner

from functions.cli.main import app
from functions.cli.policy.check import show
from shared.core.policy import Policy, PoolPolicy
from tests.cli import dumps


def test_pools_with_the_same_settings_stand_together() -> None:
    pages = StringIO()
    pools = {"a": PoolPolicy(enabled=True), "b": PoolPolicy(), "c": PoolPolicy(enabled=True)}
    show(Console(file=pages, width=120, color_system=None), "policy.yaml", Policy(pools=pools))
    titles = [line.strip() for line in pages.getvalue().splitlines() if line.startswith("pool")]
    assert titles == ["pools a, c", "pool b"]


def test_with_a_dump_it_warns_about_pools_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("nodePools: {defualt-pool: {enabled: true}}")
    dump = dumps.write(tmp_path / "dump.json", 2)
    said = (
        "warning: nodePools.defualt-pool: no node here belongs to such a pool; write default-pool, if that was meant."
    )
    for options in ((), ("--dump", str(dump))):
        result = CliRunner().invoke(app, ["policy", "check", str(tmp_path / "policy.yaml"), *options])
        assert result.exit_code == 0
        assert (said in result.output.splitlines()) is bool(options)


def test_it_says_how_many_nodes_have_expired_or_who_could_tell(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("nodePools: {default-pool: {enabled: true, disruption: {expireAfter: 1s}}}")
    dump = dumps.write(tmp_path / "dump.json", 2)
    alone, beside = (
        CliRunner().invoke(app, ["policy", "check", str(file), *options]).output
        for options in ((), ("--dump", str(dump)))
    )
    path = "warning: nodePools.default-pool.disruption.expireAfter:"
    assert f"{path} a node of that age goes however full it is; how many are, a cluster or" in alone
    assert f"{path} 1 of 1 nodes are of that age, and go however full they are." in beside.replace("\n", " ")


def test_a_plan_warns_about_pools_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("nodePools: {defualt-pool: {enabled: true}}")
    dump = dumps.write(tmp_path / "dump.json", 2)
    options = ["--policy", str(tmp_path / "policy.yaml"), "--dump", str(dump)]
    table = CliRunner().invoke(app, ["plan", *options])
    assert table.output.startswith("warning: nodePools.defualt-pool: no node here belongs to such a pool;")
    assert (
        CliRunner().invoke(app, ["plan", *options, "-o", "json"]).stderr.startswith("warning: nodePools.defualt-pool")
    )


def test_faults_begin_with_the_files_name(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("dryRun: 5\ncluster: {timeGap: 1}")
    result = CliRunner().invoke(app, ["policy", "check", str(tmp_path / "policy.yaml")])
    assert result.exit_code == 1
    starts = [f"ebb: {tmp_path}/policy.yaml: {path}: value " for path in ("dryRun", "cluster.timeGap")]
    assert [line.startswith(start) for line, start in zip(result.stderr.splitlines(), starts, strict=True)] == [
        True
    ] * 2


def test_stdin_is_a_file_too() -> None:
    result = CliRunner().invoke(app, ["policy", "check", "-"], input="nodePools: {a: {enabled: true}}")
    assert result.output.startswith("stdin is valid: 1 pool")
    result = CliRunner().invoke(app, ["policy", "check", "-"], input="[")
    assert result.stderr.startswith("ebb: stdin: line 1, column ")


def test_an_empty_list_of_reasons_is_warned_about_and_stdin_is_read_once() -> None:
    policy = "nodePools: {a: {enabled: true, disruption: {budgets: [{nodes: 1, reasons: []}]}}}"
    result = CliRunner().invoke(app, ["policy", "check", "-"], input=policy)
    assert result.exit_code == 0
    assert "warning: nodePools.a.disruption.budgets[0].reasons: the list is empty" in result.output
