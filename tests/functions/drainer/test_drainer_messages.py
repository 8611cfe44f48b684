"""Messages that come twice, late, too early or broken, on fakes."""

import json
from datetime import timedelta

import pytest

from functions.drainer.main import PushReply
from shared.core.policy import Budget, Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import OrderKind
from shared.core.records.state import Lease
from shared.errors import Retryable, Terminal
from shared.ports import drain_key
from tests.builders import NOW, node, order, pdb, pod, policy
from tests.depth import cases
from tests.fakes import failing
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder, released
from tests.functions.fake_ebb import FakeEbb


@pytest.mark.acceptance(96)
@cases("old, first, second", ("delivered twice", False, 0, 0), ("of an older generation", True, 2, 1))
def test_a_message_that_comes_once_more_has_no_second_effect(*, old: bool, first: int, second: int) -> None:
    ebb = fake_ebb()
    ebb.drain(order(generation=first))
    once = ebb.effects()

    assert ebb.drain(order(generation=second)) is PushReply.DONE
    assert ebb.effects() == once
    assert ("old_generation" in ebb.reasons("drain_step")) is old


def test_a_delivery_that_meets_a_living_step_comes_again() -> None:
    ebb = fake_ebb()
    busy = DrainRecord(order=order(), lease=Lease("another", NOW + timedelta(seconds=30)))
    ebb.state.put(drain_key("order"), busy, None)

    assert ebb.deliver(order()) is PushReply.AGAIN
    assert ebb.effects() == []


@cases("expected, minutes", ("before", PushReply.AGAIN, 9), ("then", PushReply.DONE, 10))
@pytest.mark.parametrize("kind", [OrderKind.RELEASE, OrderKind.HOLD, OrderKind.LET_GO])
def test_no_order_comes_again_once_it_has_expired(kind: OrderKind, expected: PushReply, minutes: int) -> None:
    """A drain's goes on: its claim stands, and ends by the deadline."""
    ebb = fake_ebb()
    ebb.cluster.meanwhile["node",] = failing(Terminal("Kubernetes API", "422"))
    nodes = {} if kind is OrderKind.RELEASE else {"uid-n1": "n1"}
    given = order("" if nodes else "n1", kind=kind, nodes=nodes)
    ebb.pass_time(minutes=minutes)

    assert ebb.deliver(given) is expected

    assert ("expired" in ebb.reasons("drain_step")) is (expected is PushReply.DONE)


@cases(
    "expected, seconds",
    ("now", PushReply.DONE, 0),
    ("within a step's time", PushReply.DONE, 60),
    ("later than that", PushReply.AGAIN, 61),
)
def test_a_release_waits_for_its_time_as_long_as_a_step_takes(expected: PushReply, seconds: int) -> None:
    ebb = fake_ebb(step_seconds=60)
    ebb.drain(order())
    begun = ebb.clock.now()

    found = ebb.deliver(released(not_before=begun + timedelta(seconds=seconds), expires_at=begun + timedelta(hours=1)))

    assert found is expected
    assert (holder(ebb) is None) == (expected is PushReply.DONE)
    assert (ebb.clock.now() - begun).total_seconds() == min(seconds, 60)


@pytest.mark.acceptance(89)
def test_a_step_that_runs_out_of_time_goes_on_in_a_new_message_without_a_second_eviction() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB, grace_seconds=300), pdb("web", app="web"), step_seconds=60)
    slow = pod("slow", on="n1", owner="ReplicaSet/slow", grace_seconds=300)
    ebb.cluster.put(slow)

    assert ebb.drain(order()) is PushReply.DONE
    (following,) = ebb.bus.published
    assert following.generation == 1

    while ebb.record().phase is not DrainPhase.DRAINED:
        assert ebb.deliver(ebb.bus.published[-1]) is PushReply.DONE
    assert sorted(call for call in ebb.effects() if call[0] == "evict") == [
        ("evict", "default/p", 30, False),
        ("evict", "default/slow", 300, False),
    ]


