"""Durations as Go writes them, and wishes that end."""

from datetime import timedelta

import pytest

from shared.core.opt_outs import go_duration, opted_out
from tests.builders import NOW


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(timedelta(hours=1, minutes=30), "1h30m", id="two parts"),
        pytest.param(timedelta(minutes=90), "1.5h", id="a fraction"),
        pytest.param(timedelta(milliseconds=300), "300ms", id="milliseconds"),
        pytest.param(timedelta(microseconds=5), "5µs", id="microseconds by either sign"),
        pytest.param(None, "0s", id="nothing"),
        pytest.param(None, "-1h", id="negative"),
        pytest.param(None, "30d", id="days are not Go's"),
        pytest.param(None, "soon", id="a word"),
        pytest.param(None, "1h soon", id="a part only"),
        pytest.param(None, "", id="empty"),
    ],
)
def test_durations_are_read_as_go_reads_them(expected: timedelta | None, text: str) -> None:
    assert go_duration(text) == expected


@pytest.mark.parametrize(
    ("expected", "value", "minutes"),
    [
        pytest.param("key", "true", 600, id="for good"),
        pytest.param("key", "", 600, id="the bare key"),
        pytest.param("key", "1h", 59, id="within the hour"),
        pytest.param(None, "1h", 60, id="the hour is over"),
        pytest.param("key", "1h", None, id="start unknown"),
        pytest.param(None, "True", 0, id="only the exact word"),
        pytest.param(None, "later", 0, id="no duration"),
    ],
)
def test_a_wish_protects_as_long_as_it_says(expected: str | None, value: str, minutes: int | None) -> None:
    started = None if minutes is None else NOW - timedelta(minutes=minutes)
    assert opted_out({"key": value}, ("other", "key"), started, NOW) == expected
