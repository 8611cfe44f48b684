"""The drainer from message to acknowledgement, on fakes."""

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from functions.drainer.step import Reply
from shared.core.orders import Kind, Origin
from shared.core.policy import Budget, Limit
from shared.core.reasons import Unremovable
from shared.core.snapshot import Pod
from shared.core.state import ClusterState, DrainPhase, DrainRecord, Lease
from shared.errors import EbbError, Retryable, Stale, Terminal
from shared.ports import Answer, Eviction, drain_key
from tests.builders import NOW, claim, node, order, pdb, pod, pod_class, policy
from tests.shells.house import House

WEB = pod_class(owner="ReplicaSet/web")


def house(*things: Any, **changes: Any) -> House:
    """Three nodes with room; a pod of a PDB-guarded Deployment on n1 unless things are given."""
    own = things or (pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    return House(node("n1"), node("n2"), node("n3"), *own, **changes)


def holder(ebb: House) -> str | None:
    return ebb.cluster.nodes["n1"].drain_taint


def released(**changes: Any) -> Any:
    return order(kind=Kind.RELEASE, **changes)


@pytest.mark.acceptance(82, 93)
def test_a_drain_cordons_evicts_and_leaves_the_node_to_the_autoscaler() -> None:
    ebb = house()

    assert ebb.drain(order()) is Reply.DONE

    assert ebb.effects() == [("take", "n1", "order"), ("evict", "default/p", 30, False)]
    left = ebb.cluster.nodes["n1"]
    assert (left.unschedulable, left.drain_taint) == (True, "order")
    assert ebb.record().phase is DrainPhase.DRAINED  # type: ignore[union-attr]  # the record exists or the test fails
    assert set(ebb.remembered().claims) == {"uid-n1"}


@pytest.mark.acceptance(83)
def test_every_eviction_is_first_tried_dry_and_nothing_is_ever_deleted() -> None:
    ebb = house()

    ebb.drain(order())

    kinds = [call[0] for call in ebb.cluster.calls]
    assert kinds.index("evict") < kinds.index("take")
    assert set(kinds) <= {
        "node", "all_nodes", "unbound_pods", "pods_on", "disruption_budgets", "workloads_of", "picture", "take",
        "evict", "note",
    }  # fmt: skip


def test_the_claim_stands_before_the_node_is_touched() -> None:
    ebb = house()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "timeout")]

    assert ebb.drain(order()) is Reply.AGAIN
    assert set(ebb.remembered().claims) == {"uid-n1"}

    assert ebb.deliver(order(issued_at=NOW)) is Reply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint == "order"


@pytest.mark.parametrize(
    ("expected", "changes", "things"),
    [
        pytest.param("node_unknown", {"node": "n9"}, (), id="no such node"),
        pytest.param("node_replaced", {"node_uid": "uid-old"}, (), id="the node was replaced"),
        pytest.param("blocked_by_pod", {}, (pod("bare", on="n1", owner=None),), id="a bare pod appeared"),
        pytest.param("cpu_above_limit", {}, (pod("big", on="n1", cpu=3.5),), id="the node filled up meanwhile"),
        pytest.param("not_empty", {"reason": "empty"}, (pod("p", on="n1"),), id="an empty node is empty no more"),
    ],
)
def test_an_order_that_no_longer_holds_is_refused_by_name(
    expected: str, changes: dict[str, Any], things: tuple[Pod, ...]
) -> None:
    ebb = house(*things)

    assert ebb.drain(order(**changes)) is Reply.DONE

    assert ebb.effects() == []
    assert ebb.remembered().claims == {}
    assert [(line["outcome"], line["reason"]) for line in ebb.log.of("drain_result")] == [("refused", expected)]


def test_a_refusal_says_its_sentence_once() -> None:
    ebb = house(policy=policy(enabled=False))

    ebb.drain(order())

    (line,) = ebb.log.of("drain_result")
    assert line["message"].count(Unremovable.POOL_DISABLED.sentence) == 1


