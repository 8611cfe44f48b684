"""Which held nodes a pass returns: for demand and buffers, by the watchdog, after people, and with little to read."""

import json
from collections.abc import Callable
from dataclasses import replace as with_changes
from datetime import timedelta

import pytest
from msgspec.structs import replace

from functions.drainer.main import PushReply
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Phase, Pod
from shared.core.records.orders import OrderKind
from shared.core.records.state import Backoff
from shared.errors import EbbError, Retryable, Terminal
from tests.builders import NOW, buffer, held, node, order, our_taint, pod, policy
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import begun, fake_ebb


@pytest.mark.parametrize("why", ["demand", "buffer"])
def test_room_is_returned_when_demand_returns_or_a_buffer_has_it_nowhere_else(why: str) -> None:
    ebb = begun(fake_ebb())
    ebb.cluster.put(*(pod(f"more{number}", on=f"n{number}", cpu=2.9) for number in (2, 3)))
    if why == "demand":
        ebb.cluster.put(pod("new", cpu=2, unschedulable_since=NOW))
    else:
        ebb.cluster.buffers_held = held(buffer("web", cpu=2, ready=0))
    ebb.pass_time(minutes=1)

    ebb.tick()
    (release,) = ebb.releases()
    assert (release.node, release.why) == ("n1", why)

    assert ebb.deliver(release) is PushReply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint is None
    backoff = ebb.remembered().backoffs["uid-n1"]
    assert (backoff.why, backoff.delay) == (why, timedelta(minutes=30))


@pytest.mark.parametrize("by", ["the next pass", "a person"])
def test_a_node_under_our_taint_without_a_value_is_returned(by: str) -> None:
    """Such a node is cordoned for nothing: no order has an empty id."""
    ebb = FakeEbb(node("n1", taints=(our_taint(""),), unschedulable=True), node("n2"), node("n3"), policy=policy())
    ebb.pass_time(minutes=5)
    if by == "a person":
        ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode())
    else:
        ebb.tick()
        (release,) = ebb.releases()
        ebb.deliver(release)

    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.cluster.nodes["n1"].taints) == (False, ())


def preempting(ebb: FakeEbb) -> Pod:
    """A pod for which the scheduler keeps the room of a lower one on n3, whose grace of 30 s has begun."""
    now = ebb.clock.now()
    ebb.cluster.put(pod("low", on="n3", cpu=3, deleting=now + timedelta(seconds=30)))
    high = pod("high", cpu=3, priority=1000, phase=Phase.PENDING, unschedulable_since=now, nominated="n3")
    ebb.cluster.put(pod("more2", on="n2", cpu=2.9), high)
    return high


def test_a_pod_that_preempts_hides_no_other_repair() -> None:
    """One in each pass would keep a node cordoned for ever."""
    ebb = begun(fake_ebb())
    ebb.pass_time(minutes=40)
    preempting(ebb)
    ebb.bus.published.clear()

    ebb.tick()

    assert [(sent.node, sent.why) for sent in ebb.bus.published if sent.why] == [("n1", "watchdog")]


