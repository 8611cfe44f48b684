"""Every command that reads a dump reads those rich in disks, budgets, mirror pods, taints and pending pods."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from functions.cli.main import app
from tests.cli import dumps
from tests.cli.dumps.rich_dump import rich_dump
from tests.cli.running import run_ebb

SEEDS = (0, pytest.param(1, marks=pytest.mark.deep))
DUMP, POLICY, OUT = "DUMP", "POLICY", "OUT"
"""What stands in a command for the dump, a policy that was made for it, and a new file."""
COMMANDS: Final = [line.split() for line in (
    "plan --nodes", "plan --output json", "plan --output markdown", "plan --potential",
    f"plan --assume-marked --policy {POLICY}", f"report --out {OUT}", f"report --output json --out {OUT}", "why-not",
    "shapes", "simulate --days 1", "policy init", f"policy check {POLICY}", f"policy diff {POLICY} {POLICY}",
    f"dump --anonymize --out {OUT}",
)]  # fmt: skip
ELSEWHERE: Final = {("explain",), ("fleet",)}
"""Commands with tests of their own below."""


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"dump {seed}")
def dump(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rich") / f"dump{request.param}.json"
    return dumps.write_items(path, rich_dump(request.param))


def objects(dump: Path, kind: str) -> list[dict[str, Any]]:
    return [item for item in json.loads(dump.read_text())["items"] if item["kind"] == kind]


def that_read_dumps(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each command that has the option --dump."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from that_read_dumps(inner, (*path, name))
    if any("--dump" in option.opts for option in command.params):
        yield path


def test_every_command_that_reads_dumps_is_tried() -> None:
    tried = {tuple(words[: len(path)]) for words in COMMANDS for path in that_read_dumps(typer.main.get_command(app))}
    assert {*that_read_dumps(typer.main.get_command(app))} - tried == ELSEWHERE


def test_the_dumps_hold_what_makes_them_rich(dump: Path) -> None:
    pods = objects(dump, "Pod")
    owners = {owner["kind"] for pod in pods for owner in pod["metadata"].get("ownerReferences", ())}
    assert {"Node", "ReplicaSet", "StatefulSet"} <= owners
    assert [pod for pod in pods if not pod["spec"].get("nodeName")]
    assert objects(dump, "PersistentVolume")
    assert objects(dump, "PodDisruptionBudget")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_reads_it(words: list[str], dump: Path, tmp_path: Path) -> None:
    policy, out = tmp_path / "policy.yaml", tmp_path / "out"
    policy.write_text("nodePools: {acme-default: {enabled: true}, acme-spot: {enabled: true}}\n")
    given = {POLICY: policy, OUT: out}

    done = run_ebb(*(given.get(word, word) for word in words), "--dump", dump)

    assert done.returncode == 0, done.stderr
    assert out.stat().st_size if OUT in words else done.stdout


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_each_node_and_some_pods_of_it_are_explained(kind: str, dump: Path) -> None:
    items = objects(dump, kind)
    for item in items[:: max(1, len(items) // 4)]:
        meta = item["metadata"]
        name = meta["name"] if kind == "Node" else f"{meta['namespace']}/{meta['name']}"
        done = run_ebb("explain", name, "--dump", dump)
        assert (done.returncode, meta["name"] in done.stdout) == (0, True), done.stderr


@pytest.mark.workers
def test_a_fleet_of_it_ends_at_what_its_plan_does_between_real_processes(dump: Path) -> None:
    told = json.loads(run_ebb("fleet", "--dump", dump, "--output", "json").stdout)
    alone = json.loads(run_ebb("plan", "--dump", dump, "--output", "json").stdout)

    (cluster,) = told["clusters"]
    assert (cluster["faults"], cluster["totals"]) == ([], alone["totals"])


@pytest.mark.parametrize("words", [("plan",), ("plan", "--nodes"), ("fleet",)], ids=" ".join)
def test_a_file_has_every_reason(words: tuple[str, ...], dump: Path) -> None:
    shown = run_ebb(*words, "--dump", str(dump)).stdout.splitlines()
    told = json.loads(run_ebb("plan", "--dump", str(dump), "-o", "json").stdout)
    reasons = {node["reason"] for node in told["nodes"] if node["verdict"] != "in_flight"}  # those name their order

    assert not [line for line in shown if line.strip().startswith("…")]
    assert [reason for reason in reasons if not any(f"  {reason}" in line for line in shown)] == []
