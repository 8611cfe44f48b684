"""Pods that are pending are counted and named, and take room."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import dumps
from tests.cli.running import run_ebb

Object = dict[str, Any]


def is_web(each: Object) -> bool:
    return bool(each["kind"] == "Pod" and each["metadata"]["labels"]["app"] == "web")


def unbound(each: Object) -> Object:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": dumps.NEWEST}
    spec = {key: value for key, value in each["spec"].items() if key != "nodeName"}
    return {**each, "spec": spec, "status": {"phase": "Pending", "conditions": [said]}}


def written(path: Path, objects: list[Object]) -> Path:
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    return path


def with_pending(path: Path, pods: int) -> Path:
    """Write a dump of 20 nodes in which so many of its web pods have no node."""
    objects = list(dumps.items(20, cpu="400m"))
    web = [thing for thing in objects if is_web(thing)]
    chosen = [thing["metadata"]["uid"] for thing in web[:: len(web) // pods][:pods]] if pods else []
    return written(path, [unbound(thing) if thing["metadata"].get("uid") in chosen else thing for thing in objects])


def test_pods_that_become_pending_raise_no_saving_and_lower_no_bound(tmp_path: Path) -> None:
    plans = [
        json.loads(run_ebb("plan", "--dump", with_pending(tmp_path / f"{pods}.json", pods), "-o", "json").stdout)
        for pods in (0, 13)
    ]

    running, waiting = ({each["rung"]: each["nodes"] for each in plan["ladder"]} for plan in plans)

    assert (plans[0]["totals"]["pending_pods"], plans[1]["totals"]["pending_pods"]) == (0, 13)
    assert waiting["policy_at_rest"] >= running["policy_at_rest"]
    assert waiting["bound"] >= running["bound"]


@pytest.mark.parametrize(
    "words", [("plan",), ("plan", "-o", "markdown"), ("explain", "0001"), ("why-not",)], ids=" ".join
)
def test_an_answer_shows_how_many_pods_are_pending_and_names_some(words: tuple[str, ...], tmp_path: Path) -> None:
    shown = run_ebb(*words, "--dump", with_pending(tmp_path / "dump.json", 13)).stdout
    (said,) = [line for line in shown.splitlines() if "13 pods are pending" in line]
    assert "shop/web-5d4f8b-0000" in said
    assert "10 more" in said


def test_the_first_line_of_the_nodes_counts_them(tmp_path: Path) -> None:
    shown = run_ebb("plan", "--dump", with_pending(tmp_path / "dump.json", 13)).stdout
    assert "(13 pending)" in next(line for line in shown.splitlines() if line.startswith("Nodes "))
    assert "pending" not in run_ebb("plan", "--dump", with_pending(tmp_path / "none.json", 0)).stdout


@pytest.mark.parametrize(
    ("has_no_place", "cpu"), [pytest.param(True, "90", id="no place"), pytest.param(False, "100m", id="a place")]
)
def test_one_pending_pod_is_one_warning(has_no_place: bool, cpu: str, tmp_path: Path) -> None:
    pod = unbound(dumps.pod("lone", "", cpu=cpu))
    shown = run_ebb("plan", "--dump", written(tmp_path / "dump.json", [*dumps.items(4), pod])).stdout
    (said,) = [line for line in shown.splitlines() if "shop/lone" in line]
    assert ("no place now" in said) is has_no_place
    assert ("includes the room" in said) is not has_no_place


def test_of_several_those_without_a_place_are_named_in_the_same_warning(tmp_path: Path) -> None:
    pods = [unbound(dumps.pod(name, "", cpu=cpu)) for name, cpu in (("huge", "90"), ("tiny", "100m"))]
    shown = run_ebb("plan", "--dump", written(tmp_path / "dump.json", [*dumps.items(4), *pods])).stdout
    (said,) = [line for line in shown.splitlines() if "shop/tiny" in line]
    assert "2 pods are pending (shop/huge, shop/tiny). 1 of them has no place now (shop/huge)" in said
