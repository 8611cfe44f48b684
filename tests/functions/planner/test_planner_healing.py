"""What a pass repairs: the traces of drains that died, met people, or left no room. On fakes."""

import json
from collections.abc import Callable
from dataclasses import replace as with_changes
from datetime import timedelta

import pytest
from msgspec.structs import replace

from functions.drainer.main import PushReply
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.healing.repairs import MOST
from shared.core.policy import Budget, Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord, Surge
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Backoff, ClusterState
from shared.errors import EbbError, Retryable, Terminal
from shared.port_types import drain_key, ledger_key
from tests.builders import NOW, buffer, claim, held, node, order, our_taint, pod, policy
from tests.functions.fake_ebb import FakeEbb, fail_next_puts
from tests.functions.planner.half_empty_nodes import MINUTE, begun, deliver_and_remove, fake_ebb, healed, reschedule
from tests.functions.planner.test_weekly import KilledError, die

ONE_NODE = (Budget(Limit(count=1)),)


@pytest.mark.parametrize("killed", [pytest.param(False, id="drained"), pytest.param(True, id="its step died")])
def test_a_node_that_is_gone_is_settled_and_leaves_the_budgets(killed: bool) -> None:
    """Without an end in the record of a step that died, nobody would ever tell how the order ended."""
    ebb = fake_ebb()
    ebb.tick()
    if killed:
        ebb.cluster.failures["take"] = [Retryable("kubernetes", "killed")]
    ebb.deliver(ebb.bus.drains[0])
    del ebb.cluster.nodes["n1"]
    ebb.pass_time(minutes=1)

    assert ebb.tick()["healed"] == 1

    assert "uid-n1" not in ebb.remembered().claims
    record = ebb.record(ebb.bus.drains[0].order_id)
    assert (record.phase, record.outcome) == (DrainPhase.SETTLED, "removed")


@pytest.mark.parametrize("is_gone", [False, True], ids=["the node stands", "the node is gone"])
def test_a_claim_that_outlived_the_return_of_its_node_ends_as_that_return_did(is_gone: bool) -> None:
    ebb = fake_ebb()
    begun(ebb)
    fail_next_puts(ebb, "cluster", after=0)
    assert ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode()) is PushReply.AGAIN
    ebb.state.meanwhile.clear()
    assert "uid-n1" in ebb.remembered().claims
    if is_gone:
        del ebb.cluster.nodes["n1"]

    healed(ebb)

    state = ebb.remembered()
    assert "uid-n1" not in state.claims
    assert {result["outcome"] for result in ebb.bus.reported} == {"released"}
    assert is_gone or state.backoffs["uid-n1"].why == "released"
    assert (state.removed, state.reclaimed) == ({}, ())
    ledger = ebb.state.get(ledger_key()).value
    assert ledger is not None
    assert [(sums.gone, sums.own) for sums in ledger.weeks.values()] == [(int(is_gone), 0)]


@pytest.mark.parametrize("comes_again", [False, True], ids=["the pass finds it", "the message comes again"])
def test_the_result_of_a_step_that_died_before_it_reported_is_not_lost(
    comes_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ebb = fake_ebb()
    begun(ebb)
    release = json.dumps({"kind": "release", "node": "n1"}).encode()
    with monkeypatch.context() as changed:
        changed.setattr(ebb.bus, "report", lambda _: die())
        with pytest.raises(KilledError):
            ebb.deliver(release)

    if comes_again:
        assert ebb.deliver(release) is PushReply.DONE
    healed(ebb)

    assert [result["outcome"] for result in ebb.bus.reported] == ["released"]
    assert "uid-n1" not in ebb.remembered().claims


@pytest.mark.parametrize(
    ("expected", "unschedulable"),
    [pytest.param(0, True, id="as it was left"), pytest.param(1, False, id="its cordon is gone")],
)
def test_of_a_drained_node_the_autoscaler_is_asked_only_where_somebody_cleared_its_cordon(
    expected: int, unschedulable: bool
) -> None:
    ebb = fake_ebb()
    begun(ebb)
    ebb.cluster.put(with_changes(ebb.cluster.nodes["n1"], unschedulable=unschedulable))
    ebb.pass_time(minutes=1)
    ebb.cluster.calls.clear()

    ebb.tick()

    assert [call[0] for call in ebb.cluster.calls].count("deletion_attempts") == expected


def test_a_node_that_is_gone_makes_room_in_the_budget_of_the_very_pass_that_finds_it() -> None:
    ebb = fake_ebb(policy=policy(budgets=ONE_NODE))
    reschedule(ebb)
    assert ebb.tick()["orders"] == ["n1"]
    deliver_and_remove(ebb)
    ebb.pass_time(minutes=1)

    assert ebb.tick()["orders"] == ["n2"]


def writes_of_a_pass(gone: int) -> int:
    """Let a pass find so many claims of nodes that are gone, and count what it writes to the state."""
    ebb = fake_ebb(policy=policy(cluster_wide={"dry_run": True}))
    claims = {f"uid-gone{number}": claim(f"gone{number}", order_id=f"o{number}") for number in range(gone)}
    ebb.remember(ClusterState(claims=claims))
    ebb.pass_time(minutes=1)
    before = ebb.state.writes

    assert ebb.tick()["healed"] == gone
    assert ebb.remembered().claims == {}
    return ebb.state.writes - before


def test_thirty_claims_of_nodes_that_are_gone_end_in_one_write() -> None:
    assert writes_of_a_pass(gone=30) == writes_of_a_pass(gone=1)


@pytest.mark.acceptance(95)
def test_a_drain_whose_step_died_goes_on_at_the_next_pass() -> None:
    ebb = fake_ebb()
    ebb.tick()
    first = ebb.bus.published.pop()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "killed")]
    ebb.deliver(first)
    ebb.pass_time(minutes=1)

    ebb.tick()

    again = next(sent for sent in ebb.bus.published if sent.order_id == first.order_id)
    assert again.generation == 1
    assert ebb.deliver(again) is PushReply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint == first.order_id


