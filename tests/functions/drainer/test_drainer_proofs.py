"""The proof before the first eviction, as the drainer makes it: whose room counts, and what becomes of it. On fakes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace as changed

from functions.drainer.main import PushReply
from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, PodProgress
from shared.core.records.state import Wave, WaveNode
from shared.ports import WAVE_KEY, Eviction, drain_key
from tests.builders import NOW, buffer, claim, held, order, pdb, pod, pod_class
from tests.depth import cases
from tests.fakes import failing, once
from tests.functions.drainer.one_drain import WEB, evicted, fake_ebb, holder
from tests.functions.fake_ebb import FakeEbb

BIG = pod_class(owner="ReplicaSet/web", cpu=1)
GRANTED = {"default/q0": PodProgress(uid="q0", answer="granted", at=NOW)}


def one_node_left() -> FakeEbb:
    """Beside the drain's n1 only n2 has room, for one pod."""
    full = pod("full", on="n3", kind=pod_class(owner="ReplicaSet/full", cpu=3.5))
    return fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"), full)


def begin_another(ebb: FakeEbb, needs: float, pods: Any, **its_claim: Any) -> None:
    """Let a drain of n9 stand, with a pod of so many cores on it."""
    other = pod("q", on="n9", kind=pod_class(owner="ReplicaSet/other", cpu=needs))
    ebb.cluster.put(replace(ebb.cluster.nodes["n2"], name="n9", uid="uid-n9", unschedulable=True), other)
    held = claim("n9", order_id="other", **its_claim)
    ebb.remember(changed(ebb.remembered(), claims={**ebb.remembered().claims, "uid-n9": held}))
    key = drain_key("other")
    record = DrainRecord(order=order("n9", order_id="other"), phase=DrainPhase.CORDONED, pods=pods or {})
    ebb.state.put(key, record, None)
    if pods is None:
        ebb.state.documents[ebb.state.cluster, key.collection, key.id] = (b'{"phase": 7}', "old")


BEFORE, AFTER = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)


@cases(
    "expected, needs, pods, its_claim",
    ("an older claim that needs the room", ["stale"], 3.5, {}, {"since": BEFORE}),
    ("one whose pod fits nowhere", [], 9, {}, {"since": BEFORE}),
    ("though it moves pods", [], 9, GRANTED, {"since": BEFORE}),
    ("a younger claim that has moved nothing", [], 3.5, {}, {"since": AFTER}),
    ("a younger claim that moves pods", ["stale"], 3.5, GRANTED, {"since": AFTER}),
    ("one of which a pod came late", ["stale"], 3.5, {}, {"since": AFTER, "drained": True}),
    ("one whose record nobody can read", ["stale"], 3.5, None, {"since": AFTER}),
)
def test_another_drain_calls_ours_off_only_for_room_that_it_comes_first_to(
    expected: list[str], needs: float, pods: Any, its_claim: dict[str, Any]
) -> None:
    ebb = one_node_left()
    ebb.later(3, lambda: begin_another(ebb, needs, pods, **{"drained": UNSET, **its_claim}))

    ebb.drain(order())

    assert ebb.reasons("drain_result") == expected
    assert ("evict" in {call[0] for call in ebb.effects()}) is not bool(expected)


@cases(
    "expected, going, costly",
    ("both are to go", ["no_place_for_pods"], ("n1", "n2"), ()),
    ("ours is none of those that are to go", [], ("n2",), ()),
    ("only ours is to go", [], ("n1",), ()),
    ("pods avoid the other for its price alone", [], ("n1",), ("n2",)),
)
def test_the_nodes_of_a_wave_are_no_room_for_each_other(
    expected: list[str], going: Sequence[str], costly: Sequence[str]
) -> None:
    ebb = one_node_left()
    nodes, avoided = (tuple(WaveNode(ebb.cluster.node(name).uid, name) for name in of) for of in (going, costly))
    ends = NOW + timedelta(hours=1)
    ebb.state.put(WAVE_KEY, Wave(id="w", nodes=nodes, policy_hash="h", began=NOW, deadline=ends, costly=avoided), None)
    for name in (*going, *costly):
        ebb.cluster.set_soft_taint(ebb.cluster.node(name), held=True)

    ebb.deliver(order(picture_at=NOW - timedelta(hours=1)))

    assert ebb.reasons("drain_result") == expected
    assert ("evict" in {call[0] for call in ebb.effects()}) is not bool(expected)


def whole_pictures(ebb: FakeEbb) -> int:
    return ebb.cluster.calls.count(("read",))


def test_a_pod_whose_budget_is_shut_asks_for_a_snapshot_only_once_it_opens() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"))
    ebb.later(2, lambda: ebb.cluster.put(pdb("web", allowed=0, app="web")))
    ebb.later(300, lambda: ebb.cluster.put(pdb("web", app="web")))

    ebb.drain(order())
    asked = [call for call in ebb.effects() if call[0] == "evict"]

    assert ebb.cluster.pods.get("default/p") is None
    assert whole_pictures(ebb) == 2
    assert len(asked) <= 5


def test_the_time_that_a_shut_budget_holds_a_pod_is_shown_to_the_end() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"), step_seconds=3600)
    ebb.later(2, lambda: ebb.cluster.put(pdb("web", allowed=0, app="web")))

    ebb.drain(order())
    (result,) = ebb.log.of("drain_result")
    record = ebb.record()
    assert record.cordoned_at is not None
    held = sum(float(str(line.get("blocked_seconds", 0))) for line in ebb.log.of("eviction"))

    assert (result["reason"], result["detail"]) == ("deadline", "held by default/web")
    assert (ebb.clock.now() - record.cordoned_at).total_seconds() - 15 <= held


