"""`ebb policy check`: the settings in force, and what is odd about them."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import Result

from functions.cli.policy.check import expiring, show
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy
from tests.builders import NOW, cluster, node, policy
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases


def test_pools_with_the_same_settings_stand_together() -> None:
    pages = StringIO()
    pools = {"a": PoolPolicy(enabled=True), "b": PoolPolicy(), "c": PoolPolicy(enabled=True)}
    show(Console(file=pages, width=120, color_system=None), "policy.yaml", Policy(pools=pools))
    titles = [line.strip() for line in pages.getvalue().splitlines() if line.startswith("pool")]
    assert titles == ["pools a, c", "pool b"]


def checked(tmp_path: Path, written: str, *options: str | Path) -> Result:
    (tmp_path / "policy.yaml").write_text(written)
    return ebb("policy", "check", tmp_path / "policy.yaml", *options)


def test_with_a_dump_it_warns_about_pools_that_are_not_there(tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "dump.json", 2)
    said = (
        "nodePools.defualt-pool: no node here belongs to such a pool; pools without settings: default-pool, web-pool."
    )
    for options in ((), ("--dump", dump)):
        result = checked(tmp_path, "nodePools: {defualt-pool: {enabled: true}}", *options)
        assert result.exit_code == 0
        assert (f"warning: {said}" in result.output.splitlines()) is bool(options)


def test_with_a_dump_it_warns_of_commitments_that_have_ended(tmp_path: Path) -> None:
    policy = (
        "cluster: {commitments: {families: {e2: {vcpu: 8, gib: 32, until: 2020-05-01}}}}\n"
        "nodePools: {default-pool: {enabled: true}}"
    )
    output = checked(tmp_path, policy, "--dump", dumps.write(tmp_path / "dump.json", 2)).output
    assert [line for line in output.splitlines() if line.startswith("warning: ") and "e2 on 2020-05-01" in line]


def test_it_shows_how_many_nodes_have_expired_or_who_could_show(tmp_path: Path) -> None:
    policy = "nodePools: {default-pool: {enabled: true, disruption: {expireAfter: 1s}}}"
    dump = dumps.write(tmp_path / "dump.json", 2)
    alone, compared = (checked(tmp_path, policy, *options).output for options in ((), ("--dump", dump)))
    path = "warning: nodePools.default-pool.disruption.expireAfter:"
    assert f"{path} a node of that age goes however full it is; how many are, a cluster or" in alone
    assert f"{path} 1 of 1 nodes are of that age, and go however full they are." in compared.replace("\n", " ")


def test_stdin_is_a_file_too_which_is_read_once() -> None:
    result = ebb("policy", "check", "-", stdin="nodePools: {a: {enabled: true}}")
    assert result.output.startswith("stdin is valid: 1 pool")
    assert ebb("policy", "check", "-", stdin="[").stderr.startswith("ebb: stdin:1: column ")


BAD = """nodePools:
  a:
    enabled: "true"
    budgets: []
"""


def test_a_fault_begins_with_file_and_line(tmp_path: Path) -> None:
    shown = checked(tmp_path, BAD)
    assert (shown.exit_code, shown.stderr.replace(str(tmp_path), "").splitlines()) == (1, [
        "ebb: /policy.yaml:3: nodePools.a.enabled: value 'true' is wrong; write true or false, without quotes.",
        "ebb: /policy.yaml:4: nodePools.a.budgets: there is no such field; it belongs under nodePools.NAME.disruption.",
    ])  # fmt: skip


@cases(
    "expected, written",
    ("a key that stands twice", ":3: the key 'a' stands twice", "nodePools:\n  a: {}\n  a: {}\n"),
    ("where the tab is", ":2: column 1 (found character '\\t'", "nodePools:\n\ta: 3\n"),
    ("an open brace", "close the brace", "nodePools:\n  a: {enabled: true\n"),
    ("an open bracket", "close the bracket", "a: [1\nb: 2\n"),
    ("a wrong indent", "indent it like its neighbours", "a:\n  b:\n    c: true\n   d: 1\n"),
    ("open quotes", "close the quotes", 'dryRun: "true\n'),
    ("no colon", "write `name: value`", "dryRun: true\npaused\n"),
    ("two colons", "quotes around a text", "dryRun: a: b\n"),
)
def test_a_mistake_that_many_make_gets_the_sentence_that_helps(expected: str, written: str, tmp_path: Path) -> None:
    shown = checked(tmp_path, written)
    assert (shown.exit_code, expected in shown.stderr) == (1, True), shown.stderr


@pytest.mark.parametrize("named", [True, False])
def test_defaults_that_no_pool_hears_are_shown(tmp_path: Path, *, named: bool) -> None:
    told = checked(
        tmp_path, f"defaults: {{enabled: true}}\n{'nodePools: {default-pool: {}}' if named else ''}\n"
    ).output
    said = (
        "warning: defaults.enabled: defaults hold only for pools that nodePools names; write nodePools: {default-pool:"
    )
    assert (said in told) is not named


@cases(
    "expected, written",
    ("one is named", ["default-pool"], "defaults: {enabled: true}\nnodePools: {web-pool: {}}"),
    ("none is named", list(dumps.POOLS), "defaults: {enabled: true}"),
    ("defaults enable nothing", [], "nodePools: {web-pool: {enabled: true}}"),
    ("all are named", [], "defaults: {enabled: true}\nnodePools: {web-pool: {}, default-pool: {}}"),
)
@pytest.mark.parametrize("command", [("plan", "--policy"), ("policy", "check")], ids=" ".join)
def test_pools_that_defaults_alone_enable_are_named(
    expected: list[str], written: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(written)
    shown = ebb(*command, policy, "--dump", dumps.write(tmp_path / "dump.json", 6))
    said = [line for line in shown.output.splitlines() if "drains nothing of" in line]

    assert [pool for line in said for pool in sorted(dumps.POOLS) if pool in line.partition(";")[0]] == sorted(expected)


DAY = timedelta(days=1)
THREE = cluster(
    [node("n1", created=NOW - 40 * DAY), node("n2", created=NOW - 30 * DAY), node("n3", created=NOW - 29 * DAY)]
)


@cases(
    "expected, rules, snapshot",
    ("nothing expires", [], policy(), THREE),
    ("a disabled pool", [], policy(expire_after=DAY, enabled=False), THREE),
    ("two are old enough", ["2 of 3 nodes are of that age"], policy(expire_after=30 * DAY), THREE),
    ("none is", ["0 of 3 nodes are of that age"], policy(expire_after=90 * DAY), THREE),
    ("a pool without nodes", ["0 of 0 nodes are of that age"], policy("b", expire_after=DAY), THREE),
    ("no cluster", ["a cluster or a dump shows (--dump FILE)"], policy(expire_after=DAY), None),
)
def test_what_expiry_amounts_to_is_shown_for_each_pool(
    expected: list[str], rules: Policy, snapshot: Snapshot | None
) -> None:
    said = expiring(rules, snapshot)

    assert [text in sentence for text, sentence in zip(expected, said, strict=True)] == [True] * len(expected)
    assert all(sentence.startswith("nodePools.") for sentence in said)
