"""The cluster autoscaler beside a drain: what it does to our node meanwhile, and what it says when it leaves it."""

from typing import Any

import pytest

from functions.drainer.step import Reply
from shared.core import names
from shared.core.orders import Kind, Origin
from shared.core.snapshot import NodePool
from shared.core.state import DrainPhase
from shared.errors import Retryable
from tests.builders import node, order, pod, pod_class, taint
from tests.shells.house import House

WEB = pod_class(owner="ReplicaSet/web")
DELETING, CANDIDATE = (
    taint(names.AUTOSCALER_DELETING_TAINT),
    taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule"),
)


def house(**changes: Any) -> House:
    """Three nodes with room and one pod to move on n1."""
    return House(node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB, grace_seconds=20), **changes)


def overdue(ebb: House) -> None:
    """Let the watchdog release the drained node."""
    ebb.drain(order())
    ebb.pass_time(minutes=26)
    ebb.deliver(order(kind=Kind.RELEASE, origin=Origin.PLANNER, why="watchdog"))


def test_a_node_that_the_autoscaler_kept_is_given_back_with_the_autoscalers_own_reason() -> None:
    ebb = house()
    ebb.cluster.failure_messages["n1"] = "failed to delete empty node: quota exceeded"

    overdue(ebb)

    record = ebb.record()
    assert record is not None
    assert (record.outcome, record.why) == ("given_back", "watchdog")
    assert record.detail == "The autoscaler said: failed to delete empty node: quota exceeded"
    assert record.detail in ebb.log.of("drain_result")[0]["message"]
    assert ebb.bus.reported[0]["detail"] == record.detail


def test_a_pool_that_was_raised_to_its_size_meanwhile_is_named_as_what_kept_the_node() -> None:
    ebb = house()
    ebb.drain(order())
    ebb.pools.pools = {"a": NodePool("a", min_total=3)}
    ebb.pass_time(minutes=26)

    ebb.deliver(order(kind=Kind.RELEASE, origin=Origin.PLANNER, why="watchdog"))

    record = ebb.record()
    assert record is not None
    assert record.detail == "Pool a is at its minimum: 3 nodes, minimum 3."


@pytest.mark.parametrize("call", ["deletion_failure", "all_nodes"])
def test_a_reason_that_cannot_be_read_does_not_keep_the_node(call: str) -> None:
    ebb = house()
    ebb.drain(order())
    ebb.pass_time(minutes=26)
    ebb.cluster.failures[call] = [Retryable("kubernetes", "timeout")]

    assert ebb.deliver(order(kind=Kind.RELEASE, origin=Origin.PLANNER, why="watchdog")) is Reply.DONE

    record = ebb.record()
    assert record is not None
    assert (record.phase, record.detail) == (
        DrainPhase.SETTLED, "Why the autoscaler kept it could not be read: kubernetes: timeout",
    )  # fmt: skip
    assert ebb.cluster.nodes["n1"].drain_taint is None
