"""A cluster that is not GKE's gets no plan full of `no_pool` without a word why, and no money of Google's prices."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.cli.input.inputs import NOT_GKE
from functions.cli.input.pricing import UNPRICED
from shared.core.cluster.names import POOL_LABEL
from tests.cli import dumps
from tests.cli.running import ebb, read_json
from tests.depth import cases

MACHINE = "node.kubernetes.io/instance-type"


def written(folder: Path, *, nodes: int = 3, pools: int = 99, machine: str = "", name: str = "gke-prod") -> str:
    """Write a dump of nodes, of which the first `pools` are in a node pool; return its path."""
    file = dumps.write(folder / "dump.json", nodes)
    found = json.loads(file.read_text())
    for number, node in enumerate(item for item in found["items"] if item["kind"] == "Node"):
        labels: dict[str, Any] = node["metadata"]["labels"]
        if number >= pools:
            del labels[POOL_LABEL]
        if machine:
            labels[MACHINE] = machine
    file.write_text(json.dumps(found).replace("gke-prod", name))
    return str(file)


@cases("is_named, given", ("no pools", True, {}), ("one node of a pool", False, {"pools": 1}))
def test_a_cluster_without_any_pool_is_named_as_elsewhere(
    is_named: bool, given: dict[str, Any], tmp_path: Path
) -> None:
    result = ebb("plan", "--dump", written(tmp_path, **{"pools": 0, **given}), "-o", "json")

    notes = [line for line in result.stderr.splitlines() if "this does not look like GKE" in line]
    assert result.exit_code == 0
    assert notes == ([f"warning: {NOT_GKE}"] if is_named else [])


def test_an_autopilot_cluster_is_refused_by_name(tmp_path: Path) -> None:
    shown = ebb("plan", "--dump", written(tmp_path, name="gk3-prod"))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("ebb: dump.json: is an Autopilot cluster (its nodes are named gk3-…)")


@cases(
    "expected, given",
    ("GKE", True, {}),
    ("a machine that Google may offer one day", True, {"machine": "z9-standard-8"}),
    ("a machine of EKS", False, {"machine": "m5.xlarge"}),
    ("a machine of AKS", False, {"machine": "Standard_D4s_v3"}),
    ("no pools", False, {"pools": 0}),
)
@pytest.mark.parametrize("output", ["table", "wide", "markdown"])
def test_money_is_shown_for_machines_of_google_alone(
    expected: bool, given: dict[str, Any], output: str, tmp_path: Path
) -> None:
    result = ebb("plan", written(tmp_path, **given), "--potential", "-o", output)

    assert ("$" in result.stdout) is expected
    assert (UNPRICED.partition("{")[0] in " ".join(result.stdout.split())) is not expected


def test_why_not_shows_that_a_cluster_is_not_of_gke_before_it_refuses(tmp_path: Path) -> None:
    dump = written(tmp_path, machine="m5.xlarge", pools=0)
    first, second = ebb("why-not", "--dump", dump).stderr.splitlines()
    assert (POOL_LABEL in first, "--prices" in second) == (True, True)


def test_without_prices_the_most_nodes_could_go(tmp_path: Path) -> None:
    found = [
        read_json("plan", written(tmp_path, nodes=12, machine=machine), "--potential")
        for machine in ("e2-standard-4", "m5.xlarge")
    ]

    known, unpriced = (len(plan["potential"]["nodes"]) for plan in found)
    assert unpriced >= known > 0
    assert found[1]["potential"]["saving_per_hour"] == 0


def test_the_page_has_no_column_of_money_without_prices(tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    ebb("report", written(tmp_path, machine="m5.xlarge"), "--out", page)
    assert "a month</th>" not in page.read_text()