@pytest.mark.acceptance(94)
def test_a_node_that_the_autoscaler_never_takes_is_returned_by_the_watchdog() -> None:
    ebb = fake_ebb()
    ebb.tick()
    ebb.deliver(ebb.bus.drains[0])
    ebb.bus.published.clear()

    ebb.pass_time(minutes=26)
    ebb.tick()
    ebb.deliver(ebb.bus.published[0])

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs["uid-n1"].why == "watchdog"


def test_a_node_that_was_drained_late_is_returned_one_watchdog_after_the_deadline() -> None:
    ebb = fake_ebb()
    begun(ebb)
    (claim,) = ebb.remembered().claims.values()
    record, key = ebb.record(claim.order_id), drain_key(claim.order_id)
    assert record.drained_at is not None
    late = replace(record, deadline=record.drained_at - 20 * MINUTE)
    ebb.state.put(key, late, ebb.state.get(key).version)

    healed(ebb)

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs["uid-n1"].why == "watchdog"


def test_a_state_lost_entirely_gives_every_node_back() -> None:
    ebb = fake_ebb()
    ebb.tick()
    ebb.deliver(ebb.bus.published.pop())
    ebb.state.documents.clear()
    ebb.pass_time(minutes=1)

    ebb.tick()
    for sent in list(ebb.bus.published):
        ebb.deliver(sent)

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert not ebb.cluster.nodes["n1"].unschedulable


@pytest.mark.parametrize("why", ["demand", "buffer"])
def test_room_is_returned_when_demand_returns_or_a_buffer_has_it_nowhere_else(why: str) -> None:
    ebb = fake_ebb()
    begun(ebb)
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
    ebb = fake_ebb()
    begun(ebb)
    ebb.pass_time(minutes=40)
    preempting(ebb)
    ebb.bus.published.clear()

    ebb.tick()

    assert [(sent.node, sent.why) for sent in ebb.bus.published if sent.why] == [("n1", "watchdog")]


@pytest.mark.parametrize(
    ("freed", "becomes"),
    [
        pytest.param(True, {}, id="the lower one never ends"),
        pytest.param(True, {"nominated": ""}, id="another pod has its place"),
        pytest.param(False, {"node": "n3"}, id="it has its place"),
    ],
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a pod that fits nowhere"])
def test_a_node_held_from_a_pod_that_preempts_goes_back_when_the_grace_is_over(
    freed: bool, becomes: dict[str, str], beside: bool
) -> None:
    """It was given back by the next pass but one: after 310 s."""
    ebb = fake_ebb()
    begun(ebb)
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


@pytest.mark.parametrize(
    "fault", [pytest.param(Retryable("it", "500"), id="an outage"), pytest.param(Terminal("it", "403"), id="denied")]
)
@pytest.mark.parametrize("also", ["", "policy", "pools"])
def test_where_only_nodes_and_pods_can_be_read_an_overdue_node_is_returned(fault: EbbError, also: str) -> None:
    """A list of PodDisruptionBudgets that answers 500 for hours kept each held node for as long."""
    ebb = fake_ebb()
    begun(ebb)
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


@pytest.mark.parametrize(
    ("why", "happens"),
    [
        pytest.param("demand", upgrade_pool, id="demand: GKE has begun to upgrade the pool"),
        pytest.param("watchdog", upgrade_pool, id="the watchdog: the same"),
        pytest.param("demand", empty_by_others, id="demand: somebody else has begun to empty the node"),
        pytest.param("buffer", empty_by_others, id="a buffer: the same"),
        pytest.param("demand", lambda _: None, id="demand: nothing waits any more"),
        pytest.param("buffer", fill_buffer, id="a buffer has its room again"),
    ],
)
def test_a_release_is_void_once_its_cause_is_gone(why: str, happens: Callable[[FakeEbb], None]) -> None:
    ebb = fake_ebb()
    begun(ebb)
    happens(ebb)

    ebb.deliver(release_of_n1(ebb, why))

    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.cluster.nodes["n1"].drain_taint is None) == (True, False)


