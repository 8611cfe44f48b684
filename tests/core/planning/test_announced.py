"""Nodes that the autoscaler has announced: their room is kept, and they are left to it."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.node import NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.selection import SOON
from shared.core.policy import SingleReplicas
from tests.builders import NOW, announced_taint, cluster, node, pod, policy
from tests.core.planning.passes import SINGLE, marked, plan, verdicts
from tests.depth import cases

REAPED = {"labels": {COMPUTE_CLASS_LABEL: "web"}}
NO_PLACE, GOES = ("keep", "no_place_for_pods"), ("order", "underutilized")


@cases(
    "expected, free, cpu, changes",
    ("only one of them fits: the autoscaler was first", NO_PLACE, 2, 1.5, {}),
    ("both fit", GOES, 3.2, 1.5, {}),
    ("a reaper's that is occupied all the same: its class may have changed", NO_PLACE, 1.8, 1.5, REAPED),
    ("a reaper's that is empty takes no room", GOES, 1.8, 0, REAPED),
)
def test_the_room_of_the_pods_of_an_announced_node_is_not_free(
    expected: tuple[str, str], free: float, cpu: float, changes: dict[str, Any]
) -> None:
    announced = node("m1", pool="b", taints=(announced_taint("1"),), **changes)
    pods = [pod("n", on="n1", cpu=1.5), pod("m", on="m1", cpu=cpu, memory=0), pod("d", on="dest", cpu=8 - free)]
    classes = ComputeClasses({"web": AutoscalingPolicy(threshold=Fraction(0))})
    picture = cluster([node("n1"), announced, node("dest", cpu=8)], pods, compute_classes=classes)

    made = verdicts(plan(picture, marks=marked("n1")))

    assert (made["n1"], made["m1"]) == (expected, ("keep", "pool_disabled"))


def announced(count: int, free: float = 1) -> Snapshot:
    """So many announced nodes, one that is not, room for the pods of the announced ones, and so much more."""
    mark = announced_taint("1")
    nodes = [*(node(f"m{number:02}", taints=(mark,)) for number in range(count)), node("n1")]
    pods = [
        pod(f"p{any_node.name}", on=any_node.name, cpu=1.5, owner=f"ReplicaSet/{any_node.name}") for any_node in nodes
    ]
    return cluster([*nodes, node("rest", cpu=1.5 * count + free, memory=64, pool="b")], pods)


@cases(
    "expected, count",
    ("which the autoscaler soon removes", [], SOON),
    ("unless there are so many that it takes long", ["m00"], SOON + 1),
)
def test_announced_nodes_are_left_to_the_autoscaler_and_their_room_is_kept(expected: list[str], count: int) -> None:
    made = plan(announced(count))

    assert [order.node for order in made.orders] == expected
    assert verdicts(made)["m01"] == ("keep", "left_to_autoscaler")
    assert verdicts(made)["n1"] == ("keep", "nodes_per_pass" if expected else "no_place_for_pods")


def test_of_so_many_those_are_no_room_for_others_that_go() -> None:
    made = verdicts(plan(announced(SOON + 1, free=3), policy(max_nodes_per_pass=2)))

    assert (made["n1"], made["m00"]) == (("order", "underutilized"), ("order", "underutilized"))


@cases(
    "expected, setting",
    ("where a gap is allowed", "left_to_autoscaler", SingleReplicas.MOVE),
    ("where none is", "underutilized", SingleReplicas.SURGE),
)
def test_no_single_replica_that_must_have_no_gap_is_left_to_the_autoscaler(
    expected: str, setting: SingleReplicas
) -> None:
    seen = replace(announced(1), workloads={"default/ReplicaSet/m00": SINGLE})

    assert verdicts(plan(seen, policy(single_replicas=setting)))["m00"][1] == expected


PACKS = "OPTIMIZE_UTILIZATION"
YOUNG = {"namespace": "kube-system", "created": NOW}
CLASSES = {"web": AutoscalingPolicy(threshold=Fraction(4, 5)), "idle": AutoscalingPolicy(threshold=Fraction(0))}


@cases(
    "expected, profile, of_class, pods",
    ("by its profile", "autoscaler_packs", PACKS, "", {"cpu": 3}),
    ("by a ComputeClass", "autoscaler_packs", "BALANCED", "web", {"cpu": 3}),
    ("but for one that does not pack", "underutilized", "BALANCED", "", {"cpu": 3}),
    ("but where it deletes empty nodes alone", "underutilized", PACKS, "idle", {"cpu": 3}),
    ("but where nobody knows what its class sets", "underutilized", PACKS, "unread", {"cpu": 3}),
    ("but for a node that is too full for it", "underutilized", PACKS, "", {"cpu": 3.6}),
    ("but for a pod that it keeps", "underutilized", PACKS, "", {"cpu": 3, **YOUNG}),
    ("but for a pod that surges", "underutilized", PACKS, "", {"cpu": 3, "owner": "ReplicaSet/m00"}),
)
def test_an_autoscaler_that_packs_is_left_each_node_that_it_may_empty_itself(
    expected: str, profile: str, of_class: str, pods: dict[str, Any]
) -> None:
    nodes = [node("n1", labels={COMPUTE_CLASS_LABEL: of_class} if of_class else {}), node("home", cpu=8, pool="b")]
    classes, pools = ComputeClasses(CLASSES), {"a": NodePool("a"), "b": NodePool("b", autoscaled=False)}
    picture = cluster(nodes, [pod("p", on="n1", **pods)], profile=profile, compute_classes=classes, pools=pools)
    rules = policy(cpu_limit=Fraction(1), single_replicas=SingleReplicas.SURGE)
    made = verdicts(plan(replace(picture, workloads={"default/ReplicaSet/m00": SINGLE}), rules))

    assert made["n1"][1] == expected


@cases("expected, cpu", ("an empty one", "empty", 0), ("an expired one", "expired", 3))
def test_it_is_left_no_node_that_goes_whatever_it_saves(expected: str, cpu: float) -> None:
    nodes = [node("n1", created=NOW - timedelta(days=9)), node("home", cpu=8, pool="b")]
    pods = [pod("p", on="n1", cpu=cpu)] if cpu else []
    made = plan(cluster(nodes, pods, profile=PACKS), policy(expire_after=timedelta(days=8)))

    assert verdicts(made)["n1"] == ("order", expected)


def test_what_else_keeps_a_node_of_such_an_autoscaler_names_it() -> None:
    picture = cluster([node("n1"), node("home", pool="b")], [pod("p", on="n1", cpu=1)], profile=PACKS)

    assert verdicts(plan(picture, policy(enabled=False)))["n1"] == ("keep", "pool_disabled")
