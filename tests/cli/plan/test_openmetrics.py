"""`ebb plan --output openmetrics`: the plan's JSON as gauges, as a parser reads them that is not ours."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.plan.openmetrics import GAUGES
from tests.cli import dumps
from tests.cli.metric_texts import Series, series, value
from tests.cli.test_main import ebb

POLICY: Final = "dryRun: true\ndefaults: {enabled: true, scaleDownCPURequestRatioLimit: 0.9}\n"
HOSTILE: Final = 'web"} 1\\\npool'


def asked(*args: str | Path) -> tuple[dict[str, Any], Series]:
    """Return the plan's JSON and its series."""
    plan: dict[str, Any] = json.loads(ebb("plan", *args, "-o", "json").stdout)
    return plan, series(ebb("plan", *args, "-o", "openmetrics").stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metrics")
    dumps.write(folder / "dump.json")
    (folder / "policy.yaml").write_text(POLICY)
    return folder


def test_the_figures_are_those_of_the_json(folder: Path) -> None:
    plan, found = asked("--dump", folder / "dump.json", "--policy", folder / "policy.yaml")
    name, totals = plan["cluster"], plan["totals"]
    assert value(found, "ebb_plan_pods", cluster=name) == totals["pods"]
    assert value(found, "ebb_plan_dry_run", cluster=name) == plan["dry_run"]
    assert value(found, "ebb_plan_partial", cluster=name) == 0
    for scenario in plan["ladder"]:
        if scenario["rung"] == "relaxed":
            continue
        labels = {"cluster": name, "rung": scenario["rung"]}
        assert value(found, "ebb_ladder_nodes", **labels) == scenario["nodes"]
        cost = value(found, "ebb_ladder_cost_dollars_per_hour", **labels)
        assert cost * 730 == pytest.approx(scenario["cost_per_month"], abs=0.01)
    for pool in plan["pools"]:
        labels = {"cluster": name, "pool": pool["name"]}
        cost = value(found, "ebb_pool_cost_dollars_per_hour", **labels)
        assert cost == pytest.approx(pool["cost_per_hour"], abs=1e-4)
        assert value(found, "ebb_pool_cpu_ratio", **labels) == pytest.approx(pool["cpu_ratio"])
        for verdict, nodes in pool["verdicts"].items():
            assert value(found, "ebb_pool_nodes", **labels, verdict=verdict) == nodes
    for held in plan["holds"]:
        labels = {"cluster": name, "reason": held["reason"], "of": held["of"]}
        assert value(found, "ebb_held_nodes", **labels) == held["nodes"]


def test_a_larger_cluster_has_no_more_series(folder: Path, tmp_path: Path) -> None:
    (_, small), (_, large) = asked("--dump", folder / "dump.json"), asked("--dump", dumps.write(tmp_path / "a", 180))
    assert len(small) == len(large)


def test_clusters_of_one_name_keep_series_of_their_own(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "dump.json"
    text = (folder / "dump.json").read_text()
    other.write_text(text.replace("gke-prod", "other").replace("gce://p/", "gce://q/"))
    (folder / "dump.json").with_name("prod.json").write_text(text)
    _, found = asked("--dump", folder / "prod.json", "--dump", other)
    assert len({dict(labels)["cluster"] for _, labels in found}) == 2


def test_a_partial_cluster_shows_it_and_has_neither_scenarios_nor_saving(tmp_path: Path) -> None:
    items = [each for each in dumps.items(12) if each["metadata"].get("namespace") != "kube-system"]
    (tmp_path / "d.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    _, found = asked("--dump", tmp_path / "d.json")
    assert value(found, "ebb_plan_partial", cluster="d.json") == 1
    assert not [name for name, _ in found if name.startswith(("ebb_ladder", "ebb_plan_saving"))]


def test_a_hostile_name_is_a_label_and_nothing_else(tmp_path: Path) -> None:
    items = list(dumps.items(12))
    for item in items:
        if item["kind"] == "Node":
            item["metadata"]["labels"]["cloud.google.com/gke-nodepool"] = HOSTILE
    (tmp_path / "d.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    _, found = asked("--dump", tmp_path / "d.json")
    assert {dict(labels)["pool"] for name, labels in found if name.startswith("ebb_pool")} == {HOSTILE}


@pytest.mark.parametrize("family", GAUGES, ids=lambda family: family.name)
def test_each_family_has_a_sentence_that_both_formats_write_alike(family: Any) -> None:
    assert family.help.endswith(".")
    assert not set(family.help) & set('"\\\n')
