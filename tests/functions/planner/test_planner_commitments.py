"""The planner reads commitments once an hour; a list that cannot be read changes figures, and nothing else."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.values import Capacity, Commitments
from shared.core.records.commitments import CommitmentReading
from shared.errors import Retryable, Terminal
from shared.ports import COMMITMENTS_KEY
from tests.builders import listed_commitment, node
from tests.depth import cases
from tests.fakes import failing
from tests.functions.fake_ebb import FakeEbb

LISTED = listed_commitment("n2-base", family="N2", cores=160, gib=640, region="europe-west4", plan="THIRTY_SIX_MONTH")
OUTAGE = Retryable("Compute API", "no answer in time")
REFUSED = Terminal("Compute API", "403 Forbidden")
HOUR = 3600.0


def reading(**changes: Any) -> Policy:
    own = Commitments(elsewhere={"n2": Capacity(Fraction(8))}, read=True)
    return Policy(dry_run=False, pools={"a": PoolPolicy(enabled=True)}, commitments=own, **changes)


def ebb(policy: Policy | None = None) -> FakeEbb:
    made = FakeEbb(*(node(f"n{number}", machine="n2-standard-8") for number in range(4)), policy=policy or reading())
    made.commitments.rows = (LISTED,)
    return made


def passes(ebb: FakeEbb, *gaps: float) -> list[str | None]:
    """Run a pass, and one more after each gap of seconds; return what each rests on."""
    found = [ebb.tick()["commitments"]]
    for gap in gaps:
        ebb.clock.advance(gap)
        found.append(ebb.tick()["commitments"])
    return found


def test_a_policy_that_does_not_ask_reads_nothing() -> None:
    made = ebb(Policy(pools={"a": PoolPolicy(enabled=True)}))
    assert passes(made) == [None]
    assert (made.commitments.reads, made.state.get(COMMITMENTS_KEY).value) == (0, None)


@cases("reads, gaps", ("within the hour once", 1, [300.0] * 11), ("after an hour again", 2, [300.0] * 12))
def test_the_list_is_read_once_an_hour(reads: int, gaps: list[float]) -> None:
    made = ebb()
    assert set(passes(made, *gaps)) == {"read"}
    assert made.commitments.reads == reads


def test_the_summary_has_the_time_of_the_list() -> None:
    made = ebb()
    first = made.tick()["commitments_read_at"]
    made.clock.advance(300)
    assert made.tick()["commitments_read_at"] == first


@pytest.mark.parametrize("failure", [OUTAGE, REFUSED], ids=["an outage", "no right"])
def test_a_list_that_cannot_be_read_is_used_for_a_day_and_then_list_prices_count(failure: Any) -> None:
    made = ebb()
    made.tick()
    made.commitments.failure = failure

    assert passes(made, 2 * HOUR, 21 * HOUR, 2 * HOUR) == ["read", "stale", "stale", "list_prices"]
    assert set(made.reasons("policy_warning")) >= {"commitments_unread"}


def test_a_list_that_was_never_read_means_list_prices_and_a_warning() -> None:
    made = ebb()
    made.commitments.failure = REFUSED
    assert passes(made) == ["list_prices"]
    assert [line["severity"] for line in made.log.of("policy_warning") if line["reason"] == "commitments_unread"] == [
        "WARNING"
    ]


def test_after_a_failure_it_is_tried_every_quarter_of_an_hour() -> None:
    made = ebb()
    made.commitments.failure = OUTAGE
    passes(made, *[300.0] * 6)
    assert made.commitments.reads == 3

    made.commitments.failure = None
    assert passes(made, 900.0)[-1] == "read"


def test_an_outage_of_two_hours_changes_no_verdict_and_no_order() -> None:
    sound, broken = ebb(), ebb()
    for one in (sound, broken):
        one.tick()
    broken.commitments.failure = OUTAGE
    for _ in range(24):
        summaries = []
        for one in (sound, broken):
            one.clock.advance(300)
            summary = one.tick()
            summaries.append({key: summary[key] for key in ("verdicts", "orders", "at_rest", "saving_per_month")})
        assert summaries[0] == summaries[1]


def test_a_document_that_does_not_decode_is_written_over() -> None:
    made = ebb()
    made.state.documents[made.state.cluster, COMMITMENTS_KEY.collection, COMMITMENTS_KEY.id] = (b"[", "spoilt")
    assert passes(made) == ["read"]


@pytest.mark.parametrize("failure", [OUTAGE, REFUSED], ids=["an outage", "refused"])
@pytest.mark.parametrize("call", ["all", "put"])
def test_a_document_that_cannot_be_read_or_written_costs_a_line_and_no_pass(call: str, failure: Exception) -> None:
    made = ebb()
    made.state.meanwhile[call, COMMITMENTS_KEY.collection] = failing(failure)

    assert passes(made, *[300.0] * 3) == ["read"] * 4

    assert made.commitments.reads == 4
    assert made.reasons("policy_warning").count("commitments_unread") == 4


def test_the_list_replaces_the_families_and_keeps_the_rest_of_the_policy() -> None:
    made = ebb()
    made.tick()
    kept = made.state.get(COMMITMENTS_KEY).value or CommitmentReading()
    paid = kept.applied_to(reading().commitments, "europe-west4", made.clock.now())
    assert [family.family for family in paid.families] == ["n2"]
    assert paid.elsewhere == {"n2": Capacity(Fraction(8))}
    assert (
        kept.applied_to(reading().commitments, "europe-west4", made.clock.now() + timedelta(hours=25)) == Commitments()
    )


def test_a_type_that_is_not_known_is_a_warning() -> None:
    made = ebb()
    made.commitments.rows = (listed_commitment("m", type="MEMORY_OPTIMIZED"),)
    made.tick()
    assert "unknown_commitment" in made.reasons("policy_warning")
