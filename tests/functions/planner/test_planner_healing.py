"""What a pass repairs: the traces of drains that died, met people, or left no room. On fakes."""

from dataclasses import replace as with_changes

import pytest

from functions.drainer.main import PushReply
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.healing.repairs import MOST
from shared.core.policy import Budget, Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord, Surge
from shared.core.records.orders import OrderKind
from shared.core.records.state import ClusterState
from shared.errors import Retryable
from shared.ports import drain_key
from tests.builders import claim, node, order, pod, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import RELEASE
from tests.functions.fake_ebb import FakeEbb, fail_next_puts
from tests.functions.planner.half_empty_nodes import begun, deliver_and_remove, fake_ebb, healed, reschedule
from tests.functions.planner.test_weekly import KilledError, die, ledger_of

ONE_NODE = (Budget(Limit(count=1)),)


@cases("killed", ("drained", False), ("its step died", True))
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
    ebb = begun(fake_ebb())
    fail_next_puts(ebb, "cluster", after=0)
    assert ebb.deliver(RELEASE) is PushReply.AGAIN
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
    assert [(sums.gone, sums.own) for sums in ledger_of(ebb).weeks.values()] == [(int(is_gone), 0)]


@pytest.mark.parametrize("comes_again", [False, True], ids=["the pass finds it", "the message comes again"])
def test_the_result_of_a_step_that_died_before_it_reported_is_not_lost(
    comes_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ebb = begun(fake_ebb())
    with monkeypatch.context() as changed:
        changed.setattr(ebb.bus, "report", lambda _: die())
        with pytest.raises(KilledError):
            ebb.deliver(RELEASE)

    if comes_again:
        assert ebb.deliver(RELEASE) is PushReply.DONE
    healed(ebb)

    assert [result["outcome"] for result in ebb.bus.reported] == ["released"]
    assert "uid-n1" not in ebb.remembered().claims


@cases("expected, unschedulable", ("as it was left", 0, True), ("its cordon is gone", 1, False))
def test_of_a_drained_node_the_autoscaler_is_asked_only_where_somebody_cleared_its_cordon(
    expected: int, unschedulable: bool
) -> None:
    ebb = begun(fake_ebb())
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


def test_a_moved_pod_that_finds_no_place_opens_the_pools_breaker() -> None:
    ebb = begun(fake_ebb())
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
    ebb = begun(fake_ebb())
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


KNOWN, UNKNOWN = 25, 60


def hanging(ebb: FakeEbb, order_id: str) -> None:
    name, uid = f"default/Deployment/{order_id}", f"uid-{order_id}"
    found = Deployment(name=name, uid=uid, created=2, updated=1, generation=7, stamp=order_id)
    ebb.cluster.workloads[f"default/ReplicaSet/{order_id}"] = Workload(name, 1, 1, deployment=found)


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
