"""Upgrades of a pool, surge and blue-green: GKE says so of the pool, and cordons nodes itself."""

from dataclasses import replace
from typing import Any

import pytest

from functions.drainer.receive import PushReply
from shared.core.cluster.node import Node, NodePool
from shared.core.records.drain_record import DrainPhase
from tests.builders import node, order, pod, pod_class
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
UPGRADING = NodePool("a", upgrading=True)


def decisions(ebb: FakeEbb) -> dict[str, str]:
    return {line["node"]: line["reason"] for line in ebb.log.of("node_decision")}


def test_no_node_of_a_pool_that_is_upgraded_is_ordered() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), pod("p", on="n1", kind=WEB), a=UPGRADING)

    ebb.tick()

    assert ebb.bus.published == []
    assert set(decisions(ebb).values()) == {"pool_upgrading"}


def test_no_pod_is_planned_onto_a_pool_that_is_upgraded() -> None:
    """Its nodes are cordoned and made anew one after another: the pod would have to move again."""
    ebb = FakeEbb(node("n1"), node("n2", pool="b"), pod("p", on="n1", kind=WEB), b=NodePool("b", upgrading=True))

    ebb.tick()

    assert ebb.bus.published == []
    assert decisions(ebb)["n1"] == "no_place_for_pods"


def test_a_node_that_the_upgrade_has_cordoned_is_neither_candidate_nor_destination() -> None:
    ebb = FakeEbb(node("n1"), node("n2", unschedulable=True), pod("p", on="n1", kind=WEB))

    ebb.tick()

    assert ebb.bus.published == []
    assert decisions(ebb) == {"n1": "no_place_for_pods", "n2": "cordoned_by_other"}


def test_an_upgrade_that_begins_between_order_and_claim_refuses_the_order() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB), a=UPGRADING)

    ebb.drain(order())

    assert ebb.reasons("drain_result") == ["pool_upgrading"]
    assert ebb.effects() == []


def test_a_drain_in_flight_when_an_upgrade_begins_ends_as_it_was_begun() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: setattr(ebb.pools, "pools", {"a": UPGRADING}))

    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.record().phase is DrainPhase.DRAINED  # type: ignore[union-attr]  # the record exists


def test_a_drained_node_that_the_upgrade_makes_anew_is_settled_and_the_new_one_is_left_alone() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB))
    ebb.drain(order())
    ebb.pools.pools = {"a": UPGRADING}
    del ebb.cluster.nodes["n1"]
    ebb.cluster.put(node("n1", uid="uid-upgraded"), node("n1-surge"))

    ebb.pass_time(minutes=5)
    ebb.tick()

    assert ebb.remembered().claims == {}
    assert ebb.cluster.nodes["n1"].taints == ()


@pytest.mark.acceptance(91)
def test_a_node_that_the_upgrade_cordons_before_we_do_is_left_cordoned() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB))
    take = ebb.cluster.take

    def late(*given: Any) -> Node:
        ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=True))
        return take(*given)

    ebb.cluster.take = late  # type: ignore[method-assign,assignment]  # the upgrade is first by a moment
    ebb.drain(order())

    assert ebb.reasons("drain_result") == ["cordoned_by_other"]
    assert ebb.cluster.nodes["n1"].unschedulable
    assert ebb.cluster.nodes["n1"].drain_taint is None
