"""Planner and drainer in turns, on fakes."""

import pytest
from msgspec.structs import replace

from shared.core.policy import Policy
from tests.builders import NOW, claim, node, order, pdb, pod, policy
from tests.shells.house import House
from tests.shells.planner_house import MINUTE, begun, house, reschedule, turn_until_gone


@pytest.mark.acceptance(56)
def test_nodes_go_one_after_another_until_the_excess_is_used_up() -> None:
    ebb = House(*(node(f"n{index}") for index in range(5)), policy=policy(excess_threshold=2))
    for index in range(5):
        for part in range(11):
            ebb.cluster.put(pod(f"p{index}-{part}", on=f"n{index}", cpu=0.2, owner=f"ReplicaSet/{index}-{part}"))
    reschedule(ebb)

    turn_until_gone(ebb)

    assert len(ebb.cluster.nodes) == 4
    assert ebb.remembered().claims == {}


def test_the_time_gap_survives_a_cold_start_because_the_state_holds_it() -> None:
    ebb = house(policy=policy(cluster_wide={"time_gap": 10 * MINUTE}))
    ebb.tick()
    ebb.deliver(ebb.bus.published.pop())
    ebb.remember(replace(ebb.remembered(), claims={"uid-gone": claim("gone", since=NOW)}))

    ebb.pass_time(minutes=5)

    assert ebb.tick()["orders"] == []


def test_two_orders_for_one_place_in_the_budget_give_one_claim() -> None:
    rules = policy(budgets=Policy().budgets)
    ebb = House(node("n1"), node("n2"), node("n3"), pdb("web", app="web"), policy=rules)

    ebb.drain(order("n1", order_id="one"))
    ebb.drain(order("n2", order_id="two"))

    assert set(ebb.remembered().claims) == {"uid-n1"}
    assert ebb.reasons("drain_result") == ["budget"]


def test_every_line_of_a_pass_and_of_a_drain_names_the_policy_it_rests_on() -> None:
    ebb = house(policy=policy(cluster_wide={"hash": "abc"}))
    begun(ebb)

    passed = [line for line in ebb.log.lines if line["event"] in {"run_summary", "node_decision", "order_published"}]
    drained = [line for line in ebb.log.lines if line["event"] in {"drain_step", "eviction"}]
    assert {line["policy_hash"] for line in (*passed, *drained)} == {"abc"}
    assert {claim.policy_hash for claim in ebb.remembered().claims.values()} == {"abc"}
