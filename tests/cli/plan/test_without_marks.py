"""What is said of nodes where no marks are known: a dump, or a cluster without an installation."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import dumps
from tests.cli.dumps.rich_dump import rich_dump
from tests.cli.running import run_ebb

APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


def one_pod_a_node(**spec: Any) -> list[dict[str, Any]]:
    """Eight nodes of one pool, each with one pod."""
    numbers = range(0, 16, 2)
    on = [dumps.name_of(number) for number in numbers]
    system = dumps.pod("logs", on[0], app="logs", kind="DaemonSet", namespace="kube-system")
    pods = [dumps.pod(f"w-{number}", name, **spec) for number, name in enumerate(on)]
    return [*map(dumps.node, numbers), *pods, system]


APART_EACH = one_pod_a_node(affinity=APART)
TOO_BIG = one_pod_a_node(cpu="2200m")


def written(objects: list[dict[str, Any]], path: Path) -> Path:
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    return path


def said(dump: Path, *words: str | Path) -> Any:
    return json.loads(run_ebb(*words, "--dump", dump, "--output", "json").stdout)


@pytest.mark.parametrize("objects", [APART_EACH, TOO_BIG], ids=["pods exclude each other", "no node has room for two"])
def test_a_node_that_can_never_go_does_not_wait_for_a_mark(objects: list[dict[str, Any]], tmp_path: Path) -> None:
    dump = written(objects, tmp_path / "dump.json")

    table, told = run_ebb("plan", "--dump", dump).stdout, said(dump, "plan")

    assert {(node["verdict"], node["reason"]) for node in told["nodes"]} == {("keep", "no_place_for_pods")}
    assert "no_place_for_pods" in table
    assert "marked_recently" not in table
    assert "must wait" not in table


@pytest.mark.parametrize(
    "objects", [APART_EACH, list(dumps.items(12)), rich_dump(0), rich_dump(1)], ids=["apart", "plain", "rich", "rich 2"]
)
def test_plan_explain_and_report_give_each_node_the_same_reason(objects: list[dict[str, Any]], tmp_path: Path) -> None:
    dump, page = written(objects, tmp_path / "dump.json"), tmp_path / "report.json"
    nodes = [thing["metadata"]["name"] for thing in objects if thing["kind"] == "Node"]

    plan, explained = said(dump, "plan"), said(dump, "explain", *nodes)["explained"]
    run_ebb("report", "--dump", dump, "--output", "json", "--out", page)

    reasons = {node["name"]: (node["verdict"], node["reason"]) for node in plan["nodes"]}
    assert {each["name"]: (each["verdict"], each["reason"]) for each in explained} == reasons
    assert json.loads(page.read_text())["nodes"] == plan["nodes"]
    assert [each["name"] for each in explained if each["refusal"] and each["verdict"] == "waiting"] == []
