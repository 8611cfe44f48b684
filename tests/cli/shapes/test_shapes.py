"""`ebb shapes` from dumps to the table, the page and the document."""

import json
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.cli import dumps
from tests.cli.running import run_ebb
from tests.depth import cases

KEYS = {"pool", "machine_type", "proposed", "nodes_before", "nodes_after", "saving_per_hour", "pods_moved", "unknown"}
"""What tools rely on."""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve nodes of two pools whose pods ask for much memory: 120 m beside 2.5 GiB."""
    return hungry(tmp_path_factory.mktemp("shapes") / "day.json", 4)


def hungry(path: Path, pods_a_node: int) -> Path:
    names = [dumps.name_of(number) for number in range(12)]
    pods = [dumps.pod(f"web-{at}-{on[-4:]}", on, cpu="120m") for on in names for at in range(pods_a_node)]
    for pod in pods:
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = "2560Mi"
    pods += [dumps.pod(f"agent-{on}", on, kind="DaemonSet", namespace="kube-system", cpu="10m") for on in names]
    return dumps.write_items(path, [*map(dumps.node, range(12)), *pods])


@cache
def shapes(*args: str | Path) -> CompletedProcess[str]:
    """Run the command, once for all tests that look at the same output."""
    return run_ebb("shapes", *args)


def document(*args: str | Path) -> dict[str, Any]:
    ended = shapes(*args, "-o", "json")
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_the_document_has_what_tools_rely_on_and_adds_up(dump: Path) -> None:
    found = document(dump, "--pod-worth", "1")
    assert all(pool.keys() >= KEYS for pool in found["pools"])
    assert [pool["pool"] for pool in found["pools"]] == ["default-pool", "web-pool"]
    assert found["saving_per_hour"] == pytest.approx(sum(pool["saving_per_hour"] for pool in found["pools"]), abs=1e-4)
    assert found["cost_per_hour"] - found["proposed_per_hour"] == pytest.approx(found["saving_per_hour"], abs=1e-4)
    assert found["pods_moved"] == sum(pool["pods_moved"] for pool in found["pools"])
    assert "highmem" in " ".join(pool["proposed"] for pool in found["pools"])
    assert found["at_rest_per_hour"] > found["proposed_per_hour"]


def test_what_the_removal_of_nodes_leaves_is_the_figure_of_the_plan(dump: Path) -> None:
    ladder = json.loads(run_ebb("plan", dump, "-o", "json").stdout)["ladder"]
    steady = next(scenario for scenario in ladder if scenario["rung"] == "policy_at_rest")
    assert document(dump)["at_rest_per_hour"] == pytest.approx(steady["cost_per_month"] / 730, abs=1e-4)
    shown = run_ebb("shapes", dump, "--pod-worth", "1").stdout
    assert f"With Ebb, default settings, and the machine types of now: ${steady['cost_per_month']:,.0f} in" in shown


def test_the_commands_drain_what_goes(dump: Path) -> None:
    found = document(dump, "--pod-worth", "1")
    drained = [line for line in found["commands"] if line.startswith("kubectl drain ")]
    assert {line.split()[0] for line in found["commands"]} == {"kubectl"}
    assert not any(flag in line for line in drained for flag in ("--delete-emptydir-data", "--force"))
    assert sum(line.count("gke-prod-") for line in drained) == _going(found) > 0


def _going(found: dict[str, Any]) -> int:
    return sum(pool["nodes_before"] - pool["nodes_kept"] for pool in found["pools"])


def test_a_pool_that_only_loses_nodes_is_drained_too(dump: Path, tmp_path: Path) -> None:
    items = json.loads(dump.read_text())
    for item in items["items"]:
        if item["kind"] == "Node" and "web-pool" in item["metadata"]["name"]:
            item["metadata"]["labels"]["cloud.google.com/gke-ephemeral-storage-local-ssd"] = "true"
    (tmp_path / "ssd.json").write_text(json.dumps(items))
    found = document(tmp_path / "ssd.json", "--pod-worth", "1")
    kept = next(pool for pool in found["pools"] if pool["pool"] == "web-pool")
    assert (kept["new"], kept["nodes_kept"] < kept["nodes_before"]) == ([], True)
    assert sum(line.count("gke-prod-") for line in found["commands"] if "drain" in line) == _going(found)


def test_a_snapshot_that_may_be_of_the_night_is_warned_about(dump: Path, tmp_path: Path) -> None:
    night = run_ebb("shapes", hungry(tmp_path / "night.json", 2))
    assert "warning: Pods book" in night.stdout
    assert "warning: Pods book" not in run_ebb("shapes", dump).stdout


@pytest.mark.parametrize("output", ["table", "markdown", "yaml"])
def test_every_output_names_the_pools_and_what_is_proposed(dump: Path, output: str) -> None:
    shown = run_ebb("shapes", dump, "--families", "n2d", "-o", output)
    assert shown.returncode == 0
    assert [pool for pool in ("default-pool", "web-pool") if pool not in shown.stdout] == []
    assert "n2d" in shown.stdout


@cases(
    "words",
    ("a family that is none", ("--families", "e2,z9")),
    ("a fill above the whole", ("--fill", "120%")),
    ("a fill that is no number", ("--fill", "most")),
    ("a worth that is no number", ("--pod-worth", "nan")),
)
def test_what_cannot_be_meant_is_refused(dump: Path, words: tuple[str, str]) -> None:
    ended = run_ebb("shapes", dump, *words)
    assert ended.returncode == 2
    assert words[0] in ended.stderr


def test_machines_without_a_price_are_refused(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(dump.read_text().replace("e2-standard-4", "m5.xlarge").replace("cloud.google.com", "other.io"))
    assert run_ebb("shapes", other).returncode == 2


def test_a_node_without_a_pool_is_counted_where_its_money_is(dump: Path, tmp_path: Path) -> None:
    found = json.loads(dump.read_text())
    like = next(item for item in found["items"] if item["kind"] == "Node")
    labels = {key: value for key, value in like["metadata"]["labels"].items() if "nodepool" not in key}
    alone = {**like, "metadata": {**like["metadata"], "name": "alone", "uid": "alone", "labels": labels}}
    found["items"].append(alone)
    (tmp_path / "alone.json").write_text(json.dumps(found))
    count = sum(item["kind"] == "Node" for item in found["items"])
    assert f"{count} nodes for $" in run_ebb("shapes", tmp_path / "alone.json").stdout
