"""Upgrades of a pool, surge and blue-green: GKE says so of the pool, and cordons nodes itself."""

from dataclasses import replace
from datetime import timedelta

from functions.drainer.main import PushReply
from shared.core.cluster.node import Node, NodePool
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.ports import Eviction
from tests.builders import node, order, pod, pod_class
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
UPGRADING = NodePool("a", upgrading=True)


def decisions(ebb: FakeEbb) -> dict[str, str]:
    return {line["node"]: line["reason"] for line in ebb.log.of("node_decision")}


@cases(
    "expected, other, pools",
    ("no node of it is ordered", {"n1": "pool_upgrading", "n2": "pool_upgrading"}, node("n2"), {"a": UPGRADING}),
    ("no pod is planned onto it: it would have to move again", {"n1": "no_place_for_pods"}, node("n2", pool="b"),
     {"b": NodePool("b", upgrading=True)}),
    ("a node that it has cordoned is neither candidate nor destination",
     {"n1": "no_place_for_pods", "n2": "cordoned_by_other"}, node("n2", unschedulable=True), {}),
)  # fmt: skip
def test_nothing_is_planned_in_a_pool_that_is_upgraded(
    expected: dict[str, str], other: Node, pools: dict[str, NodePool]
) -> None:
    ebb = FakeEbb(node("n1"), other, pod("p", on="n1", kind=WEB))
    ebb.pools.pools = {"a": NodePool("a"), **pools}

    ebb.tick()

    assert ebb.bus.published == []
    assert decisions(ebb).items() >= expected.items()


def test_a_drain_in_flight_when_an_upgrade_begins_ends_as_it_was_begun() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: setattr(ebb.pools, "pools", {"a": UPGRADING}))

    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.record().phase is DrainPhase.DRAINED


@cases(
    "expected, pool",
    ("no upgrade", False, NodePool("a")),
    ("one that may have taken the node", True, UPGRADING),
    ("one that is over for the node", False, replace(UPGRADING, version="1.34.1")),
)
def test_at_its_deadline_a_drain_leaves_a_node_cordoned_that_an_upgrade_may_have_taken(
    expected: bool, pool: NodePool
) -> None:
    ebb = FakeEbb(node("n1", version="1.34.1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB))
    shut = [Eviction(EvictionAnswer.BUDGET, "default/web")] * 2000
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), *shut]  # granted when it is asked for a trial
    ebb.later(10, lambda: setattr(ebb.pools, "pools", {"a": pool}))

    work_for(ebb, minutes=12)

    assert ebb.cluster.nodes["n1"].unschedulable is expected

    work_for(ebb, minutes=10)
    assert not ebb.cluster.nodes["n1"].unschedulable, "no longer than ten minutes after the deadline"


def work_for(ebb: FakeEbb, minutes: float) -> None:
    """Begin the drain, or go on with it, until the time is over or the drain."""
    until = ebb.clock.now() + timedelta(minutes=minutes)
    ebb.drain(order()) if ebb.find_record() is None else None
    while ebb.clock.now() < until and ebb.record().phase is not DrainPhase.SETTLED:
        ebb.deliver(ebb.bus.published[-1])


def test_a_pod_that_waits_next_to_a_held_node_gets_it_within_minutes_of_an_upgrade_that_lasts_for_hours() -> None:
    """Before, demand and the watchdog rested as long as the upgrade: eight hours, and more."""
    ebb = FakeEbb(node("n1"), *(node(f"n{number}", cpu=0.2) for number in (2, 3)), pod("p", on="n1", kind=WEB))
    ebb.drain(order())
    ebb.pools.pools = {"a": UPGRADING}
    ebb.cluster.put(pod("morning", cpu=3, unschedulable_since=ebb.clock.now()))

    waited = passes_until_freed(ebb)

    assert waited <= timedelta(minutes=15)


def passes_until_freed(ebb: FakeEbb) -> timedelta:
    """Let the planner pass every five minutes and its orders arrive, until no node is cordoned."""
    begun = ebb.clock.now()
    while any(one_node.unschedulable for one_node in ebb.cluster.nodes.values()):
        ebb.pass_time(minutes=5)
        ebb.tick()
        ebb.carry_on()
    return ebb.clock.now() - begun


def test_a_drained_node_that_the_upgrade_makes_again_is_settled_and_the_new_one_is_left_alone() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB))
    ebb.drain(order())
    ebb.pools.pools = {"a": UPGRADING}
    del ebb.cluster.nodes["n1"]
    ebb.cluster.put(node("n1", uid="uid-upgraded"), node("n1-surge"))

    ebb.pass_time(minutes=5)
    ebb.tick()

    assert ebb.remembered().claims == {}
    assert ebb.cluster.nodes["n1"].taints == ()
