"""Planner and drainer in turns, on fakes."""

import pytest

from shared.core.records.state import KnownDemand
from tests.builders import NOW, node, pod, policy
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import begun, deliver_and_remove, fake_ebb, reschedule


@pytest.mark.acceptance(56)
def test_each_pass_takes_the_next_node_until_the_excess_falls_below_its_threshold() -> None:
    """Six nodes at 25 % have 4.5 to spare; each one that goes takes one with it, and at 1.5 the fourth stays."""
    ebb = FakeEbb(*(node(f"n{index}") for index in range(6)), policy=policy(excess_threshold=2))
    ebb.cluster.put(*(pod(f"p{index}", on=f"n{index}", cpu=1, owner=f"ReplicaSet/{index}") for index in range(6)))
    reschedule(ebb)

    taken = []
    for _ in range(6):
        ordered = ebb.tick()["orders"]
        taken.append(ordered)
        deliver_and_remove(ebb)
        ebb.pass_time(minutes=5)

    assert [len(one) for one in taken] == [1, 1, 1, 0, 0, 0]
    assert len({name for one in taken for name in one}) == 3
    assert len(ebb.cluster.nodes) == 3
    assert {line["reason"] for line in ebb.log.of("node_decision")[-3:]} == {"no_excess"}
    assert ebb.remembered().claims == {}


def test_every_line_of_a_pass_and_of_a_drain_names_the_policy_it_rests_on() -> None:
    ebb = begun(fake_ebb(policy=policy(cluster_wide={"hash": "abc"})))

    passed = [line for line in ebb.log.lines if line["event"] in {"run_summary", "node_decision", "order_published"}]
    drained = [line for line in ebb.log.lines if line["event"] in {"drain_step", "eviction"}]
    assert {line["policy_hash"] for line in (*passed, *drained)} == {"abc"}
    assert {claim.policy_hash for claim in ebb.remembered().claims.values()} == {"abc"}


def test_a_pass_remembers_the_peak_of_demand_and_one_without_a_policy_keeps_it() -> None:
    ebb = FakeEbb(node("n1"), policy=policy())
    ebb.cluster.put(*(pod(f"p{index}", on="n1", cpu=1) for index in range(3)))
    ebb.tick()

    ebb.cluster.finish("default/p0", "default/p1")
    ebb.pass_time(minutes=5)
    ebb.tick()
    fallen = ebb.remembered().demand
    ebb.policy.policy = None
    ebb.pass_time(minutes=5)
    ebb.tick()

    assert fallen == KnownDemand(cpu=1000, since=NOW, most=3000)
    assert ebb.remembered().demand == fallen
