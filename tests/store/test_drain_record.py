"""The drain's record: opened under a lease, settled in one way, whoever saw the end."""

from datetime import datetime, timedelta

import msgspec
import pytest

from shared.core.reasons import Outcome, ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, Replicas
from shared.core.records.state import Lease
from shared.errors import Stale
from shared.ports import drain_key
from shared.store.drain_record import KEPT_FOR, Busy, LeasedRecord, OtherNode
from tests.builders import NOW, order
from tests.depth import cases
from tests.fakes import FakeClock, FakeState

MINUTE_AGO = NOW - timedelta(minutes=1)


def opened(state: FakeState) -> LeasedRecord:
    return LeasedRecord.open(state, FakeClock(), order(), "step", 25)


def seized(state: FakeState) -> LeasedRecord:
    found = LeasedRecord.seize(state, FakeClock(), order().order_id, "planner")
    assert found is not None
    return found


def stored(state: FakeState) -> DrainRecord:
    record = state.get(drain_key(order().order_id)).value
    assert record is not None
    return record


def test_a_step_and_a_pass_settle_a_record_in_the_same_way() -> None:
    by_step, by_pass = FakeState(), FakeState()
    opened(by_step).settle(Outcome.REMOVED)
    opened(by_pass)
    seized(by_pass).settle(Outcome.REMOVED)
    assert stored(by_pass) == stored(by_step)


def test_a_settled_record_has_no_lease_and_is_kept_for_a_month() -> None:
    state = FakeState()
    opened(state).settle(Outcome.GIVEN_BACK, ReturnReason.DEADLINE, "held by shop/web", remark="more")
    record = stored(state)
    assert (record.phase, record.outcome, record.why) == (DrainPhase.SETTLED, "given_back", "deadline")
    assert (record.detail, record.remark, record.lease) == ("held by shop/web", "more", None)
    assert record.expire_at == NOW + KEPT_FOR


def test_who_was_overtaken_settles_nothing() -> None:
    state = FakeState()
    overtaken = opened(state)
    seized(state).settle(Outcome.REMOVED)
    with pytest.raises(Stale):
        overtaken.settle(Outcome.GIVEN_BACK)
    assert stored(state).outcome == "removed"


def test_a_drain_begins_when_its_record_is_made_however_old_its_order_is() -> None:
    state = FakeState()
    LeasedRecord.open(state, FakeClock(), order(issued_at=MINUTE_AGO), "step", 25)

    assert stored(state).begun_at == NOW


def test_an_order_that_named_no_uid_is_of_the_node_that_it_was_claimed_for() -> None:
    """A node reborn under its name is another one: what the record says was done is not done to it."""
    state = FakeState()
    leased = LeasedRecord.open(state, FakeClock(), order(node_uid=""), "step", 25)
    leased.write(node_uid="uid-n1")

    with pytest.raises(OtherNode):
        LeasedRecord.open(state, FakeClock(), order(node_uid="uid-second"), "step", 25)


@cases(
    "expected, owner, seconds",
    ("its own lease keeps nobody out", True, "step", 0),
    ("another's does", False, "another", 29),
    ("for half a minute", True, "another", 30),
)
def test_one_step_at_a_time_opens_a_record(expected: bool, owner: str, seconds: int) -> None:
    clock = FakeClock()
    state = FakeState(now=clock.now)
    opened(state)
    clock.advance(seconds)

    if expected:
        LeasedRecord.open(state, clock, order(), owner, 25)
        assert stored(state).lease == Lease(owner, clock.now() + timedelta(seconds=30))
    else:
        with pytest.raises(Busy):
            LeasedRecord.open(state, clock, order(), owner, 25)


@cases("expected, seconds", ("twenty seconds are left", 0, 10), ("nineteen", 1, 11))
def test_a_lease_is_renewed_when_it_is_near_its_end(expected: int, seconds: int) -> None:
    state, clock = FakeState(), FakeClock()
    leased = LeasedRecord.open(state, clock, order(), "step", 25)
    before = state.writes
    clock.advance(seconds)

    leased.renew()

    assert state.writes - before == expected


@cases(
    "expected, written, lease",
    ("it has just written", False, NOW - timedelta(seconds=59), None),
    ("it has written nothing for so long", True, MINUTE_AGO, None),
    ("a step is at work", False, MINUTE_AGO, Lease("step", NOW + timedelta(seconds=1))),
    ("it never wrote", True, None, None),
)
def test_a_drain_is_silent_when_no_step_works_and_none_has_written(
    expected: bool, written: datetime | None, lease: Lease | None
) -> None:
    record = DrainRecord(order=order(), updated_at=written, lease=lease)
    assert record.is_silent(NOW, timedelta(minutes=1)) is expected


def test_a_baseline_that_an_older_version_wrote_names_no_workload() -> None:
    assert msgspec.json.decode(b"[4,3]", type=Replicas) == Replicas(bound=4, available=3)


def test_a_baseline_begins_as_older_versions_read_it() -> None:
    written = msgspec.json.encode(Replicas(bound=4, available=3, workload="shop/Deployment/web"))

    assert msgspec.json.decode(written) == [4, 3, "shop/Deployment/web"]
