"""A node is bought for its GPUs or TPU chips: how many of them are asked for says how full it is."""

from dataclasses import replace
from fractions import Fraction

import pytest

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import GPU, TPU, Resources
from shared.core.cluster.snapshot import NodePods
from shared.core.rules.utilization import excess, spare, usage
from tests.builders import GIB, cluster, node, pod, pod_class
from tests.core.planning.passes import ordered, plan


def gpus(name: str, count: int = 8, kind: str = GPU) -> Node:
    plain = node(name, cpu=96, memory=600)
    return replace(plain, allocatable=plain.allocatable + Resources.of({kind: count}))


def training(name: str, on: str, count: int, kind: str = GPU) -> Pod:
    """Asks for a twelfth of the CPU and a twentieth of the memory."""
    asked = Resources.of({"cpu": 8000, "memory": 30 * GIB, kind: count})
    return pod(name, on=on, kind=pod_class(owner="StatefulSet/train", requests=asked))


@pytest.mark.parametrize(
    ("accelerator", "score", "count", "kind"),
    [
        pytest.param(Fraction(1), 100, 8, GPU, id="all GPUs are asked for"),
        pytest.param(Fraction(1, 2), 50, 4, GPU, id="half of them"),
        pytest.param(Fraction(0), Fraction(80, 12) + Fraction(20, 20), 0, GPU, id="none: CPU and memory show it"),
        pytest.param(Fraction(1), 100, 8, TPU, id="TPU chips likewise"),
    ],
)
def test_a_node_is_as_full_as_its_accelerators(accelerator: Fraction, score: Fraction, count: int, kind: str) -> None:
    used = usage(gpus("n1", kind=kind), [training("t", "n1", count, kind)])

    assert used is not None
    assert (used.cpu, used.memory) == (Fraction(1, 12), Fraction(1, 20))
    assert (used.accelerator, used.score) == (accelerator, score)


def test_a_node_without_accelerators_is_measured_as_ever() -> None:
    used = usage(node("n1"), [pod("p", cpu=1, memory=4)])

    assert used is not None
    assert (used.accelerator, used.score) == (None, Fraction(25))


@pytest.mark.parametrize(
    ("expected", "busy"),
    [
        pytest.param("accelerator_above_limit", 8, id="8 of 8"),
        pytest.param("accelerator_above_limit", 6, id="6 of 8 are the limit"),
        pytest.param("underutilized", 5, id="5 of 8 are below it"),
    ],
)
def test_busy_accelerators_keep_a_node_of_idle_cpu(expected: str, busy: int) -> None:
    pods = [training("t1", "n1", busy), training("t2", "n2", 1), pod("web", on="n2", cpu=70)]

    decision = plan(cluster([gpus("n1"), gpus("n2")], pods)).of("n1")

    assert decision is not None
    assert (decision.reason, decision.accelerator_ratio) == (expected, Fraction(busy, 8))
    details = [blocker.detail for blocker in decision.blockers]
    assert details == ([f"nvidia.com/gpu {busy / 8:.1%} (limit 75%)"] if busy > 5 else [])


def test_the_node_with_the_idlest_accelerators_goes_first() -> None:
    """By CPU and memory n1 is the emptier one."""
    pods = [
        training("t1", "n1", 2),
        training("t3", "n1", 2),
        training("t2", "n2", 2),
        pod("web", on="n2", cpu=20, memory=60),
    ]

    assert ordered(plan(cluster([gpus("n1"), gpus("n2")], pods))) == ["n2"]


def test_nodes_of_busy_accelerators_are_no_excess_for_their_idle_cpu() -> None:
    nodes = [gpus("n1"), gpus("n2")]
    pods = {each.name: NodePods([training(f"t-{each.name}", each.name, 6)]) for each in nodes}

    assert excess(spare(nodes, pods), nodes[0]) == Fraction(1, 2)