@cases(
    "expected, data",
    ("no JSON", "malformed", b"not json"),
    ("no object", "malformed", b"[]"),
    ("no node", "malformed", b"{}"),
    ("an unknown schema", "malformed", b'{"node": "n1", "schema": 9}'),
    ("a bad time", "malformed", b'{"node": "n1", "issued_at": "yesterday"}'),
    ("another cluster", "other_cluster", b'{"node": "n1", "cluster": "projects/x"}'),
)
def test_a_bad_message_is_acknowledged_logged_and_kept(expected: str, data: bytes) -> None:
    ebb = fake_ebb()

    assert ebb.deliver(data) is PushReply.DONE

    assert ebb.reasons("message_rejected") == [expected]
    assert [kept for kept, _, _ in ebb.bus.rejected] == [data]
    assert ebb.cluster.calls == []


@cases(
    "body",
    ("empty", b""),
    ("no JSON", b"not json"),
    ("endless nesting", b"[" * 100_000),
    ("no base64", b'{"message": {"data": "%%%"}}'),
    ("no message id", b'{"message": {}}'),
)
def test_a_body_that_is_no_push_is_acknowledged_and_kept_whole(body: bytes) -> None:
    ebb = fake_ebb()

    assert ebb.push(body) is PushReply.DONE

    assert ebb.reasons("message_rejected") == ["malformed"]
    assert [kept for kept, _, _ in ebb.bus.rejected] == [body]


def test_a_rejected_topic_that_fails_does_not_bring_the_bad_message_back() -> None:
    ebb = fake_ebb()
    ebb.bus.failure = Retryable("pubsub", "timeout")

    assert ebb.deliver(b"not json") is PushReply.DONE
    assert len(ebb.log.of("message_rejected")) == 2


@pytest.mark.parametrize("kind", [OrderKind.DRAIN, OrderKind.RELEASE])
def test_a_message_with_the_id_of_another_nodes_drain_is_refused_and_changes_nothing(kind: OrderKind) -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB, grace_seconds=300), step_seconds=30)
    ebb.drain(order())
    before, effects = ebb.record(), ebb.effects()

    assert ebb.deliver(order("n2", kind=kind, order_id="order", generation=5)) is PushReply.DONE

    assert (ebb.record(), ebb.effects()) == (before, effects)
    (result,) = ebb.log.of("drain_result")
    assert (result["node"], result["outcome"], result["reason"]) == ("n2", "refused", "other_node")


def test_a_person_needs_to_name_only_the_node() -> None:
    ebb = fake_ebb()

    assert ebb.deliver(json.dumps({"node": "n1"}).encode()) is PushReply.DONE

    assert ebb.cluster.nodes["n1"].drain_taint == "message"
    assert ("read",) in ebb.cluster.calls


def test_words_that_the_policy_does_not_let_count_are_named_in_the_log_and_in_the_refusal() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"windows"})})
    ebb = fake_ebb(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["windows", "budgets", "nonsense"]}).encode())

    said = "Of ignore, budgets, 'nonsense' did not count: manual.mayIgnore of the policy allows windows."
    record = ebb.record("message")
    assert (record.why, record.detail.endswith(said)) == ("budget", True)
    assert [line["message"] for line in ebb.log.of("drain_step") if line["severity"] == "WARNING"] == [said]
    assert said in ebb.log.of("drain_result")[0]["message"]


@pytest.mark.parametrize("words", [["x" * 60_000], [f"w-{number}" for number in range(5_000)]], ids=["long", "many"])
def test_words_without_end_make_no_long_line(words: list[str]) -> None:
    ebb = fake_ebb()

    ebb.deliver(json.dumps({"node": "n1", "ignore": words}).encode())

    (said,) = (line["message"] for line in ebb.log.of("drain_step") if line["severity"] == "WARNING")
    assert len(said) < 600


def test_words_that_the_policy_allows_count_and_are_not_complained_of() -> None:
    closed = policy(budgets=(Budget(Limit(count=0)),), cluster_wide={"manual_may_ignore": frozenset({"budgets"})})
    ebb = fake_ebb(policy=closed)

    ebb.deliver(json.dumps({"node": "n1", "ignore": ["budgets"]}).encode())

    assert holder(ebb) == "message"
    assert "ignore_not_allowed" not in ebb.reasons("drain_step")


def test_a_manual_drain_of_pods_that_fit_nowhere_is_refused() -> None:
    ebb = FakeEbb(node("n1"), node("n2", cpu=1), pod("p", on="n1", cpu=2))

    ebb.deliver(json.dumps({"node": "n1"}).encode())

    assert ebb.effects() == []
    assert ebb.reasons("drain_result") == ["no_place_for_pods"]