@pytest.mark.parametrize(
    ("expected", "rules"),
    [
        pytest.param("paused", policy(cluster_wide={"paused": True}), id="paused"),
        pytest.param("pool_disabled", policy(enabled=False), id="pool disabled"),
        pytest.param("policy_invalid", None, id="no policy"),
        pytest.param("minimum_nodes", policy(cluster_wide={"minimum_nodes": 3}), id="at the minimum"),
    ],
)
def test_the_policy_of_this_moment_decides(expected: str, rules: Any) -> None:
    ebb = house(policy=rules)

    assert ebb.drain(order()) is Reply.DONE

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == [expected]


def test_an_order_that_nobody_claimed_in_time_expires() -> None:
    ebb = house()
    ebb.pass_time(minutes=10)

    ebb.deliver(order())

    assert ebb.reasons("drain_result") == ["expired"]


def test_a_claim_that_is_held_never_expires() -> None:
    ebb = house()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    ebb.pass_time(minutes=4)

    assert ebb.deliver(order(expires_at=NOW)) is Reply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint == "order"


@pytest.mark.acceptance(96)
def test_a_message_delivered_twice_has_no_second_effect() -> None:
    ebb = house()
    ebb.drain(order())
    once = ebb.effects()

    assert ebb.drain(order()) is Reply.DONE
    assert ebb.effects() == once


@pytest.mark.acceptance(96)
def test_a_delivery_of_an_older_generation_is_acknowledged_and_does_nothing() -> None:
    ebb = house()
    ebb.drain(order(generation=2))
    once = ebb.effects()

    assert ebb.drain(order(generation=1)) is Reply.DONE
    assert ebb.effects() == once
    assert "old_generation" in ebb.reasons("drain_step")


def test_a_delivery_that_meets_a_living_step_comes_again() -> None:
    ebb = house()
    busy = DrainRecord(order=order(), lease=Lease("another", NOW + timedelta(seconds=30)))
    ebb.state.put(drain_key("order"), busy, None)

    assert ebb.deliver(order()) is Reply.AGAIN
    assert ebb.effects() == []


@pytest.mark.acceptance(89)
def test_a_step_that_runs_out_of_time_goes_on_in_a_new_message_without_a_second_eviction() -> None:
    ebb = house(pod("p", on="n1", kind=WEB, grace_seconds=300), pdb("web", app="web"), step_seconds=60)
    slow = pod("slow", on="n1", owner="ReplicaSet/slow", grace_seconds=300)
    ebb.cluster.put(slow)

    assert ebb.drain(order()) is Reply.DONE
    (following,) = ebb.bus.published
    assert following.generation == 1

    while ebb.record().phase is not DrainPhase.DRAINED:  # type: ignore[union-attr]  # the record exists
        assert ebb.deliver(ebb.bus.published[-1]) is Reply.DONE
    assert [call for call in ebb.effects() if call[0] == "evict"] == [
        ("evict", "default/p", 30, False),
        ("evict", "default/slow", 300, False),
    ]


