"""What the drainer refuses before it touches a node, each by name, on fakes."""

from datetime import timedelta
from typing import Any

import pytest

from functions.drainer.main import PushReply
from shared.core.cluster.pod import Pod
from shared.core.reasons import Unremovable
from shared.core.records.drain_record import EvictionAnswer
from shared.core.records.state import ClusterState, Published
from shared.errors import Retryable
from shared.ports import Eviction
from tests.builders import NOW, claim, order, pdb, pod, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, fake_ebb
from tests.functions.fake_ebb import FakeEbb


@cases(
    "expected, changes, things",
    ("no such node", "node_unknown", {"node": "n9"}, ()),
    ("the node was replaced", "node_replaced", {"node_uid": "uid-old"}, ()),
    ("a bare pod appeared", "blocked_by_pod", {}, (pod("bare", on="n1", owner=None),)),
    ("the node filled up meanwhile", "cpu_above_limit", {}, (pod("big", on="n1", cpu=3.5),)),
    ("an empty node is empty no more", "not_empty", {"reason": "empty"}, (pod("p", on="n1"),)),
)
def test_an_order_that_no_longer_holds_is_refused_by_name(
    expected: str, changes: dict[str, Any], things: tuple[Pod, ...]
) -> None:
    assert refused(fake_ebb(*things), **changes) == expected


def refused(ebb: FakeEbb, **changes: Any) -> str:
    """Deliver an order that ends with nothing written but its result; return the reason."""
    assert ebb.drain(order(**changes)) is PushReply.DONE

    assert (ebb.effects(), ebb.remembered().claims) == ([], {})
    (line,) = ebb.log.of("drain_result")
    assert line["outcome"] == "refused"
    return str(line["reason"])


def test_a_refusal_shows_its_sentence_once() -> None:
    ebb = fake_ebb(policy=policy(enabled=False))

    ebb.drain(order())

    (line,) = ebb.log.of("drain_result")
    assert line["message"].count(Unremovable.POOL_DISABLED.sentence) == 1


@cases(
    "expected, rules",
    ("paused", "paused", policy(cluster_wide={"paused": True})),
    ("pool disabled", "pool_disabled", policy(enabled=False)),
    ("no policy", "policy_invalid", None),
    ("at the minimum", "minimum_nodes", policy(cluster_wide={"minimum_nodes": 3})),
)
def test_the_policy_of_this_moment_decides(expected: str, rules: Any) -> None:
    assert refused(fake_ebb(policy=rules)) == expected


def test_an_order_that_nobody_claimed_in_time_expires() -> None:
    ebb = fake_ebb()
    ebb.pass_time(minutes=10)

    ebb.deliver(order())

    assert ebb.reasons("drain_result") == ["expired"]


def test_a_claim_that_is_held_never_expires() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    ebb.pass_time(minutes=4)

    assert ebb.deliver(order(expires_at=NOW)) is PushReply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint == "order"


@pytest.mark.acceptance(46)
def test_a_pdb_without_room_refuses_the_order_before_any_cordon() -> None:
    assert refused(fake_ebb(pod("p", on="n1", kind=WEB), pdb("web", allowed=0, app="web"))) == "blocked_by_pod"


def test_a_webhook_that_would_deny_is_met_before_any_cordon_and_the_node_left_alone_for_a_while() -> None:
    ebb = fake_ebb()
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.FORBIDDEN, "admission webhook denied")]

    assert refused(ebb) == "preflight"

    assert ebb.remembered().backoffs["uid-n1"].why == "preflight"


@pytest.mark.acceptance(55)
@pytest.mark.parametrize("of", ["the order", "the policy"])
def test_dry_run_checks_everything_writes_nothing_to_the_cluster_and_is_on_its_way_no_longer(of: str) -> None:
    """The next pass orders the node again: a trial week reports it in every pass."""
    ebb = fake_ebb(policy=policy(cluster_wide={"dry_run": of == "the policy"}))
    on_its_way = {"uid-n1": Published(claim=claim("n1", order_id="order"), expires_at=NOW + timedelta(minutes=10))}
    ebb.remember(ClusterState(published=on_its_way))

    assert ebb.drain(order(dry_run=of == "the order")) is PushReply.DONE

    assert (ebb.effects(), ebb.remembered()) == ([], ClusterState())
    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["would_drain"]
