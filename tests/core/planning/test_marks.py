from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from shared.core.planning.candidates import changed_pools, is_old_enough, removable_at, update_marks
from shared.core.records.state import Mark, PoolMarks
from tests.builders import NOW
from tests.depth import cases

MINUTE = timedelta(minutes=1)
HOUR_AGO = NOW - timedelta(hours=1)
MARKED = {"a": PoolMarks(marks={"u1": Mark("n1", HOUR_AGO)})}
COULD_GO = {"u1": ("n1", "a")}


def after(
    old: Mapping[str, PoolMarks], could_go: Mapping[str, tuple[str, str]], last_pass: datetime | None = NOW - MINUTE
) -> dict[str, PoolMarks]:
    return update_marks(old, could_go, NOW, last_pass, MINUTE)


@pytest.mark.acceptance(29)
def test_a_mark_begins_when_a_node_could_first_go() -> None:
    assert after({}, COULD_GO) == {"a": PoolMarks(marks={"u1": Mark("n1", NOW)})}


def test_an_unbroken_mark_keeps_its_time() -> None:
    assert after(MARKED, COULD_GO) == MARKED


@pytest.mark.acceptance(30, 33)
def test_a_broken_mark_starts_again() -> None:
    recovered = after(MARKED, {})
    assert recovered == {"a": PoolMarks()}
    assert after(recovered, COULD_GO)["a"].marks["u1"].since == NOW


@pytest.mark.acceptance(31)
@cases("expected, seconds", ("299 s", False, 299), ("300 s", True, 300))
def test_a_node_may_go_once_its_mark_is_old_enough(expected: bool, seconds: int) -> None:
    assert is_old_enough(Mark("n1", NOW - timedelta(seconds=seconds)), timedelta(seconds=300), NOW) is expected


def test_a_mark_never_comes_of_age_where_consolidation_is_off() -> None:
    mark = Mark("n1", HOUR_AGO)
    assert (is_old_enough(mark, None, NOW), removable_at(mark, None)) == (False, None)


@pytest.mark.acceptance(32)
def test_a_steady_state_writes_nothing() -> None:
    assert changed_pools(MARKED, after(MARKED, COULD_GO)) == ()


@cases(
    "expected, old, could_go",
    ("a new mark in another pool", ("b",), MARKED, {**COULD_GO, "u2": ("n2", "b")}),
    ("a mark lost", ("a",), MARKED, {}),
    ("a second mark", ("a",), MARKED, {**COULD_GO, "u3": ("n3", "a")}),
    ("a node reborn under its name", ("a",), MARKED, {"u9": ("n1", "a")}),
    ("a pool that had none", (), {"a": PoolMarks()}, {}),
)
def test_only_changed_pools_are_written(
    expected: tuple[str, ...], old: Mapping[str, PoolMarks], could_go: Mapping[str, tuple[str, str]]
) -> None:
    assert changed_pools(old, after(old, could_go)) == expected


def test_pools_are_written_by_name_those_too_that_are_left_out_now() -> None:
    old, new = dict.fromkeys("dbxc", MARKED["a"]), {name: PoolMarks() for name in "cbd"}
    assert changed_pools(old, new) == ("b", "c", "d", "x")


@pytest.mark.acceptance(5)
def test_a_pool_that_is_disabled_or_vanished_loses_its_marks() -> None:
    new = after({**MARKED, "b": PoolMarks(marks={"u2": Mark("n2", HOUR_AGO)})}, {"u2": ("n2", "b")})
    assert new["a"] == PoolMarks()
    assert new["b"].marks["u2"].since == HOUR_AGO


@cases(
    "kept, last_pass, interval",
    ("silent for just under 15 minutes", True, timedelta(minutes=14, seconds=59), MINUTE),
    ("silent for 15 minutes", False, timedelta(minutes=15), MINUTE),
    ("under three long intervals", True, timedelta(minutes=29), timedelta(minutes=10)),
    ("three long intervals", False, timedelta(minutes=30), timedelta(minutes=10)),
    ("no pass was ever completed", False, None, MINUTE),
)
def test_marks_start_again_after_a_long_silence(kept: bool, last_pass: timedelta | None, interval: timedelta) -> None:
    when = None if last_pass is None else NOW - last_pass
    new = update_marks(MARKED, COULD_GO, NOW, when, interval)
    assert new["a"].marks["u1"].since == (HOUR_AGO if kept else NOW)
