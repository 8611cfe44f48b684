"""Outages and others' claims in the midst of a drain, on fakes."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from functions.drainer.main import PushReply
from shared.core.records.drain_record import DrainPhase
from shared.core.records.state import ClusterState
from shared.errors import BadPolicy, EbbError, Retryable, Stale, Terminal
from shared.ports import drain_key
from tests.builders import NOW, claim, order, pdb, pod
from tests.depth import cases
from tests.fakes import once
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder


@cases(
    "fault",
    ("an outage", Retryable("kubernetes", "timeout")),
    ("a missing permission", Terminal("kubernetes", "403")),
    ("a lost race", Stale("changed")),
)
@pytest.mark.parametrize(
    "call",
    ["node", "unbound_pods", "all_nodes", "pods_on", "disruption_budgets", "workloads_of", "evict", "take", "read"],
)
def test_an_outage_makes_the_message_come_again_and_the_repeat_finishes(call: str, fault: EbbError) -> None:
    ebb = fake_ebb()
    ebb.cluster.failures[call] = [fault]
    goes_on = {("take", Stale), ("read", Retryable), ("read", Terminal)}
    """The next look sees who was faster; what was read in vain is read again."""
    expected = PushReply.DONE if (call, type(fault)) in goes_on else PushReply.AGAIN

    assert ebb.drain(order()) is expected
    assert ebb.deliver(order()) is PushReply.DONE
    assert ebb.record().phase is DrainPhase.DRAINED


@pytest.mark.parametrize("fault", [Retryable("kubernetes", "timeout"), Terminal("kubernetes", "403")])
@pytest.mark.parametrize("call", ["node", "pods_on", "unbound_pods", "disruption_budgets", "workloads_of"])
def test_a_drain_that_is_begun_goes_on_through_failed_reads_and_logs_them_once(call: str, fault: EbbError) -> None:
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: ebb.cluster.failures.update({call: [fault] * 4}))

    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.record().phase is DrainPhase.DRAINED
    assert ebb.reasons("drain_step").count(type(fault).__name__.lower()) == 1


def test_reads_that_fail_until_the_steps_end_bring_the_message_again() -> None:
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: ebb.cluster.failures.update({"pods_on": [Retryable("kubernetes", "timeout")] * 500}))

    assert ebb.drain(order()) is PushReply.AGAIN

    assert ebb.record().phase is DrainPhase.CORDONED


@cases(
    "fault",
    ("an outage", Retryable("it", "timeout")),
    ("denied", Terminal("it", "403")),
    ("broken", BadPolicy("not: yaml")),
)
@pytest.mark.acceptance(8)
def test_a_running_drain_ends_as_it_was_begun_while_the_policy_cannot_be_read(fault: EbbError) -> None:
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: setattr(ebb.policy, "policy", fault))

    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.record().phase is DrainPhase.DRAINED


def test_nothing_is_begun_while_the_policy_cannot_be_read() -> None:
    ebb = fake_ebb()
    ebb.policy.policy = Retryable("it", "timeout")

    assert ebb.drain(order()) is PushReply.AGAIN

    assert (ebb.effects(), ebb.remembered().claims) == ([], {})


@cases(
    "expected, picture_at",
    ("a claim of the same pass was proved together with this order", False, NOW),
    ("another pass claimed room since our snapshot", True, NOW - timedelta(minutes=1)),
    ("a person claimed room since our snapshot", True, None),
)
def test_a_strangers_claim_since_the_snapshot_asks_for_a_new_proof(expected: bool, picture_at: Any) -> None:
    ebb = fake_ebb()
    ebb.remember(ClusterState(claims={"uid-n2": claim("n2", picture_at=picture_at)}))

    ebb.drain(order())

    before_the_cordon = ebb.cluster.calls[: ebb.cluster.calls.index(("take", "n1", "order"))]
    assert expected == (("read",) in before_the_cordon)
    assert "uid-n1" in ebb.remembered().claims


def test_a_claim_granted_between_proof_and_grant_brings_the_message_back() -> None:
    ebb = fake_ebb()
    faster = ClusterState(claims={"uid-n2": claim("n2", order_id="stranger")})
    ebb.cluster.meanwhile["evict",] = once(lambda: ebb.remember(faster))  # just after our proof
    assert ebb.drain(order()) is PushReply.AGAIN
    assert ebb.effects() == []

    assert ebb.drain(order()) is PushReply.DONE
    assert holder(ebb) == "order"


def test_a_step_that_was_overtaken_touches_nothing_more() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB, grace_seconds=60), pdb("web", app="web"))

    def take_over() -> None:
        found = ebb.state.get(drain_key("order"))
        if found.value is not None and found.value.phase is DrainPhase.CORDONED:
            ebb.state.put(drain_key("order"), replace(found.value, generation=7), found.version)

    ebb.cluster.meanwhile["pods_on",] = take_over
    assert ebb.drain(order()) is PushReply.AGAIN

    assert [call[0] for call in ebb.effects()] == ["take"]