@pytest.mark.acceptance(90, 91)
def test_a_drain_that_cannot_finish_gives_the_node_back_and_only_ours() -> None:
    ebb = house(pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    ebb.cluster.put(node("n9", unschedulable=True))
    blocked = [Eviction(Answer.GRANTED)] + [Eviction(Answer.BUDGET, "default/web")] * 200
    ebb.cluster.answers["default/p"] = list(blocked)

    while not (ebb.record() and ebb.record().phase is DrainPhase.SETTLED):  # type: ignore[union-attr]  # just asked
        assert (ebb.deliver(ebb.bus.published[-1]) if ebb.bus.published else ebb.drain(order())) is Reply.DONE

    freed = ebb.cluster.nodes["n1"]
    assert (freed.unschedulable, freed.taints, dict(freed.annotations)) == (False, (), {})
    assert ebb.cluster.nodes["n9"].unschedulable
    record = ebb.record()
    assert record is not None
    assert (record.outcome, record.why, record.detail) == ("given_back", "deadline", "held by default/web")
    assert ebb.remembered().claims == {}
    assert ebb.remembered().backoffs["uid-n1"].why == "deadline"


@pytest.mark.acceptance(46)
def test_a_pdb_without_room_refuses_the_order_before_any_cordon() -> None:
    ebb = house(pod("p", on="n1", kind=WEB), pdb("web", allowed=0, app="web"))

    ebb.drain(order())

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == ["blocked_by_pod"]


def test_a_webhook_that_would_deny_is_met_before_any_cordon() -> None:
    ebb = house()
    ebb.cluster.answers["default/p"] = [Eviction(Answer.FORBIDDEN, "admission webhook denied")]

    ebb.drain(order())

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == ["preflight"]


@pytest.mark.acceptance(55)
def test_dry_run_checks_everything_and_writes_nothing_to_the_cluster() -> None:
    ebb = house(policy=policy(cluster_wide={"dry_run": True}))

    assert ebb.drain(order()) is Reply.DONE

    assert ebb.effects() == []
    assert ebb.remembered() == ClusterState()
    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["would_drain"]


@pytest.mark.acceptance(98)
def test_a_node_that_changed_since_it_was_read_is_read_again_not_overwritten() -> None:
    ebb = house()
    ebb.cluster.failures["take"] = [Stale("node n1 changed since it was read")]

    ebb.drain(order())

    assert [call[0] for call in ebb.effects()] == ["take", "take", "evict"]


@pytest.mark.acceptance(98)
def test_a_cordon_by_another_in_that_very_moment_aborts() -> None:
    ebb = house()
    ebb.cluster.failures["take"] = [Stale("node n1 changed since it was read")]
    ebb.cluster.put(node("n1", unschedulable=True))
    first_looks = [node("n1")]

    def look(name: str) -> Any:
        return first_looks.pop() if first_looks else ebb.cluster.nodes[name]

    ebb.cluster.node = look  # type: ignore[method-assign]  # a person acts between our look and our patch
    ebb.drain(order())

    assert ebb.reasons("drain_result") == ["cordoned_by_other"]
    assert ebb.cluster.nodes["n1"].unschedulable


@pytest.mark.acceptance(97)
def test_a_node_that_vanishes_mid_way_closes_the_drain() -> None:
    ebb = house(pod("p", on="n1", kind=WEB, grace_seconds=20), pdb("web", app="web"))

    def vanish() -> None:
        if any(call[0] == "evict" and not call[3] for call in ebb.cluster.calls):
            ebb.cluster.nodes.pop("n1", None)

    ebb.clock.moves.append(vanish)
    ebb.drain(order())

    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]
    assert ebb.remembered().claims == {}


def test_a_person_needs_to_name_only_the_node() -> None:
    ebb = house()

    assert ebb.deliver(json.dumps({"node": "n1"}).encode()) is Reply.DONE

    assert ebb.cluster.nodes["n1"].drain_taint == "message"
    assert ("picture",) in ebb.cluster.calls


def test_words_that_the_policy_does_not_let_count_are_named_in_the_log_and_in_the_refusal() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"windows"})})
    ebb = house(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["windows", "budgets", "nonsense"]}).encode())

    said = "Of ignore, budgets, nonsense did not count: manual.mayIgnore of the policy allows windows."
    record = ebb.record("message")
    assert record is not None
    assert (record.why, record.detail.endswith(said)) == ("budget", True)
    assert [line["message"] for line in ebb.log.of("drain_step") if line["severity"] == "WARNING"] == [said]
    assert said in ebb.log.of("drain_result")[0]["message"]


def test_words_that_the_policy_allows_count_and_are_not_complained_of() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"budgets"})})
    ebb = house(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["budgets"]}).encode())

    assert holder(ebb) == "message"
    assert "ignore_not_allowed" not in ebb.reasons("drain_step")