@cases(
    "freed, becomes",
    ("the lower one never ends", True, {}),
    ("another pod has its place", True, {"nominated": ""}),
    ("it has its place", False, {"node": "n3"}),
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a pod that fits nowhere"])
def test_a_node_held_from_a_pod_that_preempts_goes_back_when_the_grace_is_over(
    freed: bool, becomes: dict[str, str], beside: bool
) -> None:
    """It was given back by the next pass but one: after 310 s."""
    ebb = begun(fake_ebb())
    if beside:
        ebb.cluster.put(pod("huge", cpu=500, unschedulable_since=NOW))
    high = preempting(ebb)
    ebb.pass_time(seconds=10)
    ebb.tick()
    (release,) = ebb.releases()

    ebb.later(ebb.clock.passed + 20, lambda: ebb.cluster.put(replace(high, **becomes)))

    assert ebb.deliver(release) is PushReply.DONE
    assert release.not_before is not None
    assert timedelta(0) <= ebb.clock.now() - release.not_before < timedelta(seconds=1)
    assert ebb.cluster.nodes["n1"].unschedulable is not freed


@cases("fault", ("an outage", Retryable("it", "500")), ("denied", Terminal("it", "403")))
@pytest.mark.parametrize("also", ["", "policy", "pools"])
def test_where_only_nodes_and_pods_can_be_read_an_overdue_node_is_returned(fault: EbbError, also: str) -> None:
    """A list of PodDisruptionBudgets that answers 500 for hours kept each held node for as long."""
    ebb = begun(fake_ebb())
    ebb.pass_time(minutes=40)
    ebb.cluster.failures["read"] = [fault] * 3
    if also:
        setattr(getattr(ebb, also), {"policy": "policy", "pools": "failure"}[also], fault)
    ebb.bus.published.clear()

    with pytest.raises(type(fault)):
        ebb.tick()

    releases = ebb.releases()
    assert [(order.node, order.why) for order in releases] == [("n1", "watchdog")]


def upgrade_pool(ebb: FakeEbb) -> None:
    ebb.pass_time(minutes=40)
    ebb.cluster.put(pod("p", unschedulable_since=ebb.clock.now()))
    ebb.pools.pools = {"a": NodePool("a", upgrading=True)}


def empty_by_others(ebb: FakeEbb) -> None:
    ebb.cluster.put(pod("p", unschedulable_since=NOW))
    ebb.cluster.buffers_held = held(buffer("web", cpu=2, ready=0))
    ebb.cluster.put(with_changes(ebb.cluster.nodes["n1"], conditions=frozenset({"DrainInProgress"})))


def fill_buffer(ebb: FakeEbb) -> None:
    ebb.cluster.buffers_held = held(buffer("web", cpu=2, ready=1))


@cases(
    "why, happens",
    ("demand: GKE has begun to upgrade the pool", "demand", upgrade_pool),
    ("the watchdog: the same", "watchdog", upgrade_pool),
    ("demand: somebody else has begun to empty the node", "demand", empty_by_others),
    ("a buffer: the same", "buffer", empty_by_others),
    ("demand: nothing waits any more", "demand", lambda _: None),
    ("a buffer has its room again", "buffer", fill_buffer),
)
def test_a_release_is_void_once_its_cause_is_gone(why: str, happens: Callable[[FakeEbb], None]) -> None:
    ebb = begun(fake_ebb())
    happens(ebb)

    order_id = ebb.remembered().claims["uid-n1"].order_id
    ebb.deliver(order("n1", kind=OrderKind.RELEASE, order_id=order_id, why=why))

    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.cluster.nodes["n1"].drain_taint is None) == (True, False)


def test_a_cordon_that_a_person_cleared_gives_the_node_back_for_a_day() -> None:
    ebb = begun(fake_ebb())
    ebb.pass_time(minutes=1)
    ebb.cluster.put(with_changes(ebb.cluster.nodes["n1"], unschedulable=False))

    ebb.pass_time(seconds=5)
    ebb.tick()
    for release in ebb.releases():
        assert ebb.deliver(release) is PushReply.DONE

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs["uid-n1"].why == "overruled"


def failed_elsewhere(ebb: FakeEbb) -> None:
    """Let drains of three other nodes of the pool have failed by now."""
    rest, until = timedelta(minutes=30), ebb.clock.now() + timedelta(minutes=30)
    backoffs = {f"uid-{name}": Backoff(name, until, rest, "deadline") for name in ("n2", "n3", "n4")}
    ebb.cluster.put(node("n4"))
    ebb.remember(replace(ebb.remembered(), backoffs=backoffs))


def test_a_drain_is_returned_once_when_others_fail_and_no_release_is_void() -> None:
    ebb = fake_ebb()
    ebb.tick()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "killed")]
    ebb.deliver(ebb.bus.published.pop())
    failed_elsewhere(ebb)
    released: list[str] = []

    for _ in range(5):
        ebb.pass_time(seconds=90)
        ebb.tick()
        published, ebb.bus.published = ebb.bus.published, []
        releases = [sent for sent in published if sent.kind is OrderKind.RELEASE]
        released += [release.why for release in releases if ebb.deliver(release) is PushReply.DONE]

    assert (released, ebb.remembered().claims) == (["breaker"], {})
    assert not any("void" in str(line["message"]) for line in ebb.log.of("drain_step"))
    assert len(ebb.log.of("breaker")) == 1, "and it is said once"
