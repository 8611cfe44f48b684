"""In which order nodes are asked, and what already has a claim to the room that is left."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.planning.plan import PlannedOrder
from shared.core.reasons import DrainReason
from tests.builders import NOW, cluster, node, pod, policy, taint
from tests.core.planning.passes import ordered, plan, verdicts


def first(*pods: Any, **settings: Any) -> PlannedOrder:
    """Plan for an old node n1 and a younger n2, of which one may go; return the order."""
    nodes = [node("n1"), node("n2", created=NOW - timedelta(hours=12)), node("n3", pool="b", cpu=32, memory=64)]
    (order,) = plan(cluster(nodes, pods), policy(max_nodes_per_pass=1, **settings)).orders
    return order


@pytest.mark.acceptance(36)
def test_an_empty_node_goes_before_one_that_is_less_used() -> None:
    """A DaemonSet's pods fill it, and go with it."""
    order = first(pod("agent", on="n1", cpu=2.5, owner="DaemonSet/agent"), pod("web", on="n2", cpu=0.1))

    assert (order.node, order.reason) == ("n1", DrainReason.EMPTY)


def test_an_expired_node_goes_before_one_that_is_less_used() -> None:
    pods = pod("api", on="n1", cpu=2.5, owner="ReplicaSet/api"), pod("web", on="n2", cpu=0.1)

    order = first(*pods, expire_after=timedelta(days=1))

    assert (order.node, order.reason) == ("n1", DrainReason.EXPIRED)


def test_an_empty_node_goes_before_an_expired_one() -> None:
    pods = pod("api", on="n1", cpu=0.1), pod("agent", on="n2", cpu=2.5, owner="DaemonSet/agent")

    order = first(*pods, expire_after=timedelta(days=1))

    assert (order.node, order.reason) == ("n2", DrainReason.EMPTY)


@pytest.mark.parametrize(
    ("expected", "taints"),
    [
        pytest.param([], (taint(names.AUTOSCALER_DELETING_TAINT),), id="the autoscaler deletes it: its pod comes too"),
        pytest.param(["n1"], (taint("somebody"),), id="it stays, with its pod"),
    ],
)
def test_the_pods_of_a_node_that_the_autoscaler_deletes_keep_their_room(expected: list[str], taints: Any) -> None:
    """n3 has room for what n0 or n1 holds, not for both."""
    nodes = [node("n0", taints=taints, pool="b"), node("n1"), node("n3", pool="b")]
    pods = [pod("p0", on="n0", cpu=1.5), pod("p1", on="n1", cpu=1.5), pod("p3", on="n3", cpu=2)]

    made = plan(cluster(nodes, pods))

    assert ordered(made) == expected
    assert expected or verdicts(made)["n1"] == ("keep", "no_place_for_pods")
