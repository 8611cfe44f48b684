from typing import Any

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.names import SCALE_DOWN_DISABLED
from shared.core.cluster.node import NodePool
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import announced_taint, cluster, node, pod, resources
from tests.depth import cases


def test_potential_leaves_out_constraints_but_never_safety() -> None:
    picture = cluster(
        [node("n1"), node("n2"), node("n3"), node("n4")],
        [pod("p1", on="n1", cpu=3.5), pod("p2", on="n2", cpu=0.3), pod("bare", on="n3", owner=None)],
    )

    found = potential(Situation(picture, ClusterState(), Policy()), load())

    assert set(found.nodes) == {"n1", "n2", "n4"}
    assert {(move.pod, move.node) for move in found.moves} == {("default/p1", "n3"), ("default/p2", "n3")}
    assert found.saving > 0


@pytest.mark.acceptance(54)
@cases(
    "expected, given",
    ("no minimum", 3, {}),
    ("the pool's minimum", 1, {"pools": {"a": NodePool("a", min_total=2)}}),
    ("its zone's", 2, {"pools": {"a": NodePool("a", min_per_zone=1)}}),
    ("the cluster's cores: two nodes have eight", 1, {"minimum": resources(8)}),
)
def test_potential_counts_no_node_that_the_autoscaler_would_keep(expected: int, given: dict[str, Any]) -> None:
    picture = cluster([node(f"n{number}") for number in range(3)], **given)
    assert len(potential(Situation(picture, ClusterState(), Policy()), load()).nodes) == expected


def test_potential_leaves_the_room_that_an_announced_node_is_about_to_take_which_it_cannot_take_itself() -> None:
    keeping = {SCALE_DOWN_DISABLED: "true"}
    announced = node("m1", annotations=keeping, taints=(announced_taint(),))
    pods = [pod("n", on="n1", cpu=1.5), pod("d", on="n2", cpu=2)]
    nodes = [announced, node("n1"), node("n2")]
    going = cluster(nodes, [*pods, pod("m", on="m1", cpu=1.5)])

    assert potential(Situation(going, ClusterState(), Policy()), load()).nodes == ()
    assert potential(Situation(cluster(nodes[1:], pods), ClusterState(), Policy()), load()).nodes == ("n1",)
