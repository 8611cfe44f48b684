"""Histories without faults keep the promise: the simulator itself is not what breaks it."""

import pytest

from tests.faults.call_faults import CallFault
from tests.faults.history import History, run
from tests.faults.oracle import breaches
from tests.faults.worlds import Setting, drawn, settings


@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_a_history_without_faults_keeps_the_promise_and_ends_every_drain(setting: Setting) -> None:
    end = run(History(setting))
    assert breaches(end) == []
    assert end.bus.results


def test_equal_seeds_make_equal_histories() -> None:
    first, second = (run(History(settings()[0], seed=5)) for _ in range(2))
    assert first.call_gate.calls == second.call_gate.calls
    assert list(map(str, first.cloud.world.record.entries)) == list(map(str, second.cloud.world.record.entries))


@pytest.mark.parametrize("seed", range(20))
def test_drawn_worlds_without_faults_keep_the_promise(seed: int) -> None:
    assert breaches(run(History(drawn(seed), seed))) == []


def test_no_instance_that_still_sleeps_outlives_its_history() -> None:
    calls = run(History(settings()[0])).call_gate.calls
    first = next(call.number for call in calls if call.actor.startswith("push"))
    end = run(History(settings()[0], faults={first: CallFault(before=100_000.0)}))
    assert end.is_busy()
    assert all(actor.over for actor in end.threads.actors)