def test_a_manual_drain_of_pods_that_fit_nowhere_is_refused() -> None:
    ebb = House(node("n1"), node("n2", cpu=1), pod("p", on="n1", cpu=2))

    ebb.deliver(json.dumps({"node": "n1"}).encode())

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == ["no_place_for_pods"]


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        pytest.param("malformed", b"not json", id="no JSON"),
        pytest.param("malformed", b"[]", id="no object"),
        pytest.param("malformed", b"{}", id="no node"),
        pytest.param("malformed", b'{"node": "n1", "schema": 9}', id="an unknown schema"),
        pytest.param("malformed", b'{"node": "n1", "issued_at": "yesterday"}', id="a bad time"),
        pytest.param("other_cluster", b'{"node": "n1", "cluster": "projects/x"}', id="another cluster"),
    ],
)
def test_a_bad_message_is_acknowledged_logged_and_kept(expected: str, data: bytes) -> None:
    ebb = house()

    assert ebb.deliver(data) is Reply.DONE

    assert ebb.reasons("message_rejected") == [expected]
    assert [kept for kept, _, _ in ebb.bus.rejected] == [data]
    assert ebb.cluster.calls == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not json", id="no JSON"),
        pytest.param(b"[" * 100_000, id="endless nesting"),
        pytest.param(b'{"message": {"data": "%%%"}}', id="no base64"),
        pytest.param(b'{"message": {}}', id="no message id"),
    ],
)
def test_a_body_that_is_no_push_is_acknowledged_and_kept_whole(body: bytes) -> None:
    ebb = house()

    assert ebb.push(body) is Reply.DONE

    assert ebb.reasons("message_rejected") == ["malformed"]
    assert [kept for kept, _, _ in ebb.bus.rejected] == [body]


def test_a_rejected_topic_that_fails_does_not_bring_the_bad_message_back() -> None:
    ebb = house()
    ebb.bus.failure = Retryable("pubsub", "timeout")

    assert ebb.deliver(b"not json") is Reply.DONE
    assert len(ebb.log.of("message_rejected")) == 2


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Retryable("kubernetes", "timeout"), id="an outage"),
        pytest.param(Terminal("kubernetes", "403"), id="a missing permission"),
        pytest.param(Stale("changed"), id="a lost race"),
    ],
)
@pytest.mark.parametrize(
    "call", ["node", "unbound_pods", "all_nodes", "pods_on", "disruption_budgets", "workloads_of", "evict", "take"]
)
def test_an_outage_makes_the_message_come_again_and_the_repeat_finishes(call: str, fault: EbbError) -> None:
    ebb = house()
    ebb.cluster.failures[call] = [fault]
    expected = Reply.DONE if (call, type(fault)) == ("take", Stale) else Reply.AGAIN

    assert ebb.drain(order()) is expected
    assert ebb.deliver(order()) is Reply.DONE
    assert ebb.record().phase is DrainPhase.DRAINED  # type: ignore[union-attr]  # the record exists


@pytest.mark.parametrize(
    "fault",
    [pytest.param(Retryable("it", "timeout"), id="an outage"), pytest.param(Terminal("it", "403"), id="denied")],
)
def test_a_running_drain_ends_as_it_was_begun_while_the_policy_cannot_be_read(fault: EbbError) -> None:
    ebb = house(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: setattr(ebb.policy, "policy", fault))

    assert ebb.drain(order()) is Reply.DONE

    assert ebb.record().phase is DrainPhase.DRAINED  # type: ignore[union-attr]  # the record exists


def test_nothing_is_begun_while_the_policy_cannot_be_read() -> None:
    ebb = house()
    ebb.policy.policy = Retryable("it", "timeout")

    assert ebb.drain(order()) is Reply.AGAIN

    assert (ebb.effects(), ebb.remembered().claims) == ([], {})


def test_a_release_frees_the_node_and_ends_the_claim() -> None:
    ebb = house()
    ebb.drain(order())

    assert ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode()) is Reply.DONE

    assert not ebb.cluster.nodes["n1"].unschedulable
    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().claims == {}
    record = ebb.record()
    assert record is not None
    assert (record.phase, record.outcome) == (DrainPhase.SETTLED, "released")


def test_a_release_is_carried_out_in_dry_run_and_without_a_policy() -> None:
    ebb = house()
    ebb.drain(order())
    ebb.policy.policy = None

    ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode())

    assert ebb.cluster.nodes["n1"].drain_taint is None


