"""The cluster's document: written when it changes, once, and again after a pause when somebody was first."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from shared.core.records.state import ClusterState
from shared.documents import CLUSTER_KEY
from shared.errors import Retryable, Stale
from shared.store.compare_and_set import FIRST_PAUSE, TRIES, change_cluster
from tests.fakes import FakeClock, FakeState

PAUSED = ClusterState(paused=True)


@dataclass
class Crowded(FakeState):
    """Somebody else is first, so many times."""

    others: int = 0
    puts: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        FakeState.__init__(self)
        self.clock = FakeClock()

    def put(self, key: Any, value: Any, expected: str | None) -> str:
        self.puts.append(self.clock.passed)
        if len(self.puts) <= self.others:
            raise Stale("somebody was first")
        return super().put(key, value, expected)

    def change(self, after: ClusterState | None) -> ClusterState:
        def changed(before: ClusterState, now: datetime) -> ClusterState | None:
            del before, now
            return after

        return change_cluster(self, self.clock, changed)


def test_what_is_unchanged_is_not_written() -> None:
    state = Crowded()
    state.change(PAUSED)

    assert (state.change(PAUSED), state.change(None)) == (PAUSED, PAUSED)
    assert len(state.puts) == 1


def test_each_repetition_comes_after_a_longer_pause() -> None:
    state = Crowded(others=2)

    assert state.change(PAUSED) == PAUSED
    assert state.puts == pytest.approx([0, FIRST_PAUSE, 3 * FIRST_PAUSE])
    assert state.get(CLUSTER_KEY).value == PAUSED


def test_when_others_are_always_first_the_message_comes_again() -> None:
    state = Crowded(others=TRIES)

    with pytest.raises(Retryable):
        state.change(PAUSED)
    assert len(state.puts) == TRIES