RIVALS = [pod(f"rival-{name}", on=name, kind=pod_class(owner="ReplicaSet/r", cpu=3.5)) for name in ("n2", "n3")]


def two_pods() -> FakeEbb:
    second = pod("second", on="n1", kind=pod_class(owner="ReplicaSet/second", cpu=1, labels={"app": "second"}))
    return fake_ebb(pod("p", on="n1", kind=BIG), second, pdb("web", app="web"), pdb("second", app="second"))


def test_a_first_round_that_moved_nothing_is_followed_by_a_new_proof() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"))
    busy = Eviction(EvictionAnswer.LATER, "too many requests")
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), *[busy] * 6]
    ebb.later(12, lambda: ebb.cluster.put(*RIVALS))

    ebb.drain(order())

    assert ebb.reasons("drain_result") == ["stale"]
    assert "default/p" in ebb.cluster.pods
    assert whole_pictures(ebb) == 2


@cases("expected, refused", ("refused", ["stale"], True), ("the answer was lost", [], False))
def test_a_pod_that_goes_after_a_refusal_has_not_been_moved_by_the_drain(expected: list[str], refused: bool) -> None:
    """Somebody else deletes it, and the room for what stays is gone by then."""
    ebb = two_pods()
    wrote = Eviction(EvictionAnswer.CONFLICT, "somebody else wrote")
    busy = Eviction(EvictionAnswer.LATER, "too many requests", refused)
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), busy]
    ebb.cluster.answers["default/second"] = [Eviction(EvictionAnswer.GRANTED), *[wrote] * 6]
    ebb.later(8, lambda: ebb.cluster.finish("default/p"))
    ebb.later(8, lambda: ebb.cluster.put(*RIVALS))

    ebb.drain(order())

    assert ebb.reasons("drain_result") == expected


def test_a_step_that_is_killed_before_it_wrote_the_answers_has_moved_pods_all_the_same() -> None:
    """The room is gone by then: what was moved is watched, and the drain never says that nothing was touched."""
    ebb = two_pods()
    ebb.cluster.meanwhile["evict", "default/second", 30, False] = once(failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        ebb.drain(order())
    ebb.cluster.put(*RIVALS)
    ebb.pass_time(seconds=60)
    ebb.deliver(order(expires_at=NOW + timedelta(minutes=10)))

    assert "stale" not in ebb.reasons("drain_result")
    assert evicted(ebb) == ["default/p", *["default/second"] * 2], "the call that was killed, and another one"


@pytest.mark.parametrize("seconds", [1, 11, 15, 19, 26])
def test_a_proof_that_takes_long_is_acted_on_in_its_own_step(seconds: float) -> None:
    ebb = fake_ebb(step_seconds=25)
    ebb.cluster.meanwhile["read",] = lambda: ebb.pass_time(seconds=seconds)

    ebb.drain(order())
    ebb.carry_on(after=30)

    assert whole_pictures(ebb) == 1
    assert "evict" in {call[0] for call in ebb.effects()}


def test_a_proof_that_takes_long_holds_for_no_second_round() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=BIG), pdb("web", app="web"))
    ebb.cluster.meanwhile["read",] = lambda: ebb.pass_time(seconds=26)
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), Eviction(EvictionAnswer.CONFLICT, "wrote")]

    ebb.drain(order())

    assert whole_pictures(ebb) == 2
    assert "default/p" not in ebb.cluster.pods


@pytest.mark.parametrize("seconds", [3, 5, 8, 25])
def test_a_node_is_counted_empty_however_short_the_steps_are(seconds: float) -> None:
    ebb = fake_ebb(step_seconds=seconds)
    ebb.cluster.workloads[WEB.workload] = Workload("default/Deployment/web", 1, 1, created=1)

    ebb.drain(order())
    ebb.carry_on()

    record = ebb.record()
    assert record.drained_at is not None
    assert record.emptied_at is not None
    assert record.drained_at - record.emptied_at < timedelta(seconds=15)


SMALL = buffer("web", 2, cpu=0.5, ready=2)


def looks_at_buffers(ebb: FakeEbb) -> int:
    return sum(call[0] == "buffers" for call in ebb.cluster.calls)


def when_evicted(ebb: FakeEbb, buffers: Buffers) -> None:
    """What the autoscaler says once the first pod is on its way."""

    def look() -> None:
        if any(pod.deleting for pod in ebb.cluster.pods.values()):
            ebb.cluster.buffers_held = buffers

    ebb.clock.moves.insert(0, look)


def test_a_drain_reads_no_buffers_where_there_are_none() -> None:
    ebb = fake_ebb()
    assert ebb.drain(order()) is PushReply.DONE
    assert (looks_at_buffers(ebb), ebb.reasons("drain_result")) == (0, [])


def test_a_drain_goes_on_while_buffers_have_the_room_that_they_had() -> None:
    ebb = fake_ebb()
    ebb.cluster.buffers_held = held(SMALL)
    ebb.drain(order())
    assert looks_at_buffers(ebb) > 0
    assert (holder(ebb), ebb.reasons("drain_result")) == ("order", [])


def test_a_node_is_returned_when_a_buffer_falls_after_the_first_eviction() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=replace(WEB, grace_seconds=30)), pdb("web", app="web"))
    ebb.cluster.buffers_held = held(SMALL)
    when_evicted(ebb, held(replace(SMALL, ready=1)))
    ebb.drain(order())
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["buffer"])


def test_a_drain_whose_pods_would_take_a_buffers_room_moves_nothing() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pod("q", on="n2", kind=WEB), pdb("web", app="web"))
    ebb.cluster.buffers_held = held(buffer("web", 3, cpu=3.85, ready=3))
    ebb.drain(order())
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["stale"])
    assert not any(call[0] == "evict" for call in ebb.cluster.calls if call[-1] is False)
