"""A drain from cordon to its end, on fakes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.drainer.main import PushReply
from shared.adapters.prices import load
from shared.core.policy.values import NO_COMMITMENTS, Commitments
from shared.core.records.commitments import CommitmentReading
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.errors import Retryable, Stale, Terminal
from shared.ports import COMMITMENTS_KEY, Eviction
from tests.builders import NOW, committed, listed_commitment, node, order, pdb, pod, policy
from tests.depth import cases
from tests.fakes import failing
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder


@pytest.mark.acceptance(82, 93)
def test_a_drain_cordons_evicts_and_leaves_the_node_to_the_autoscaler() -> None:
    ebb = fake_ebb()

    assert ebb.drain(order()) is PushReply.DONE

    assert ebb.effects() == [("take", "n1", "order"), ("evict", "default/p", 30, False)]
    left = ebb.cluster.nodes["n1"]
    assert (left.unschedulable, left.drain_taint) == (True, "order")
    assert ebb.record().phase is DrainPhase.DRAINED
    assert set(ebb.remembered().claims) == {"uid-n1"}


@pytest.mark.acceptance(83)
def test_every_eviction_is_first_tried_dry_and_nothing_is_ever_deleted() -> None:
    ebb = fake_ebb()

    ebb.drain(order())

    kinds = [call[0] for call in ebb.cluster.calls]
    assert kinds.index("evict") < kinds.index("take")
    assert set(kinds) <= {
        "node", "all_nodes", "unbound_pods", "pods_on", "disruption_budgets", "workloads_of", "read", "take",
        "evict", "note",
    }  # fmt: skip


def test_the_claim_stands_before_the_node_is_touched() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "timeout")]

    assert ebb.drain(order()) is PushReply.AGAIN
    assert set(ebb.remembered().claims) == {"uid-n1"}


@pytest.mark.acceptance(90, 91)
def test_a_drain_that_cannot_finish_gives_the_node_back_and_only_ours() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    ebb.cluster.put(node("n9", unschedulable=True))
    blocked = [Eviction(EvictionAnswer.GRANTED)] + [Eviction(EvictionAnswer.BUDGET, "default/web")] * 200
    ebb.cluster.answers["default/p"] = list(blocked)

    ebb.drain_to_end(order())

    freed = ebb.cluster.nodes["n1"]
    assert (freed.unschedulable, freed.taints, dict(freed.annotations)) == (False, (), {})
    assert ebb.cluster.nodes["n9"].unschedulable
    record = ebb.record()
    assert (record.outcome, record.why, record.detail) == ("given_back", "deadline", "held by default/web")
    assert ebb.remembered().claims == {}
    assert ebb.remembered().backoffs["uid-n1"].why == "deadline"


@pytest.mark.acceptance(98)
def test_a_node_that_changed_since_it_was_read_is_read_again_not_overwritten() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["take"] = [Stale("node n1 changed since it was read")]

    ebb.drain(order())

    assert [call[0] for call in ebb.effects()] == ["take", "take", "evict"]


def test_a_node_that_others_write_again_and_again_is_asked_with_a_pause() -> None:
    ebb = fake_ebb(step_seconds=20)
    ebb.cluster.meanwhile["take",] = failing(Stale("node n1 changed since it was read"))

    ebb.drain(order())

    assert len(ebb.effects()) == 10


@pytest.mark.acceptance(91, 98)
def test_a_cordon_by_another_in_that_very_moment_aborts() -> None:
    ebb = fake_ebb()
    ebb.cluster.meanwhile["take",] = lambda: ebb.cluster.put(node("n1", unschedulable=True))

    ebb.drain(order())

    assert ebb.reasons("drain_result") == ["cordoned_by_other"]
    assert (ebb.cluster.nodes["n1"].unschedulable, holder(ebb)) == (True, None)


@pytest.mark.acceptance(97)
def test_a_node_that_vanishes_mid_way_closes_the_drain() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB, grace_seconds=20), pdb("web", app="web"))

    def vanish() -> None:
        if any(call[0] == "evict" and not call[3] for call in ebb.cluster.calls):
            ebb.cluster.nodes.pop("n1", None)

    ebb.clock.moves.append(vanish)
    ebb.drain(order())

    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]
    assert ebb.remembered().claims == {}


PRICE = load().of(node("n1")).per_hour
WRITTEN = committed("e2", vcpu=12, gib=48)
READ = Commitments(read=True)
LIST = listed_commitment()


@cases(
    "share, commitments, age",
    ("none is committed: its price", 1, NO_COMMITMENTS, timedelta(0)),
    ("half of one exceeds them: half", 0.5, committed("e2", vcpu=10, gib=40), timedelta(0)),
    ("all are committed: nothing", 0, WRITTEN, timedelta(0)),
    ("the planner has listed it", 0, READ, timedelta(hours=1)),
    ("its list is too old", 1, replace(WRITTEN, read=True), timedelta(hours=25)),
)
def test_a_claim_saves_what_the_bill_falls_by(share: float, commitments: Commitments, age: timedelta) -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": commitments}))
    ebb.state.put(COMMITMENTS_KEY, CommitmentReading(rows=(LIST,), read_at=NOW - age, tried_at=NOW), None)

    ebb.drain(order())

    assert [claim.cost_per_hour for claim in ebb.remembered().claims.values()] == [pytest.approx(share * PRICE, abs=2)]


@pytest.mark.parametrize(
    "failure",
    [None, Retryable("state", "503"), Terminal("state", "403")],
    ids=["none is there", "an outage", "refused"],
)
def test_without_a_list_the_price_counts(failure: Exception | None) -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": READ}))
    if failure:
        ebb.state.meanwhile["all", COMMITMENTS_KEY.collection] = failing(failure)

    ebb.drain(order())

    assert [claim.cost_per_hour for claim in ebb.remembered().claims.values()] == [PRICE]
