"""The watchdog and its reasons follow the ComputeClass of the drained node, whatever the drain's first step reads."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.node import Node
from shared.core.records.orders import Origin
from shared.errors import Retryable
from tests.builders import node, order, pod
from tests.functions.drainer.one_drain import released
from tests.functions.fake_ebb import FakeEbb

MINUTE = timedelta(minutes=1)
REAPER = AutoscalingPolicy(threshold=Fraction(0), delay=MINUTE)
PATIENT = AutoscalingPolicy(delay=60 * MINUTE)


def of_class(name: str, **changes: Any) -> Node:
    return node(name, labels={names.COMPUTE_CLASS_LABEL: "web"}, **changes)


def ebb_with(said: AutoscalingPolicy) -> FakeEbb:
    """Three nodes of a class, and one pod to move on n1."""
    ebb = FakeEbb(of_class("n1"), of_class("n2"), of_class("n3"), pod("p", on="n1"))
    ebb.cluster.classes = ComputeClasses({"web": said})
    return ebb


@pytest.mark.parametrize("origin", [Origin.PLANNER, Origin.MANUAL])
@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        pytest.param(11, REAPER, id="a reaper's is late earlier"),
        pytest.param(75, PATIENT, id="one that waits long is not late"),
        pytest.param(25, AutoscalingPolicy(), id="one that shows nothing is the profile's"),
    ],
)
def test_the_claim_waits_for_as_long_as_the_nodes_class_shows(
    minutes: int, said: AutoscalingPolicy, origin: Origin
) -> None:
    ebb = ebb_with(said)
    ebb.drain(order(origin=origin))

    (claim,) = ebb.remembered().claims.values()
    assert claim.settings.watchdog == minutes * MINUTE


def test_nothing_is_read_of_classes_for_a_node_of_none() -> None:
    ebb = FakeEbb(node("n1"), of_class("n2"), node("n3"), pod("p", on="n1"))
    ebb.drain(order())

    assert ebb.remembered().claims
    assert ("buffers",) not in ebb.cluster.calls


def test_an_order_comes_again_when_the_classes_do_not_answer() -> None:
    """Begun by the profile's delay, a drain would be given back long before its autoscaler looks."""
    ebb = ebb_with(PATIENT)
    ebb.cluster.failures["buffers"] = [Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    assert not ebb.remembered().claims

    ebb.drain(order())
    assert len(ebb.remembered().claims) == 1


def test_a_reaper_that_may_count_daemon_sets_is_named_when_it_keeps_the_node() -> None:
    ebb = ebb_with(REAPER)
    ebb.cluster.put(pod("d", on="n1", owner="DaemonSet/d", cpu=0.1))
    ebb.drain(order())
    ebb.pass_time(minutes=12)
    ebb.deliver(released(origin=Origin.PLANNER, why="watchdog"))

    record = ebb.record()
    assert record is not None
    assert record.why == "watchdog"
    assert "if it counts DaemonSet pods there, it never deletes this one" in record.detail
