from collections.abc import Collection
from dataclasses import replace

import pytest

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.cluster_packings import SchedulerPacking
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.strategies import LEAST_ALLOCATED
from shared.core.planning.autoscaler import with_announcement
from shared.core.planning.autoscaler_look import count_taints, drain_nodes
from tests.builders import cluster, node, our_taint, pod
from tests.depth import cases


def home_of_p(nodes: list[Node], pods: list[Pod], tainted: Collection[str] = (), profile: str = "BALANCED") -> str:
    """Return where the pod `p` lies once the node `leaving` is drained."""
    later = drain_nodes(replace(cluster(nodes, pods), profile=profile), ["leaving"], tainted).snapshot
    return {any_pod.name: any_pod.node for any_pod in later.pods}["p"]


@cases(
    "expected, profile",
    ("the default profile spreads: the emptier by share, though less is free", "small", "BALANCED"),
    ("optimize-utilization packs: the fuller by share", "large", "OPTIMIZE_UTILIZATION"),
)
def test_a_large_node_is_not_emptier_for_being_large(expected: str, profile: str) -> None:
    nodes = [node("leaving"), node("large", cpu=16, memory=64), node("small", cpu=4, memory=16)]
    pods = [
        pod("p", on="leaving", cpu=0.5, memory=2),
        pod("l", on="large", cpu=8, memory=32),
        pod("s", on="small", cpu=1, memory=4),
    ]

    assert home_of_p(nodes, pods, profile=profile) == expected


@cases(
    "expected, tainted, tolerated",
    ("a soft taint weighs more than room", "fuller", ("emptier",), 0.4),
    ("where no other node has room it hinders nobody", "emptier", ("emptier",), 0.7),
    ("nodes that all have one are as if none had", "emptier", ("emptier", "fuller"), 0.4),
)
def test_a_soft_taint_is_weighed(expected: str, tainted: tuple[str, ...], tolerated: float) -> None:
    nodes = [node("leaving"), node("fuller"), node("emptier")]
    pods = [
        pod("p", on="leaving", cpu=tolerated, owner="ReplicaSet/p"),
        pod("f", on="fuller", cpu=3.5, owner="ReplicaSet/f"),
        pod("e", on="emptier", cpu=1, owner="ReplicaSet/e"),
    ]

    assert home_of_p(nodes, pods, tainted) == expected


def test_each_pod_counts_for_the_next_of_its_workload() -> None:
    """`roomy` is the better place for the first alone."""
    nodes = [node("leaving", zone="x"), node("roomy", zone="y"), node("other", zone="z")]
    own = [pod(f"p{n}", on="leaving") for n in range(2)]
    filled = pod("x", on="other", cpu=1, memory=4, owner="ReplicaSet/x")
    later = drain_nodes(cluster(nodes, [*own, filled]), ["leaving"], ()).snapshot

    assert {any_pod.node for any_pod in later.pods if any_pod.name != "x"} == {"roomy", "other"}


def test_an_announcement_leaves_other_taints_as_they_are() -> None:
    announced = with_announcement(node("n", taints=(our_taint("x"),)), wanted=True)

    assert announced.taints[0] == our_taint("x")
    assert with_announcement(announced, wanted=False).taints == (our_taint("x"),)


def test_of_two_nodes_with_as_much_room_that_is_taken_whose_cpu_and_memory_come_closer() -> None:
    nodes = [node("leaving"), node("by-cpu"), node("by-memory")]
    pods = [
        pod("p", on="leaving", cpu=0, memory=4, owner="ReplicaSet/p"),
        pod("c", on="by-cpu", cpu=2, memory=0, owner="ReplicaSet/c"),
        pod("m", on="by-memory", cpu=0, memory=8, owner="ReplicaSet/m"),
    ]

    assert home_of_p(nodes, pods) == "by-cpu"


def test_pods_of_one_workload_keep_apart_by_host_and_zone() -> None:
    nodes = [node("leaving", zone="a"), node("near", zone="b"), node("same", zone="b"), node("far", zone="c", cpu=3)]
    alone = [pod("p", on="leaving"), pod("x", on="far", cpu=1.2, owner="ReplicaSet/x")]

    assert home_of_p(nodes, [*alone, pod("q", on="same")]) == "far"
    assert home_of_p(nodes, alone) == "same"


@cases(
    "expected, crowd, filled, tainted",
    ("one pod less outweighs so much room", "fewer", 1, {"fewer": 2.5}, ()),
    ("not more room than that", "more", 1, {"fewer": 3}, ()),
    ("a soft taint outweighs both", "more", 6, {"more": 2}, ("fewer",)),
)
def test_its_pods_nearby_room_and_a_soft_taint_are_weighed_against_each_other(
    expected: str, crowd: int, filled: dict[str, float], tainted: tuple[str, ...]
) -> None:
    nodes = [node("leaving", zone="x"), node("more", zone="y"), node("fewer", zone="z")]
    own = [pod(f"p{n}", on="more", cpu=0.1, memory=0.4) for n in range(crowd)]
    others = [pod("x", on=name, cpu=cpu, memory=4 * cpu, owner="ReplicaSet/x") for name, cpu in filled.items()]

    assert home_of_p(nodes, [pod("p", on="leaving", cpu=0.1, memory=0.4), *own, *others], tainted) == expected


def test_two_soft_taints_on_one_node_halve_the_weight_of_one_on_another() -> None:
    """A workload whose pods crowd the other nodes and their zone then goes where a single taint is."""
    keepers = [node(f"keeper{n}", zone="y") for n in range(3)]
    nodes = [node("leaving"), *keepers, node("once"), node("twice")]
    pods = [
        pod("p", on="leaving"),
        *(pod(f"{keeper.name}-{n}", on=keeper.name) for keeper in keepers for n in range(6)),
    ]
    arrays = ClusterArrays(cluster(nodes, pods))

    def target(*taints: tuple[str, ...]) -> str:
        packing = SchedulerPacking(arrays, LEAST_ALLOCATED, count_taints(arrays, *taints))
        packing.close([arrays.index["leaving"]])
        packing.reserve([arrays.kind_of[pods[0].spec]], OUTSIDE)
        return arrays.nodes[packing.log[-1].target].name

    assert target(("once", "twice"), ("twice",)) == "once"
    assert target(("once", "twice")).startswith("keeper")


@pytest.mark.parametrize(("expected", "cpu"), [(("n",), 4), ((), 3.9)])
def test_each_pod_leaves_less_room_for_the_next(expected: tuple[str, ...], cpu: float) -> None:
    pods = [pod(f"p{number}", on="n", cpu=2, owner=f"ReplicaSet/{number}") for number in range(2)]

    assert drain_nodes(cluster([node("n"), node("home", cpu=cpu)], pods), ["n"], ()).gone == expected


@cases("names", ("a drain needs room for them", ()), ("the autoscaler does not", ("n",)))
def test_expendable_pods_end_with_a_node_that_the_autoscaler_removes(names: tuple[str, ...]) -> None:
    balloon = pod("balloon", on="n", cpu=3, owner="ReplicaSet/balloon", priority=-11)
    seen = cluster([node("n"), node("home", cpu=1)], [balloon, pod("p", on="n", cpu=0.5)])

    assert drain_nodes(seen, ["n"], (), by_autoscaler=names).gone == names
