from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.resources import GPU as A_GPU
from shared.core.cluster.resources import NOTHING, TPU, Resources
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import NodePods
from shared.core.policy import PoolPolicy
from shared.core.reasons import Unremovable
from shared.core.rules.pods import movable
from shared.core.rules.utilization import above_limits, excess, spare, usage
from tests.builders import GIB, NOW, cluster, node, our_taint, pod, pod_class, resources, taint
from tests.core.planning.passes import ordered, plan
from tests.depth import cases

GPU = taint("nvidia.com/gpu")
HALF = pod("web", cpu=2, memory=1.6)


def ratios(*pods: Pod) -> tuple[Fraction, Fraction]:
    used = usage(node("n1"), pods)
    assert used is not None
    return used.cpu, used.memory


@pytest.mark.acceptance(14, 22)
def test_the_ratios_are_requests_by_allocatable() -> None:
    cpu, memory = ratios(pod("p1", cpu=0.3, memory=1), pod("p2", cpu=1.1, memory=0.6))
    assert cpu == Fraction(35, 100)
    assert float(memory) == pytest.approx(0.1, abs=1e-9)


@pytest.mark.acceptance(16)
@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED])
def test_finished_pods_occupy_nothing(phase: Phase) -> None:
    assert ratios(HALF, pod("job", cpu=1, memory=1, phase=phase)) == ratios(HALF)


@pytest.mark.acceptance(18)
@cases(
    "state",
    ("terminating", {"deleting": NOW + timedelta(seconds=30)}),
    ("bound and pending", {"phase": Phase.PENDING}),
    ("of unknown phase", {"phase": Phase.UNKNOWN}),
)
def test_pods_on_their_way_in_or_out_occupy_their_requests(state: dict[str, Any]) -> None:
    assert ratios(pod("p", cpu=1, memory=1.6, **state)) == (Fraction(1, 4), ratios(HALF)[1])


@pytest.mark.acceptance(17)
@cases(
    "moves, spec",
    ("a DaemonSet's pod", False, {"owner": "DaemonSet/agent"}),
    ("a pod annotated as one", False, {"annotations": {names.DAEMON_SET_POD: "true"}}),
    ("a mirror pod", False, {"annotations": {names.MIRROR: "x"}}),
    ("a kube-system pod", True, {"namespace": "kube-system"}),
)
def test_what_never_moves_counts_in_the_ratio_and_not_in_the_movable_load(moves: bool, spec: dict[str, Any]) -> None:
    used = usage(node("n1"), [pod("p", cpu=1, memory=4, **spec)])
    assert used is not None
    quarter = Fraction(1, 4)
    assert (used.cpu, used.memory) == (quarter, quarter)
    assert (used.movable_cpu, used.movable_memory) == ((quarter, quarter) if moves else (0, 0))


@pytest.mark.acceptance(20)
def test_a_container_without_requests_counts_nothing_and_is_still_a_pod_to_move() -> None:
    idle = pod("idle", cpu=0, memory=0)
    assert ratios(HALF, idle) == ratios(HALF)
    assert movable((HALF, idle), NOW) == (HALF, idle)


def test_same_named_pods_of_two_namespaces_both_count() -> None:
    twins = [pod("redis-0", cpu=1, memory=4, namespace=word) for word in ("a", "b")]
    assert ratios(*twins) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.acceptance(23)
def test_the_score_weighs_cpu_four_times_as_much_as_memory() -> None:
    used = usage(node("n1"), [pod("p", cpu=2, memory=1.6)])
    assert used is not None
    assert float(used.score) == pytest.approx(42, abs=1e-6)


@pytest.mark.acceptance(24)
@cases("allocatable", ("nothing reported", NOTHING), ("no CPU", resources(0, 16)), ("no memory", resources(4, 0)))
def test_a_node_without_allocatable_has_no_ratio_and_no_excess(allocatable: object) -> None:
    broken = node("n1", allocatable=allocatable)
    assert (usage(broken, [HALF]), excess(resources(4, 16), broken)) == (None, None)


@pytest.mark.acceptance(27, 47)
@cases(
    "expected, cpu, memory",
    ("strictly below both", (), 2.99, 11.9),
    ("CPU exactly at the limit", (Unremovable.CPU_ABOVE_LIMIT,), 3, 1),
    ("20% CPU and 95% memory", (Unremovable.MEMORY_ABOVE_LIMIT,), 0.8, 15.2),
    ("both", (Unremovable.CPU_ABOVE_LIMIT, Unremovable.MEMORY_ABOVE_LIMIT), 4, 16),
)
def test_a_ratio_must_lie_strictly_below_its_limit(
    expected: tuple[Unremovable, ...], cpu: float, memory: float
) -> None:
    used = usage(node("n1"), [pod("p", cpu=cpu, memory=memory)])
    assert used is not None
    assert tuple(blocker.reason for blocker in above_limits(used, PoolPolicy())) == expected


