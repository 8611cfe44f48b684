"""The cluster's document: written only where it changes, and again with growing pauses where others were first."""

from datetime import datetime, timedelta

import pytest

from shared.core.records.state import ClusterState
from shared.errors import Retryable
from shared.ports import CLUSTER_KEY
from shared.store.compare_and_set import TRIES, change_cluster
from tests.depth import cases
from tests.fakes import FakeClock, FakeState

PAUSED = ClusterState(paused=True)


def pause(state: ClusterState, now: datetime) -> ClusterState:
    del now
    return PAUSED if not state.paused else state


def test_a_document_is_written_only_where_it_changes() -> None:
    state, clock = FakeState(), FakeClock()

    assert change_cluster(state, clock, pause) == PAUSED
    assert change_cluster(state, clock, pause) == PAUSED
    assert (state.writes, clock.passed) == (1, 0)


@cases(
    "expected, others",
    ("nobody was first", 0, 0),
    ("a short pause", 0.05, 1),
    ("and a longer one each time", 0.05 + 0.1 + 0.15, 3),
)
def test_a_change_is_made_again_after_a_pause_where_others_were_first(expected: float, others: int) -> None:
    state, clock = FakeState(), FakeClock()
    tries: list[ClusterState] = []

    def change(found: ClusterState, now: datetime) -> ClusterState:
        tries.append(found)
        if len(tries) <= others:
            state.put(CLUSTER_KEY, ClusterState(), state.get(CLUSTER_KEY).version)
        return pause(found, now)

    assert change_cluster(state, clock, change) == PAUSED
    assert len(tries) == others + 1
    assert clock.passed == pytest.approx(expected)


def test_a_change_is_made_again_by_the_time_of_its_own_reading() -> None:
    """What it grants or settles is dated by that: an earlier time would hold what has passed meanwhile."""
    clock = FakeClock()
    state = FakeState(now=clock.now)
    times: list[datetime] = []

    def change(found: ClusterState, now: datetime) -> ClusterState:
        times.append(now)
        if len(times) == 1:
            clock.advance(30)
            state.put(CLUSTER_KEY, ClusterState(), state.get(CLUSTER_KEY).version)
        return pause(found, now)

    change_cluster(state, clock, change)

    assert times[1] - times[0] >= timedelta(seconds=30)


def test_a_change_that_others_forestall_every_time_is_tried_later() -> None:
    state, tries = FakeState(), []

    def change(found: ClusterState, now: datetime) -> ClusterState:
        tries.append(state.put(CLUSTER_KEY, ClusterState(), state.get(CLUSTER_KEY).version))
        return pause(found, now)

    with pytest.raises(Retryable):
        change_cluster(state, FakeClock(), change)
    assert len(tries) == TRIES
