"""What one instance reads together: once at a time, for all, and no wait without an end."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from threading import Event, Thread

import pytest

from shared.errors import Retryable
from shared.readings import PAUSE_SECONDS, WAIT_SECONDS, DatedReading, SharedReadings
from tests.builders import NOW
from tests.depth import cases


def never_sleeps(seconds: float) -> None:
    raise AssertionError(f"nobody has to wait {seconds} s here")


def test_a_good_reading_is_used_again_and_a_bad_one_read_again() -> None:
    shared = SharedReadings()
    numbers = iter(range(9))

    found = [
        shared.get("numbers", lambda _: True, lambda: next(numbers), never_sleeps),
        shared.get("numbers", lambda last: last == 0, lambda: next(numbers), never_sleeps),
        shared.get("numbers", lambda last: last > 0, lambda: next(numbers), never_sleeps),
        shared.get("numbers", lambda last: last > 0, lambda: next(numbers), never_sleeps),
    ]

    assert found == [(0, False), (0, True), (1, False), (1, True)]


def test_many_at_once_read_once() -> None:
    shared = SharedReadings()
    begun, go_on = Event(), Event()
    readings: list[int] = []
    found: list[tuple[int, bool]] = []

    def read() -> int:
        readings.append(1)
        begun.set()
        assert go_on.wait(30)
        return 7

    def wait(seconds: float) -> None:
        del seconds
        go_on.set()
        threads[0].join(30)

    def ask() -> None:
        found.append(shared.get("numbers", lambda _: True, read, wait))

    threads = [Thread(target=ask) for _ in range(20)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (len(readings), sorted(found)) == (1, [(7, False), *[(7, True)] * 19])


def test_a_reading_that_fails_is_tried_by_the_next() -> None:
    shared = SharedReadings()

    def fails() -> int:
        raise Retryable("API", "no answer")

    with pytest.raises(Retryable, match="no answer"):
        shared.get("numbers", lambda _: True, fails, never_sleeps)

    assert shared.get("numbers", lambda _: True, lambda: 3, never_sleeps) == (3, False)


def test_the_old_reading_is_let_go_before_the_next_begins() -> None:
    shared = SharedReadings()
    shared.get("numbers", lambda _: True, lambda: 1, never_sleeps)
    seen: list[object] = []

    def read() -> int:
        seen.append(vars(shared)["_last"].get("numbers"))
        return 2

    shared.get("numbers", lambda _: False, read, never_sleeps)

    assert seen == [None]


def test_a_wait_ends_after_its_time_by_the_callers_clock_and_shows_for_what() -> None:
    shared, slept, what = SharedReadings(), list[float](), "the whole cluster"
    with (
        shared.turn(what, never_sleeps),
        shared.turn("another thing", never_sleeps),
        pytest.raises(Retryable, match=r"the whole cluster.*30 s"),
        shared.turn(what, slept.append),
    ):
        pass

    assert slept == [PAUSE_SECONDS] * round(WAIT_SECONDS / PAUSE_SECONDS)


@cases("expected, seconds", ("as old as it may be", 1, 3), ("a second older", 2, 4))
def test_a_recent_reading_stands_for_its_time_from_when_it_was_asked_for(expected: int, seconds: int) -> None:
    shared, later, age = SharedReadings(), NOW + timedelta(seconds=seconds), timedelta(seconds=3)
    numbers = iter((1, 2))
    shared.recent("numbers", NOW, age, lambda: next(numbers), never_sleeps)

    found = shared.recent("numbers", later, age, lambda: next(numbers), never_sleeps)

    assert found == DatedReading(expected, NOW if expected == 1 else later)


class Shelf:
    def __init__(self, **rows: int) -> None:
        self.rows, self.asked = rows, list[list[str]]()

    def __call__(self, names: Collection[str]) -> Mapping[str, int]:
        self.asked.append(list(names))
        return self.rows


def read(shared: SharedReadings, names: list[str], now: datetime, shelf: Shelf) -> tuple[Mapping[str, int], datetime]:
    return shared.rows("numbers", names, now, timedelta(seconds=3), shelf, never_sleeps)


def test_of_many_rows_only_those_that_nobody_has_read_lately_are_read() -> None:
    shelf, rows = Shelf(a=1, b=2), SharedReadings()

    found = [
        read(rows, ["a", "gone"], NOW, shelf),
        read(rows, ["a", "b", "gone"], NOW + timedelta(seconds=3), shelf),
        read(rows, ["a", "c"], NOW + timedelta(seconds=3), shelf),
        read(rows, ["a"], NOW + timedelta(seconds=7), shelf),
    ]

    assert shelf.asked == [["a", "gone"], ["c"], ["a"]]
    assert found == [
        ({"a": 1}, NOW),
        ({"a": 1, "b": 2}, NOW),
        ({"a": 1}, NOW + timedelta(seconds=3)),
        ({"a": 1}, NOW + timedelta(seconds=7)),
    ]


def test_no_rows_are_read_for_no_names() -> None:
    shelf, rows = Shelf(a=1), SharedReadings()

    assert (read(rows, [], NOW, shelf), shelf.asked) == (({}, NOW), [])


def test_rows_that_nobody_asks_for_are_forgotten() -> None:
    shelf, rows = Shelf(a=1), SharedReadings()
    read(rows, ["a"], NOW, shelf)
    shelf.rows = {"b": 2}

    read(rows, ["b"], NOW + timedelta(seconds=7), shelf)
    read(rows, ["a"], NOW, shelf)

    assert shelf.asked == [["a"], ["b"], ["a"]]
