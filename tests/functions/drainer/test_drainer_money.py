"""What a claim counts as saved: what the bill falls by, also where the planner reads the commitments."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.prices import load
from shared.core.policy.values import NO_COMMITMENTS, Commitments
from shared.core.records.commitments import CommitmentReading, ListedCommitment, ListedResource
from shared.errors import Retryable, Terminal
from shared.port_types import COMMITMENTS_KEY
from tests.builders import NOW, committed, node, order, policy
from tests.fakes import failing
from tests.functions.drainer.one_drain import fake_ebb

PRICE = load().of(node("n1")).per_hour
WRITTEN = committed("e2", vcpu=12, gib=48)
READ = Commitments(read=True)
LIST = ListedCommitment(
    name="e2-base",
    status="ACTIVE",
    plan="TWELVE_MONTH",
    type="GENERAL_PURPOSE_E2",
    resources=(ListedResource("VCPU", 12), ListedResource("MEMORY", 48 * 1024)),
)


@pytest.mark.parametrize(
    ("expected", "commitments", "age"),
    [
        pytest.param(PRICE, NO_COMMITMENTS, timedelta(0), id="nothing is committed"),
        pytest.param(0, WRITTEN, timedelta(0), id="the policy has what is committed"),
        pytest.param(0, READ, timedelta(hours=1), id="the planner has listed it"),
        pytest.param(PRICE, replace(WRITTEN, read=True), timedelta(hours=25), id="its list is too old"),
    ],
)
def test_a_claim_saves_what_the_bill_falls_by(expected: int, commitments: Commitments, age: timedelta) -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": commitments}))
    ebb.state.put(COMMITMENTS_KEY, CommitmentReading(rows=(LIST,), read_at=NOW - age, tried_at=NOW), None)

    ebb.drain(order())

    assert [claim.cost_per_hour for claim in ebb.remembered().claims.values()] == [pytest.approx(expected, abs=2)]


def test_without_a_list_the_price_counts() -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": READ}))
    ebb.drain(order())
    assert [claim.cost_per_hour for claim in ebb.remembered().claims.values()] == [PRICE]


@pytest.mark.parametrize("failure", [Retryable("state", "503"), Terminal("state", "403")], ids=["an outage", "refused"])
def test_a_list_that_cannot_be_read_ends_no_claim(failure: Exception) -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": READ}))
    ebb.state.meanwhile["all", COMMITMENTS_KEY.collection] = failing(failure)

    ebb.drain(order())

    assert [claim.cost_per_hour for claim in ebb.remembered().claims.values()] == [PRICE]
