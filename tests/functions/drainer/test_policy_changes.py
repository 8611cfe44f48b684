"""What becomes of marks, orders and running drains when the policy changes or breaks, on fakes."""

import pytest

from functions.drainer.main import PushReply
from shared.core.policy import PoolPolicy
from shared.core.policy.parsing import parse
from shared.errors import BadPolicy
from tests.builders import order, policy
from tests.core.planning.passes import MINUTE
from tests.functions.planner.half_empty_nodes import fake_ebb, marks

WIDER_BUT_FOR_ONE_FIELD = b"""
dryRun: false
cluster: {minimumNodes: 0, timeGap: 0s}
defaults: {enabled: true, excessNodesThreshold: 0, scaleDownRequiredUnderutilizedNodeCount: "1"}
nodePools: {a: {maxNodesPerPass: 9, disruption: {budgets: []}}}
"""


def broken() -> BadPolicy:
    with pytest.raises(BadPolicy) as fault:
        parse(WIDER_BUT_FOR_ONE_FIELD)
    return fault.value


@pytest.mark.acceptance(8)
def test_one_bad_field_stops_every_new_drain_until_it_is_mended_and_is_shown_loudly() -> None:
    ebb = fake_ebb()
    ebb.policy.policy = broken()

    assert ebb.tick()["orders"] == []
    assert ebb.drain(order()) is PushReply.DONE
    assert (ebb.bus.published, ebb.effects(), ebb.remembered().claims) == ([], [], {})
    assert ebb.reasons("drain_result") == ["policy_invalid"]
    assert {line["severity"] for line in ebb.log.of("policy_invalid")} == {"ERROR"}
    assert all("scaleDownRequiredUnderutilizedNodeCount" in line["message"] for line in ebb.log.of("policy_invalid"))

    ebb.policy.policy = policy()
    ebb.pass_time(minutes=5)
    assert ebb.tick()["orders"] == ["n1"]


@pytest.mark.acceptance(12)
def test_a_changed_policy_leaves_marks_and_nodes_as_they_are() -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"hash": "one"}, consolidate_after=10 * MINUTE))
    ebb.tick()
    before = marks(ebb)

    ebb.policy.policy = policy(
        cluster_wide={"hash": "another"}, consolidate_after=10 * MINUTE, budgets=PoolPolicy().budgets
    )
    ebb.pass_time(minutes=5)
    assert ebb.tick()["orders"] == []
    assert marks(ebb) == before

    ebb.pass_time(minutes=5)
    assert ebb.tick()["orders"] == ["n1"], "ten minutes after the mark, whatever was edited between"
    assert ebb.effects() == []