@pytest.mark.acceptance(25)
@cases(
    "expected, count, cpu, memory",
    ("five at 55%", Fraction(9, 4), 5, 2.2, 0.1),
    ("four at 68.75%", Fraction(5, 4), 4, 2.75, 0.1),
    ("memory binds", Fraction(5, 4), 5, 2.2, 12),
)
def test_the_excess_is_the_least_over_cpu_and_memory(expected: Fraction, count: int, cpu: float, memory: float) -> None:
    nodes = [node(f"n{i}") for i in range(count)]
    pods = {any_node.name: NodePods([pod(f"p-{any_node.name}", cpu=cpu, memory=memory)]) for any_node in nodes}
    assert excess(spare(nodes, pods), nodes[0]) == expected


@pytest.mark.acceptance(25)
@cases(
    "expected, change",
    ("a taint", 2, {"taints": (taint("gpu"),)}),
    ("a taint that is ignored", 3, {"taints": (taint("ours"),)}),
    ("a taint that only prefers", 3, {"taints": (taint("soft", "PreferNoSchedule"),)}),
    ("a cordon", 2, {"unschedulable": True}),
    ("not Ready", 2, {"ready": False}),
    ("standing by for a buffer", 2, {"labels": {names.STANDBY_NODE: "true"}}),
)
def test_only_nodes_that_take_pods_have_something_to_spare(expected: int, change: dict[str, Any]) -> None:
    nodes = [node("n1"), node("n2"), node("n3", **change)]
    assert excess(spare(nodes, {}, frozenset({"ours"})), nodes[0]) == expected


@pytest.mark.acceptance(42)
@cases(
    "expected, taints",
    ("the pool's own taint sets no node apart", 3, [GPU, GPU, GPU]),
    ("one that a node lacks does", 1, [GPU, GPU, None]),
    ("as does one that has another value there", 0, [GPU, GPU, taint(GPU.key, value="old")]),
    ("ours is never a pool's own", 0, [our_taint()] * 3),
    ("nor is the autoscaler's", 0, [taint(names.AUTOSCALER_DELETING_TAINT)] * 3),
    ("nor a condition", 0, [taint("node.kubernetes.io/disk-pressure")] * 3),
)
def test_what_is_free_in_a_tainted_pool_is_room_for_its_pods(expected: int, taints: list[Taint | None]) -> None:
    nodes = [node(f"n{number}", taints=(row,) if row else ()) for number, row in enumerate(taints)]

    assert excess(spare(nodes, {}), nodes[0]) == expected


def gpus(name: str, count: int = 8, kind: str = A_GPU) -> Node:
    plain = node(name, cpu=96, memory=600)
    return replace(plain, allocatable=plain.allocatable + Resources.of({kind: count}))


def training(name: str, on: str, count: int, kind: str = A_GPU) -> Pod:
    """Asks for a twelfth of the CPU and a twentieth of the memory."""
    asked = Resources.of({"cpu": 8000, "memory": 30 * GIB, kind: count})
    return pod(name, on=on, kind=pod_class(owner="StatefulSet/train", requests=asked))


@cases(
    "accelerator, score, count, kind",
    ("all GPUs are asked for", Fraction(1), 100, 8, A_GPU),
    ("half of them", Fraction(1, 2), 50, 4, A_GPU),
    ("none: CPU and memory show it", Fraction(0), Fraction(80, 12) + Fraction(20, 20), 0, A_GPU),
    ("TPU chips likewise", Fraction(1), 100, 8, TPU),
)
def test_a_node_is_as_full_as_its_accelerators(accelerator: Fraction, score: Fraction, count: int, kind: str) -> None:
    used = usage(gpus("n1", kind=kind), [training("t", "n1", count, kind)])

    assert used is not None
    assert (used.cpu, used.memory) == (Fraction(1, 12), Fraction(1, 20))
    assert (used.accelerator, used.score) == (accelerator, score)


@cases(
    "expected, busy",
    ("8 of 8", "accelerator_above_limit", 8),
    ("6 of 8 are the limit", "accelerator_above_limit", 6),
    ("5 of 8 are below it", "underutilized", 5),
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
    pods = {any_node.name: NodePods([training(f"t-{any_node.name}", any_node.name, 6)]) for any_node in nodes}

    assert excess(spare(nodes, pods), nodes[0]) == Fraction(1, 2)
