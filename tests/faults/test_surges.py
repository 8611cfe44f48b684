"""Worlds in which single replicas leave without a gap: never a moment without a Ready pod, whatever happens."""

import pytest

from functions.drainer import finish
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainRecord
from tests.faults.directed import a_restart_is_undone_before_it_was_written_down, plain
from tests.faults.history import History, run
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.surging_worlds import NEVER_READY, roll_out, stamps


@pytest.mark.parametrize("at", range(2, 42, 8))
def test_an_owner_who_rolls_out_meanwhile_gets_the_version_and_no_gap(at: int) -> None:
    end = run(History(plain("two single replicas").setting, acts=((float(at), roll_out("one")),)))

    (found,) = (
        deployment for deployment in end.cloud.world.store.all("deployments") if deployment["metadata"]["name"] == "one"
    )
    assert breaches(end) == []
    assert found["spec"]["template"]["metadata"]["annotations"]["version"] == "2"


def test_what_somebody_undid_before_it_was_written_down_is_not_restarted_once_more() -> None:
    end = run(next(a_restart_is_undone_before_it_was_written_down()))

    assert (breaches(end), stamps(end)) == ([], set())
    ends = [record.value.why for record in end.state.all("drains", DrainRecord).values() if record.value is not None]
    assert ReturnReason.SURGE_FAILED in ends


def test_what_a_drain_leaves_hanging_is_undone_after_it() -> None:
    with swapped((finish, "undo_restarts", lambda *_: None)):
        end = run(plain(NEVER_READY))

    assert (breaches(end), stamps(end)) == ([], set())
