"""What the embedded state does beyond the laws of `State`: processes, a set-back clock, expiry and odd files."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from shared.adapters.sqlite import SqliteState
from shared.core.records.drain_record import DrainRecord
from shared.core.records.state import ClusterState, Lease
from shared.errors import Retryable, Stale, Terminal, Unreadable
from shared.ports import CLUSTER_KEY, drain_key
from tests.builders import CLUSTER as NAME
from tests.builders import NOW, order
from tests.depth import cases


def wins(path: str, number: int) -> bool:
    try:
        SqliteState(path, NAME).put(CLUSTER_KEY, ClusterState(planner=Lease(str(number), NOW)), None)
    except Stale:
        return False
    return True


def test_of_processes_that_race_exactly_one_wins(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as processes:
        assert sorted(processes.map(wins, [path] * 6, range(6))) == [False] * 5 + [True]


def test_the_read_time_stands_still_while_the_clock_is_set_back(tmp_path: Path) -> None:
    times = iter([NOW, NOW - timedelta(hours=1), NOW + timedelta(seconds=1)])
    state = SqliteState(str(tmp_path / "state"), NAME, now=lambda: next(times))

    assert [state.get(CLUSTER_KEY).read_at for _ in range(3)] == [NOW, NOW, NOW + timedelta(seconds=1)]


def test_what_has_expired_goes_with_the_next_write(tmp_path: Path) -> None:
    state = SqliteState(str(tmp_path / "state"), NAME, now=stepping(NOW))
    for days in (0, 30):
        record = DrainRecord(order=order(), expire_at=NOW + timedelta(days=days, seconds=3))
        state.put(drain_key(f"expires in {days} days"), record, None)

    state.put(CLUSTER_KEY, ClusterState(), None)
    state.put(CLUSTER_KEY, ClusterState(), state.get(CLUSTER_KEY).version)

    assert set(state.all("drains", DrainRecord)) == {"expires in 30 days"}


def stepping(start: datetime) -> Callable[[], datetime]:
    times = iter(range(1000))
    return lambda: start + timedelta(seconds=next(times))


def test_a_file_held_by_another_process_is_an_outage(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    state = SqliteState(path, NAME, busy_seconds=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(Retryable, match="state file"):
            state.put(CLUSTER_KEY, ClusterState(), None)


@cases("path", ("not there", "no/folder"), ("no database", "state"))
def test_a_file_that_cannot_be_opened_shows_what_to_check(path: str, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("something else " * 100)

    with pytest.raises(Terminal, match="EBB_STATE"):
        SqliteState(str(tmp_path / path), NAME)


def test_a_document_of_another_shape_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    state = SqliteState(path, NAME)
    state.put(CLUSTER_KEY, ClusterState(), None)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE documents SET value = '{\"paused\": 5}'")

    with pytest.raises(Unreadable, match="document cluster ''"):
        state.get(CLUSTER_KEY)
