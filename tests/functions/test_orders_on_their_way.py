"""Between publishing and claim: a node is ordered once, its budget and room are kept, and nothing is stranded."""

from datetime import timedelta

import pytest

from shared.core.policy import Budget, Limit
from shared.errors import Retryable
from tests.builders import node, pod, policy
from tests.functions.fake_ebb import FakeEbb


def fake_ebb(nodes: int = 6, budget: int = 2) -> FakeEbb:
    """Nodes that may all go, two at a time, two in a pass."""
    many = policy(budgets=(Budget(Limit(count=budget)),), max_nodes_per_pass=2)
    return FakeEbb(*(node(f"n{index}") for index in range(nodes)), policy=many)


def later(ebb: FakeEbb, minutes: float = 5) -> dict[str, object]:
    ebb.pass_time(minutes=minutes)
    return ebb.tick()


def ordered(ebb: FakeEbb) -> list[str]:
    return sorted(drain.node for drain in ebb.bus.drains)


def verdicts(ebb: FakeEbb, verdict: str) -> set[str]:
    return {str(line["node"]) for line in ebb.log.of("node_decision") if line["verdict"] == verdict}


def test_a_node_whose_order_waits_is_not_ordered_again() -> None:
    ebb = fake_ebb()
    ebb.tick()
    ebb.log.lines.clear()

    summary = later(ebb)

    assert (ordered(ebb), summary["orders"]) == (["n0", "n1"], [])
    assert verdicts(ebb, "in_flight") == {"n0", "n1"}


def test_orders_on_their_way_use_up_the_budget_but_only_the_planners() -> None:
    ebb = fake_ebb(budget=3)
    ebb.tick()
    later(ebb)

    assert ordered(ebb) == ["n0", "n1", "n2"]
    for sent in (*ebb.bus.published,):
        ebb.deliver(sent)
    assert len(ebb.remembered().claims) == 3
    assert ebb.remembered().published == {}


def test_a_refused_order_frees_its_node_for_the_next_pass() -> None:
    ebb = fake_ebb()
    ebb.tick()
    first, _ = ebb.bus.published
    ebb.cluster.put(node(first.node, unschedulable=True))

    ebb.deliver(first)

    assert ebb.reasons("drain_result") == ["cordoned_by_other"]
    assert set(ebb.remembered().published) == {"uid-n1"}
    ebb.cluster.put(node(first.node))
    later(ebb)
    assert ordered(ebb) == ["n0", "n0", "n1"]


def test_an_order_that_was_lost_is_given_again_once_it_has_expired() -> None:
    ebb = fake_ebb()
    ebb.tick()
    ebb.bus.published.clear()
    later(ebb)
    assert ordered(ebb) == []

    later(ebb, 5.1)

    assert ordered(ebb) == ["n0", "n1"]


def test_a_pass_that_dies_between_writing_and_publishing_loses_that_pass_alone() -> None:
    ebb = fake_ebb()
    ebb.bus.failure = Retryable("bus", "no answer")
    with pytest.raises(Retryable):
        ebb.tick()
    assert set(ebb.remembered().published) == {"uid-n0", "uid-n1"}
    ebb.bus.failure = None
    later(ebb)

    assert ordered(ebb) == ["n0", "n1"]
    assert {sent.claim.order_id for sent in ebb.remembered().published.values()} == {
        sent.order_id for sent in ebb.bus.published
    }


def test_room_that_an_order_on_its_way_was_proved_with_is_not_given_away_again() -> None:
    """One place is left: the pod of n1's order takes it, so that n2 stays, though nobody has claimed n1 yet."""
    own = [pod(f"p{index}", on=f"n{index}", cpu=2, owner=f"ReplicaSet/r{index}") for index in (1, 2, 3, 4)]
    nodes = [node(f"n{index}", cpu=4) for index in (1, 2, 3, 4)]
    full = [pod(f"full{index}", on=f"n{index}", cpu=2, owner=f"ReplicaSet/f{index}") for index in (3, 4)]
    rules = policy(budgets=(Budget(Limit(count=4)),), max_nodes_per_pass=1, required_count=0)
    ebb = FakeEbb(*nodes, *own, *full, policy=rules)
    ebb.tick()
    assert ordered(ebb) == ["n1"]

    later(ebb)

    assert ordered(ebb) == ["n1"]
    kept = {str(line["node"]): line["reason"] for line in ebb.log.of("node_decision")[-4:]}
    assert kept["n2"] == "no_place_for_pods"


def test_the_time_gap_counts_from_an_order_on_its_way() -> None:
    gap = policy(budgets=(Budget(Limit(count=4)),), cluster_wide={"time_gap": timedelta(minutes=7)})
    ebb = FakeEbb(*(node(f"n{index}") for index in range(5)), policy=gap)
    ebb.tick()
    later(ebb)
    assert len(ebb.bus.published) == 1

    later(ebb)

    assert len(ebb.bus.published) == 2
