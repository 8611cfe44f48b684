from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.planning.autoscaler import with_announced
from shared.core.planning.autoscaler_look import rounds_alone, saves_as_much
from shared.core.planning.bill import Bill, Savings
from shared.core.policy import Policy
from shared.core.records.state import MICRO, ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod
from tests.depth import cases

SSD = {"disk": "ssd"}


def costing(name: str, price: int, **changes: Any) -> Node:
    """A node of so many micro-dollars an hour."""
    return node(name, machine=str(price), **changes)


def holding(name: str, cpu: float, owner: str = "ReplicaSet") -> Pod:
    """The pod of the node, which only `home` can take."""
    return pod(f"p-{name}", on=name, cpu=cpu, owner=f"{owner}/{name}", node_selector=SSD)


def stands_back(snapshot: Snapshot, *going: str) -> bool:
    machines = {any_node.machine: Fraction(int(any_node.machine), MICRO) for any_node in snapshot.nodes}
    savings = Savings(Bill(replace(load(), machines=machines)))
    return saves_as_much(Situation(snapshot, ClusterState(), Policy()), going, savings, ClusterArrays)


def one_or_the_other(price: int, *more: Node, best: int = 1000) -> Snapshot:
    """`home` has room for the pod of `light` (100) or of `full`, which is too full for the autoscaler.

    It looks at `kept` too, whose pod it may not move.
    """
    nodes = [costing("full", price), costing("light", 100), costing("kept", best)]
    home, own = costing("home", 1, cpu=8, labels=SSD), pod("own", on="home", cpu=5)
    pods = [holding("full", 3), holding("light", 1), holding("kept", 0.5, owner="Odd"), own]
    return cluster([*nodes, home, *more], pods)


@cases(
    "expected, price, empty",
    ("the very same: it comes sooner", False, 100, ()),
    ("less", True, 99, ()),
    ("a little more, as other dice would bring", True, 101, ()),
    ("just less than a tenth more", True, 109, ()),
    ("a tenth more", False, 110, ()),
    ("just less than a tenth of what moves pods: an empty node goes either way", True, 109, (500,)),
    ("a tenth of what moves pods", False, 110, (500,)),
)
def test_the_autoscaler_saves_as_much_up_to_a_tenth_of_what_it_saves_by_moving_pods(
    expected: bool, price: int, empty: Collection[int]
) -> None:
    picture = one_or_the_other(price, *(costing("empty", number) for number in empty))

    assert stands_back(picture, "full") is expected


@cases(
    "expected, best",
    ("all that it looks at is worth more", True, 6),
    ("all that it looks at is worth no more", False, 5),
)
def test_nobody_follows_an_autoscaler_that_could_not_save_more(expected: bool, best: int) -> None:
    assert stands_back(one_or_the_other(105, best=best), "full") is expected


@pytest.mark.parametrize(("expected", "nodes"), [(True, 500), (False, 501)])
def test_in_a_large_cluster_the_autoscaler_is_not_followed(expected: bool, nodes: int) -> None:
    more = [replace(costing(f"more{number}", 1), ready=False) for number in range(nodes - 4)]

    assert stands_back(one_or_the_other(105, *more), "full") is expected


def one_of_three(price: int, disk: str) -> Snapshot:
    """The same with three such nodes, of which one can go: to `home` as well, or to a node with room for one alone."""
    picture = one_or_the_other(price)
    lights = [costing("l1", 50), costing("l2", 100), costing("l3", 60)]
    own = [
        pod(f"p-{light.name}", on=light.name, cpu=2, owner=f"ReplicaSet/{light.name}", node_selector={"disk": disk})
        for light in lights
    ]
    nodes = [*lights, costing("other", 1, cpu=8, labels={"disk": "hdd"}), *picture.nodes]
    pods = [*own, pod("big", on="other", cpu=5.9), *picture.pods]
    return cluster(
        [any_node for any_node in nodes if any_node.name != "light"],
        [any_pod for any_pod in pods if any_pod.node != "light"],
    )


@cases(
    "expected, price, disk",
    ("its best dice against the same room", True, 109, "ssd"),
    ("a tenth more than its best dice", False, 110, "ssd"),
    ("the best dice of both", True, 9, "hdd"),
    ("a tenth more with the best dice of both", False, 10, "hdd"),
)
def test_of_its_dice_the_best_count(expected: bool, price: int, disk: str) -> None:
    assert stands_back(one_of_three(price, disk), "full") is expected


def test_pods_that_ebb_moves_keep_off_what_the_autoscaler_has_announced() -> None:
    """Else the pod of `full` would go to `light`, which then would stay."""
    nodes = [costing("full", 105), costing("light", 100), costing("kept", 1000), costing("home", 1, cpu=8, labels=SSD)]
    pods = [
        pod("p", on="full", cpu=2.5, owner="ReplicaSet/p"),
        holding("light", 1),
        holding("kept", 1.9, owner="Odd"),
        pod("own", on="home", cpu=4.1, owner="Odd/own"),
    ]

    assert not stands_back(cluster(nodes, pods), "full")


def test_the_autoscaler_removes_as_much_where_it_has_announced_it_already() -> None:
    """The pod of `light` fits on `home` next to that of `full` or in its place; `home` itself is announced."""
    seen = one_or_the_other(109)

    assert stands_back(with_announced(seen, ["light", "home"]), "full") is stands_back(seen, "full") is True


def test_the_autoscaler_is_followed_until_a_round_removes_nothing() -> None:
    """Its announcements stand while it removes: `n2`, which cannot go, holds no pod of `n1`."""
    nodes = [node("n1"), node("n2"), node("n3"), node("home", cpu=3)]
    sizes = {"n1": 0.5, "n2": 3.8, "home": 2.2}
    pods = [pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}") for name, cpu in sizes.items()]
    answers = [("n1",), ("n2", "n3"), ("n2",), ("home",)]

    def rounds(most: int) -> list[tuple[str, ...]]:
        looks = iter(answers)
        return [step.gone for step in rounds_alone(cluster(nodes, pods), lambda _: next(looks), most)]

    assert rounds(9) == [("n1",), ("n3",)]
    assert rounds(1) == [("n1",)]