def release_of_n1(ebb: FakeEbb, why: str) -> Order:
    return order("n1", kind=OrderKind.RELEASE, order_id=ebb.remembered().claims["uid-n1"].order_id, why=why)


def test_pods_of_daemonsets_are_no_demand() -> None:
    """One that is Pending on its own full node would free a drained node in vain, round and round."""
    ebb = fake_ebb()
    begun(ebb)
    ebb.cluster.put(pod("agent", owner="DaemonSet/agent", cpu=2, unschedulable_since=NOW))
    ebb.pass_time(minutes=1)

    ebb.tick()
    assert ebb.releases() == []
    ebb.deliver(release_of_n1(ebb, "demand"))
    assert ebb.cluster.nodes["n1"].drain_taint is not None


def test_a_moved_pod_that_finds_no_place_opens_the_pools_breaker() -> None:
    ebb = fake_ebb()
    begun(ebb)
    stuck = pod("again", owner="ReplicaSet/r1", cpu=9, unschedulable_since=ebb.clock.now())
    ebb.cluster.put(stuck)
    ebb.pass_time(minutes=2)

    summary = ebb.tick()

    assert summary["orders"] == [], "it holds its pool in the very pass that opens it"
    assert ebb.remembered().breakers["a"].why == "default/again found no place after a drain"
    assert [line["severity"] for line in ebb.log.of("breaker")] == ["ERROR"]
    ebb.pass_time(minutes=1)
    assert ebb.tick()["orders"] == []
    assert summary["healed"] == 0, "the drained node stays with the autoscaler: its room would not help"


def test_a_cordon_that_the_autoscaler_cleared_is_set_again_and_the_node_is_not_returned() -> None:
    ebb = fake_ebb()
    begun(ebb)
    taken = ebb.cluster.nodes["n1"]
    ebb.pass_time(minutes=1)
    ebb.cluster.put(with_changes(taken, unschedulable=False))
    ebb.cluster.begun_deletions["n1"] = ebb.clock.now()

    ebb.pass_time(seconds=5)
    ebb.tick()
    (again,) = [sent for sent in ebb.bus.published if sent.order_id == taken.drain_taint]
    assert again.kind is OrderKind.DRAIN
    assert ebb.deliver(again) is PushReply.DONE

    assert ebb.cluster.nodes["n1"].unschedulable
    assert ebb.cluster.nodes["n1"].drain_taint == taken.drain_taint


def test_a_cordon_that_a_person_cleared_gives_the_node_back_for_a_day() -> None:
    ebb = fake_ebb()
    begun(ebb)
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


KNOWN, UNKNOWN = 25, 60


def hanging(ebb: FakeEbb, order_id: str) -> None:
    found = Deployment(
        name=f"default/Deployment/{order_id}", uid=f"uid-{order_id}", created=2, updated=1, generation=7, stamp=order_id
    )
    ebb.cluster.workloads[f"default/ReplicaSet/{order_id}"] = Workload(found.name, 1, 1, deployment=found)


def ended(ebb: FakeEbb, order_id: str) -> None:
    """Let a drain have ended that left its restart hanging."""
    now, name = ebb.clock.now(), f"default/Deployment/{order_id}"
    surges = {name: Surge(uid=f"uid-{order_id}", at=now, written=True, generation=6)}
    record = DrainRecord(
        order=order(order_id=order_id), phase=DrainPhase.SETTLED, node_uid="uid-n1", updated_at=now, surges=surges
    )
    ebb.state.put(drain_key(order_id), record, None)


def test_each_has_its_turn_within_the_hour_and_a_pass_publishes_a_few() -> None:
    ebb = FakeEbb(node("n1"), policy=policy())
    for number in range(UNKNOWN):
        hanging(ebb, f"a-{number:02}")
    known = [f"b-{number:02}" for number in range(KNOWN)]
    for order_id in known:
        hanging(ebb, order_id)
        ended(ebb, order_id)

    published: list[set[str]] = []
    for _ in range(6):
        before = len(ebb.bus.published)
        ebb.tick()
        ebb.pass_time(seconds=300)
        releases = [sent for sent in ebb.bus.published[before:] if sent.kind is OrderKind.RELEASE]
        published.append({release.order_id for release in releases})

    assert set().union(*published) == set(known)
    assert all(len(sent) <= MOST for sent in published)