@pytest.mark.acceptance(94)
def test_the_watchdogs_release_looks_again_before_it_undoes_anything() -> None:
    ebb = house()
    ebb.drain(order())
    overdue = released(origin=Origin.PLANNER, why="watchdog")

    ebb.deliver(overdue)
    assert holder(ebb) == "order"

    ebb.pass_time(minutes=25)
    ebb.deliver(overdue)
    assert holder(ebb) is None
    assert ebb.remembered().backoffs["uid-n1"].why == "watchdog"


def test_a_release_for_an_orphan_spares_a_drain_that_lives() -> None:
    ebb = house()
    ebb.drain(order())

    ebb.deliver(released(origin=Origin.PLANNER, why="orphan"))
    assert holder(ebb) == "order"

    ebb.remember(replace(ebb.remembered(), claims={}))
    ebb.deliver(released(origin=Origin.PLANNER, why="orphan"))
    assert holder(ebb) is None


def test_a_giving_back_that_was_cut_short_is_finished_by_the_next_message() -> None:
    ebb = house()
    ebb.cluster.answers["default/p"] = [Eviction(Answer.GRANTED), Eviction(Answer.FORBIDDEN, "webhook")]
    ebb.cluster.failures["give_back"] = [Retryable("kubernetes", "timeout")]

    assert ebb.drain(order()) is Reply.AGAIN
    assert ebb.record().phase is DrainPhase.HALTING  # type: ignore[union-attr]  # the record exists

    assert ebb.deliver(order()) is Reply.DONE
    assert holder(ebb) is None
    assert ebb.remembered().claims == {}


def test_an_eviction_that_would_be_refused_for_good_leaves_the_node_alone_for_a_while() -> None:
    ebb = house()
    ebb.cluster.answers["default/p"] = [Eviction(Answer.FORBIDDEN, "admission webhook denied")]

    ebb.drain(order())

    assert ebb.remembered().backoffs["uid-n1"].why == "preflight"


@pytest.mark.parametrize(
    ("expected", "picture_at"),
    [
        pytest.param(False, NOW, id="a claim of the same pass was proved together with this order"),
        pytest.param(True, NOW - timedelta(minutes=1), id="another pass claimed room since our picture"),
        pytest.param(True, None, id="a person claimed room since our picture"),
    ],
)
def test_a_strangers_claim_since_the_picture_asks_for_a_new_proof(expected: bool, picture_at: Any) -> None:
    ebb = house()
    ebb.remember(ClusterState(claims={"uid-n2": claim("n2", picture_at=picture_at)}))

    ebb.drain(order())

    assert expected == (("picture",) in ebb.cluster.calls)
    assert "uid-n1" in ebb.remembered().claims


def test_a_claim_granted_between_proof_and_grant_brings_the_message_back() -> None:
    ebb = house()
    look = ebb.cluster.evict

    def evict(*arguments: Any, **options: Any) -> Eviction:
        if "uid-n2" not in ebb.remembered().claims:
            ebb.remember(ClusterState(claims={"uid-n2": claim("n2", order_id="stranger")}))
        return look(*arguments, **options)

    ebb.cluster.evict = evict  # type: ignore[method-assign]  # somebody is faster, just after our proof
    assert ebb.drain(order()) is Reply.AGAIN
    assert ebb.effects() == []

    assert ebb.drain(order()) is Reply.DONE
    assert holder(ebb) == "order"


def test_a_step_that_was_overtaken_touches_nothing_more() -> None:
    ebb = house(pod("p", on="n1", kind=WEB, grace_seconds=60), pdb("web", app="web"))
    evicted = ebb.cluster.pods_on

    def release_meanwhile(node: str) -> tuple[Pod, ...]:
        record = ebb.record()
        if record is not None and record.phase is DrainPhase.CORDONED:
            found = ebb.state.get(drain_key("order"))
            ebb.state.put(drain_key("order"), replace(record, generation=7), found.version)
        return evicted(node)

    ebb.cluster.pods_on = release_meanwhile  # type: ignore[method-assign]  # another step takes the record over
    assert ebb.drain(order()) is Reply.AGAIN

    assert [call[0] for call in ebb.effects()] == ["take"]
