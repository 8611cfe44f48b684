"""The picture of the nodes: true to the API, and whole at every width."""

from fractions import Fraction
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from infra.local.demo.screen import ClusterView, NodeBar, Sign, ViewBuilder, node_bars

NAMES = [f"gke-demo-backend-25d2cdf2-0{number}ab" for number in range(7)]


def drawn(width: int, signs: dict[str, Sign]) -> list[str]:
    bars = [NodeBar(name, "backend", Fraction(1, 2)) for name in NAMES[1:]]
    page = StringIO()
    Console(file=page, width=width).print(
        node_bars(ClusterView([NodeBar(NAMES[0], "backend", None), *bars], 9, 0), signs, width)
    )
    return [line.rstrip() for line in page.getvalue().splitlines()]


@pytest.mark.parametrize(("rows", "width"), [(7, 30), (3, 80), (2, 120), (2, 300)])
def test_as_many_nodes_stand_next_to_each_other_as_fit(rows: int, width: int) -> None:
    lines = drawn(width, {})
    assert sum("backend-0" in line for line in lines) == rows
    assert max(map(len, lines)) <= min(width, 120)


def test_a_node_shows_sign_name_bar_and_share() -> None:
    lines = drawn(80, dict.fromkeys(NAMES, Sign.HELD))
    assert lines[:2] == [
        "pool backend: 6 nodes",
        "- backend-00ab gone       ! backend-01ab ██░░  50%  ! backend-02ab ██░░  50%",
    ]
    assert lines[-1] == "bars: requested CPU  ! held by a PDB  - gone"


def test_the_legend_never_parts_a_sign_from_its_word() -> None:
    signs = dict(zip(NAMES, [Sign.GONE, *[sign for sign in Sign if sign is not Sign.GONE]][:7], strict=True))
    for width in range(30, 90):
        assert not any(line.endswith(tuple(f" {sign.mark}" for sign in Sign)) for line in drawn(width, signs))


def _node(name: str, cpu: str) -> dict[str, Any]:
    labels = {"cloud.google.com/gke-nodepool": "web"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": cpu}}}


def _pod(node: str, *cpus: str, phase: str = "Running") -> dict[str, Any]:
    containers = [{"resources": {"requests": {"cpu": cpu}}} for cpu in cpus]
    return {"metadata": {}, "spec": {"nodeName": node, "containers": containers}, "status": {"phase": phase}}


def test_a_picture_holds_the_share_of_cpu_that_pods_ask_for_and_remembers_who_has_gone() -> None:
    builder = ViewBuilder()
    pods = [_pod("a", "500m", "500m"), _pod("b", "1"), _pod("", "1", phase="Pending")]
    first = builder.build([_node("a", "4"), _node("b", "2000m")], pods)
    second = builder.build([_node("b", "2")], pods[1:])
    assert [bar.share for bar in first.bars] == [0.25, 0.5]
    assert ([bar.share for bar in second.bars], second.alive, second.pool("web")) == ([None, 0.5], 1, 1)
    assert (first.pods, first.unsettled, first.mean_share) == (3, 1, 0.375)
