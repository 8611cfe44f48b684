"""Worlds in which single replicas leave without a gap: never a moment without a Ready pod, whatever happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from functions.drainer import finish, release, restart
from shared.core.draining import next_step, surging
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord
from tests.faults.call_faults import KILL_AFTER
from tests.faults.catalog import calls
from tests.faults.history import History, run
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.surging_worlds import NEVER_READY, ChangeTemplate, UndoRestart, stamps, surging_settings


@pytest.mark.parametrize("at", range(2, 42, 8))
def test_an_owner_who_rolls_out_meanwhile_gets_the_version_and_no_gap(at: int) -> None:
    (setting,) = (setting for setting in surging_settings() if setting.name == "two single replicas")
    end = run(History(setting, acts=((float(at), ChangeTemplate("one")),)))

    (found,) = (
        deployment for deployment in end.cloud.world.store.all("deployments") if deployment["metadata"]["name"] == "one"
    )
    assert breaches(end) == []
    assert found["spec"]["template"]["metadata"]["annotations"]["version"] == "2"


def undone_before_it_was_written_down() -> History:
    """The drainer dies right after its restart, and before it comes back somebody has taken that restart back."""
    (setting,) = (setting for setting in surging_settings() if setting.name == NEVER_READY)
    base = History(setting)
    _, restart, *_ = (call for call in calls(base) if call.what == "patch deployments one")
    at = restart.at - min(call.at for call in calls(base))
    return replace(base, faults={restart.number: KILL_AFTER}, acts=((at + 1.0, UndoRestart("one")),))


def test_what_somebody_undid_before_it_was_written_down_is_not_restarted_once_more() -> None:
    end = run(undone_before_it_was_written_down())

    assert (breaches(end), stamps(end)) == ([], set())
    ends = [record.value.why for record in end.state.all("drains", DrainRecord).values() if record.value is not None]
    assert ReturnReason.SURGE_FAILED in ends


@contextmanager
def forgets_what_it_asked_for() -> Iterator[None]:
    """A restart of which no answer came is written again, whatever has become of it."""
    with swapped(restart, "is_taken_back", lambda *_: False):
        yield


def test_an_installation_that_restarts_what_somebody_undid_is_seen() -> None:
    with forgets_what_it_asked_for():
        found = breaches(run(undone_before_it_was_written_down()))

    assert any("which somebody had undone" in fault for fault in found)


@contextmanager
def evicts_all_the_same() -> Iterator[None]:
    """What is to surge is evicted like any other pod."""
    rules = next_step.RULES[DrainPhase.CORDONED]
    without = tuple(rule for rule in rules if rule is not surging.surge)
    with swapped(next_step, "RULES", {**next_step.RULES, DrainPhase.CORDONED: without}):
        yield


@contextmanager
def undoes_nothing() -> Iterator[None]:
    """A drain that gives up leaves its restarts as they are, and so does the release that a later pass publishes."""
    with swapped(finish, "undo_restarts", lambda *_: None), swapped(release, "undo_restarts", lambda *_: None):
        yield


def test_what_a_drain_leaves_hanging_is_undone_after_it() -> None:
    (setting,) = (setting for setting in surging_settings() if setting.name == NEVER_READY)
    with swapped(finish, "undo_restarts", lambda *_: None):
        end = run(History(setting))

    assert (breaches(end), stamps(end)) == ([], set())


@pytest.mark.parametrize(
    ("mutant", "said"),
    [
        pytest.param(evicts_all_the_same, "no Ready pod", id="evicted all the same"),
        pytest.param(undoes_nothing, "still waits for a pod", id="nothing undone"),
    ],
)
def test_an_installation_that_makes_gaps_or_leaves_rollouts_hanging_is_seen(mutant: object, said: str) -> None:
    assert callable(mutant)
    with mutant():
        found = (fault for setting in surging_settings() for fault in breaches(run(History(setting))))

        assert any(said in fault for fault in found)
