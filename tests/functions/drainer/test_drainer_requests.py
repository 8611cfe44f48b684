"""Pods that name who answers for their eviction: requested, waited for, and withdrawn with the drain. On fakes."""

from datetime import timedelta
from typing import Any

import pytest

from functions.drainer.receive import PushReply
from shared.answers import Eviction
from shared.core.outcomes import Halt
from shared.core.policy import DrainSettings, EvictionResponders
from shared.core.records.drain_record import DrainPhase
from shared.core.records.evictions import EvictionAnswer
from shared.core.records.orders import OrderKind
from shared.errors import Forbidden, Retryable, Stale
from tests.builders import node, order, pod, pod_class, policy
from tests.fake_cluster import EVICTION, WITHDRAWN
from tests.functions.fake_ebb import FakeEbb

MOVER = "storage.example.com/mover"
KIND = pod_class(owner="ReplicaSet/web", eviction_responders=(MOVER,))
PATIENT = DrainSettings(timeout=timedelta(minutes=20))
REFUSED = Eviction(EvictionAnswer.FORBIDDEN, "EvictionRequest: NoFurtherResponder all have failed")


def fake_ebb(*pods: Any, served: bool = True, **changes: Any) -> FakeEbb:
    rules = policy(eviction_responders=EvictionResponders.REQUEST, cluster_wide={"drain": PATIENT})
    things = pods or (pod("p", on="n1", kind=KIND),)
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), *things, **{"policy": rules, **changes})
    ebb.cluster.serves_requests = served
    return ebb


def drained(ebb: FakeEbb) -> Any:
    """Deliver the order, and every message that goes on with it."""
    reply = ebb.drain(order())
    while ebb.bus.published:
        reply = ebb.deliver(ebb.bus.published.pop())
    assert reply is PushReply.DONE
    return ebb.record()


def asked(ebb: FakeEbb) -> list[Any]:
    return [call for call in ebb.cluster.calls if call[0] == "evict" and not call[3]]


def test_a_drain_waits_for_those_who_answer_and_looks_twice_a_minute() -> None:
    ebb = fake_ebb()
    ebb.later(300, lambda: ebb.cluster.finish("default/p"))

    record = drained(ebb)

    assert record.phase is DrainPhase.DRAINED
    assert record.pods["default/p"].requested
    assert len(asked(ebb)) == pytest.approx(10, abs=1)
    assert ebb.cluster.requests == {"uid-p": EVICTION}


def test_a_drain_that_gives_its_node_back_withdraws_what_it_requested() -> None:
    ebb = fake_ebb()
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))

    record = drained(ebb)

    assert (record.outcome, record.why) == ("given_back", "paused")
    assert ebb.cluster.requests == {"uid-p": WITHDRAWN}
    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert not record.pods["default/p"].moved, "it has moved no pod"


def test_what_it_evicted_beside_a_request_that_it_withdraws_stays_told() -> None:
    plain = pod("plain", on="n1", kind=pod_class(owner="ReplicaSet/plain"))
    ebb = fake_ebb(pod("p", on="n1", kind=KIND), plain)
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))

    record = drained(ebb)

    assert {key: row.moved for key, row in record.pods.items()} == {"default/p": False, "default/plain": True}
    assert ebb.log.of("drain_result")[-1]["pods_evicted"] == 1


def test_at_the_deadline_it_says_whom_it_waited_for() -> None:
    record = drained(fake_ebb())

    assert (record.why, record.detail.split(" (")[0]) == (
        "deadline",
        f"held by default/p, whom {MOVER} has not let go",
    )


def test_a_request_that_has_failed_gives_the_node_back_at_once() -> None:
    ebb = fake_ebb()
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), Eviction(EvictionAnswer.GRANTED), REFUSED]

    record = drained(ebb)

    assert (record.why, record.detail) == ("eviction_forbidden", f"default/p: {REFUSED.detail}")


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param("eviction_responders", {"served": False}, id="the cluster serves none"),
        pytest.param(
            "eviction_responders", {"policy": policy(cluster_wide={"drain": PATIENT})}, id="the policy asks for none"
        ),
        pytest.param(
            "responders_need_time",
            {"policy": policy(eviction_responders=EvictionResponders.REQUEST)},
            id="a drain ends before they must have spoken",
        ),
    ],
)
def test_an_order_is_refused_where_no_request_would_do(expected: str, given: dict[str, Any]) -> None:
    ebb = fake_ebb(**given)

    record = drained(ebb)

    assert record.outcome == "refused"
    assert expected in {each.reason for each in record.objections}
    assert not asked(ebb)


def test_without_the_right_the_preflight_ends_it_before_the_node_is_touched() -> None:
    ebb = fake_ebb()
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.FORBIDDEN, "403 may not create evictionrequests")]

    record = drained(ebb)

    assert (record.outcome, record.why) == ("refused", "preflight")
    assert not [call for call in ebb.effects() if call[0] == "take"]


def test_pods_of_a_workload_without_a_budget_are_requested_one_after_another() -> None:
    ebb = fake_ebb(*(pod(f"p{number}", on="n1", kind=KIND) for number in range(2)))
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))

    drained(ebb)

    assert {call[1] for call in asked(ebb)} == {"default/p0"}


@pytest.mark.parametrize(
    ("expected", "failures"),
    [
        pytest.param(WITHDRAWN, [Stale("written meanwhile")], id="written meanwhile: once more"),
        pytest.param(EVICTION, [Forbidden("the right", "is gone")], id="no right any more: told, and the drain ends"),
    ],
)
def test_the_node_is_free_whatever_becomes_of_the_withdrawal(expected: str, failures: list[Any]) -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["withdraw"] = failures
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))

    record = drained(ebb)

    assert record.outcome == "given_back"
    assert (ebb.cluster.requests["uid-p"], ebb.cluster.nodes["n1"].unschedulable) == (expected, False)


def test_a_withdrawal_that_finds_nobody_is_repeated_with_the_ending() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["withdraw"] = [Retryable("Kubernetes API", "no answer")]
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))
    replies = [ebb.drain(order())]
    while ebb.bus.published:
        replies.append(ebb.deliver(ebb.bus.published.pop()))
    halting = ebb.record()
    assert halting is not None

    assert (replies[-1], halting.phase) == (PushReply.AGAIN, DrainPhase.HALTING)
    assert not ebb.cluster.nodes["n1"].unschedulable


def test_a_release_of_a_drain_that_is_over_withdraws_nothing_that_a_later_drain_of_the_node_asked_for() -> None:
    ebb = fake_ebb()
    ebb.later(60, lambda: setattr(ebb.policy, "policy", policy(cluster_wide={"paused": True})))
    drained(ebb)
    ebb.policy.policy = policy(eviction_responders=EvictionResponders.REQUEST, cluster_wide={"drain": PATIENT})
    ebb.clock.sleep(3 * 60 * 60)
    ebb.drain(order(order_id="later", issued_at=ebb.clock.now(), expires_at=ebb.clock.now() + timedelta(minutes=10)))
    assert ebb.cluster.requests == {"uid-p": EVICTION}

    late = order(order_id="order", kind=OrderKind.RELEASE, why=Halt.ORPHAN.value)
    assert ebb.deliver(late) is PushReply.DONE

    assert ebb.cluster.requests == {"uid-p": EVICTION}
