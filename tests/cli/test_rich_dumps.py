"""Every command that reads a cluster reads dumps rich in disks, budgets, mirror pods, taints and waiting pods."""

import json
from pathlib import Path

import pytest

from tests.adapters.rich_dump import rich_dump
from tests.cli.running import run_ebb

SEEDS = range(2)


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"dump {seed}")
def dump(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rich") / f"dump{request.param}.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": rich_dump(request.param)}))
    return path


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("plan", "--nodes"), id="plan"),
        pytest.param(("plan", "--output", "json"), id="plan as JSON"),
        pytest.param(("plan", "--potential"), id="potential"),
        pytest.param(("why-not",), id="why-not"),
        pytest.param(("simulate", "--days", "1"), id="simulate"),
        pytest.param(("policy", "init"), id="policy init"),
    ],
)
def test_a_command_reads_it(words: tuple[str, ...], dump: Path) -> None:
    done = run_ebb(*words, "--dump", dump)

    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_report_is_written_of_it(dump: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"

    assert run_ebb("report", "--dump", dump, "--out", page).returncode == 0
    assert "</html>" in page.read_text()


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_each_node_and_some_pods_of_it_are_explained(kind: str, dump: Path) -> None:
    items = [each for each in json.loads(dump.read_text())["items"] if each["kind"] == kind]
    for each in items[:: max(1, len(items) // 4)]:
        meta = each["metadata"]
        name = meta["name"] if kind == "Node" else f"{meta['namespace']}/{meta['name']}"
        done = run_ebb("explain", name, "--dump", dump)
        assert (done.returncode, meta["name"] in done.stdout) == (0, True), done.stderr


@pytest.mark.workers
def test_a_fleet_of_it_comes_to_what_its_plan_does_between_real_processes(dump: Path) -> None:
    told = json.loads(run_ebb("fleet", "--dump", dump, "--output", "json").stdout)
    alone = json.loads(run_ebb("plan", "--dump", dump, "--output", "json").stdout)

    (cluster,) = told["clusters"]
    assert (cluster["faults"], cluster["totals"]) == ([], alone["totals"])
