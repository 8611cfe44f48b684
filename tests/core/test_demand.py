"""Demand that returns gets the room back that we hold, and only where that would help."""

from dataclasses import replace
from typing import Any

import pytest

from shared.core.demand import relieved
from shared.core.names import MIRROR
from shared.core.snapshot import Node, Pod, Snapshot
from tests.builders import NOW, cluster, node, our_taint, pod


def held(name: str, **changes: Any) -> Node:
    return replace(node(name), unschedulable=True, taints=(our_taint(name),), **changes)


def pending(name: str, cpu: float = 1, **changes: Any) -> Pod:
    return pod(name, cpu=cpu, unschedulable_since=NOW, **changes)


def names(snapshot: Snapshot) -> dict[str, str]:
    ours = [each for each in snapshot.nodes if each.drain_taint]
    return {name: each.name for name, each in relieved(snapshot, ours).items()}


FULL = [node("open"), pod("big", on="open", cpu=3.5)]


@pytest.mark.parametrize(
    ("expected", "waits"),
    [
        pytest.param({"h1": "p"}, [pending("p")], id="a pod that fits only on a held node"),
        pytest.param({}, [pending("p", cpu=0.2)], id="a pod that fits on an open node is held by something else"),
        pytest.param({}, [pending("p", cpu=9)], id="a pod that fits nowhere"),
        pytest.param({}, [pending("p", node_selector={"gpu": "yes"})], id="a pod that asks for another node"),
        pytest.param({"h1": "p1"}, [pending("p1"), pending("p2")], id="two pods that fit on one node take one node"),
        pytest.param(
            {"h1": "p1", "h2": "p2"}, [pending("p1", cpu=3), pending("p2", cpu=3)], id="two big pods take a node each"
        ),
        pytest.param({}, [pod("p", cpu=1)], id="a pod that the scheduler has not judged yet"),
        pytest.param({}, [pending("p", owner="DaemonSet/agent")], id="a DaemonSet's pod is bound to its own node"),
        pytest.param({}, [pending("p", annotations={MIRROR: "x"})], id="a mirror pod is bound to its own node"),
    ],
)
def test_a_held_node_is_given_back_only_for_a_pod_it_would_take(expected: dict[str, str], waits: list[Pod]) -> None:
    open_node, big = FULL
    picture = cluster([open_node, held("h1"), held("h2")], [big, *waits])  # type: ignore[list-item]  # one node, one pod

    assert expected == names(picture)


def test_the_emptiest_held_node_is_asked_first() -> None:
    picture = cluster([held("h1"), held("h2")], [pod("left", on="h1", cpu=2), pending("p")])

    assert names(picture) == {"h2": "p"}
