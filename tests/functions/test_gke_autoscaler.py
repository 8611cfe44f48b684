"""The cluster autoscaler beside a drain: what it does to our node meanwhile, and what it says when it leaves it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from functions.drainer.main import PushReply
from shared.core.cluster import names
from shared.core.cluster.node import NodePool
from shared.core.cluster.selectors import Taint
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Origin
from shared.errors import Retryable
from tests.builders import announced_taint, node, order, pod, taint
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, evicted, released
from tests.functions.fake_ebb import FakeEbb

DELETING, CANDIDATE = (taint(names.AUTOSCALER_DELETING_TAINT), announced_taint())

SPOT = taint("cloud.google.com/impending-node-termination")


def fake_ebb(**changes: Any) -> FakeEbb:
    """Three nodes with room and one pod to move on n1."""
    return FakeEbb(
        node("n1"), node("n2"), node("n3"), pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=20), **changes
    )


def two_by_two() -> FakeEbb:
    """Two replicas of a workload of four, which go one after the other."""
    pods = (pod(f"p{index}", on="n1", owner="ReplicaSet/web", grace_seconds=20) for index in range(2))
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), *pods)
    ebb.cluster.workloads[WEB.workload] = Workload("default/Deployment/web", 4, 4)
    return ebb


def overdue(ebb: FakeEbb) -> None:
    """Let the watchdog release the drained node."""
    ebb.drain(order())
    ebb.pass_time(minutes=26)
    ebb.deliver(released(origin=Origin.PLANNER, why="watchdog"))


def test_a_node_that_the_autoscaler_kept_is_returned_with_the_autoscalers_own_reason() -> None:
    ebb = fake_ebb()
    ebb.cluster.failure_messages["n1"] = "failed to delete empty node: quota exceeded"

    overdue(ebb)

    record = ebb.record()
    assert (record.outcome, record.why) == ("given_back", "watchdog")
    assert record.detail == "The autoscaler's message: failed to delete empty node: quota exceeded"
    assert record.detail in ebb.log.of("drain_result")[0]["message"]
    assert ebb.bus.reported[0]["detail"] == record.detail


@cases(
    "expected, pool",
    ("raised", "Pool a is at its minimum: 3 nodes, minimum 3.", NodePool("a", min_total=3)),
    ("switched off", "Autoscaling of pool a is off.", NodePool("a", autoscaled=False)),
)
def test_what_became_of_its_pool_meanwhile_is_named_as_what_kept_the_node(expected: str, pool: NodePool) -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.pools.pools = {"a": pool}
    ebb.pass_time(minutes=26)

    ebb.tick()
    ebb.deliver(ebb.releases()[0])

    assert (ebb.record().why, ebb.record().detail) == ("watchdog", expected)
    assert not ebb.cluster.nodes["n1"].unschedulable


@pytest.mark.parametrize("call", ["deletion_attempts", "all_nodes"])
def test_a_reason_that_cannot_be_read_does_not_keep_the_node(call: str) -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.pass_time(minutes=26)
    ebb.cluster.failures[call] = [Retryable("kubernetes", "timeout")]

    assert ebb.deliver(released(origin=Origin.PLANNER, why="watchdog")) is PushReply.DONE

    record = ebb.record()
    assert (record.phase, record.detail) == (
        DrainPhase.SETTLED, "Why the autoscaler kept it could not be read: kubernetes: timeout",
    )  # fmt: skip
    assert ebb.cluster.nodes["n1"].drain_taint is None


def at_the_first_eviction(ebb: FakeEbb, meanwhile: Callable[[], object]) -> None:
    """Do something once, as soon as an eviction has been granted."""
    waiting = [meanwhile]

    def look() -> None:
        if waiting and any(call[0] == "evict" for call in ebb.effects()):
            waiting.pop()()

    ebb.clock.moves.append(look)


def add_taint(ebb: FakeEbb, *taints: Taint) -> None:
    standing = ebb.cluster.nodes["n1"]
    ebb.cluster.put(replace(standing, taints=(*standing.taints, *taints)))


def clear_as_after_a_failure(ebb: FakeEbb) -> None:
    """The autoscaler takes its taint off and uncordons, as it does after each failed deletion."""
    standing = ebb.cluster.nodes["n1"]
    kept = tuple(one for one in standing.taints if one.key != names.AUTOSCALER_DELETING_TAINT)
    ebb.cluster.put(replace(standing, taints=kept, unschedulable=False))
    ebb.cluster.begun_deletions["n1"] = ebb.clock.now()


def test_a_node_that_the_autoscaler_begins_to_delete_mid_drain_is_left_to_it_and_settled() -> None:
    ebb = two_by_two()
    at_the_first_eviction(ebb, lambda: add_taint(ebb, DELETING))
    ebb.later(120, lambda: ebb.cluster.nodes.pop("n1"))

    ebb.drain(order())

    assert evicted(ebb) == ["default/p0"]
    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]
    assert ebb.remembered().claims == {}


@cases(
    "theirs, cleared",
    ("its soft taint is no reason to stop", CANDIDATE, False),
    ("it has failed to delete the node, and cleared the cordon", DELETING, True),
)
def test_a_drain_goes_on_cordoned_where_the_autoscaler_does_not_delete_the_node(
    theirs: Taint, *, cleared: bool
) -> None:
    ebb = two_by_two()
    at_the_first_eviction(ebb, lambda: add_taint(ebb, theirs))
    if cleared:
        ebb.later(60, lambda: clear_as_after_a_failure(ebb))

    ebb.drain(order())

    assert evicted(ebb) == ["default/p0", "default/p1"]
    assert ebb.cluster.nodes["n1"].unschedulable
    assert ebb.record().phase is DrainPhase.DRAINED


@cases(
    "expected, meanwhile",
    ("is tainted", "going_away", lambda ebb: add_taint(ebb, DELETING)),
    ("is gone", "node_replaced", lambda ebb: ebb.cluster.nodes.pop("n1")),
    ("has another's name", "node_replaced", lambda ebb: ebb.cluster.put(replace(node("n1"), uid="uid-other"))),
)
def test_a_node_that_another_takes_while_the_order_is_judged_is_not_claimed(
    expected: str, meanwhile: Callable[[FakeEbb], object]
) -> None:
    ebb = fake_ebb()
    ebb.cluster.meanwhile["all_nodes",] = lambda: meanwhile(ebb)

    assert ebb.drain(order()) is PushReply.DONE

    assert [(line["outcome"], line["reason"]) for line in ebb.log.of("drain_result")] == [("refused", expected)]
    assert (ebb.effects(), ebb.remembered().claims) == ([], {})


@cases("going", ("by the autoscaler", DELETING), ("by Compute Engine", SPOT))
def test_a_node_that_is_taken_away_before_its_cordon_is_not_cordoned(going: Taint) -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    add_taint(ebb, going)
    touched = ebb.effects()

    assert ebb.deliver(order()) is PushReply.DONE

    assert ebb.effects() == touched
    assert ebb.reasons("drain_result") == ["going_away"]
    assert (ebb.remembered().claims, ebb.remembered().backoffs) == ({}, {})
