"""When somebody is told: not of one missing pass, but of three; and each alert watches something that is made."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from infra.monitoring.__main__ import ALERTS, runbook
from shared.core.healing.healing_input import FAILED_DRAINS, MOST_FAILURES
from shared.core.reasons import ReturnReason
from tests.depth import cases
from tests.monitoring.alarm import (
    MOST_ABSENCE,
    VALUES,
    Entry,
    Points,
    absence_seconds,
    alerts,
    metrics,
    seconds,
    speaks,
)
from tests.monitoring.histories import entries, returned
from tests.monitoring.log_filters import series

DAY = 24 * 60
ALIGNERS = {"ALIGN_SUM", "ALIGN_DELTA", "ALIGN_MAX"}


def no_pass(interval: int, missed: int = 3) -> dict[str, Any]:
    """The alert on missing passes as Terraform makes it for that schedule."""
    absence = absence_seconds(interval, missed)
    made = {VALUES["absence_seconds"]: absence, VALUES["window_seconds"]: absence - 60}
    durations = {f"{before}s": f"{after}s" for before, after in made.items()}
    conditions = alerts()["no_pass"]["conditions"]
    return {
        "conditions": [
            {key: durations.get(value, value) for key, value in condition.items()} for condition in conditions
        ]
    }


def passes(interval: int, *missing: int, until: int = DAY) -> Points:
    """A pass each interval, the missing ones left out, every second of the others late by an eighth of it."""
    due = range(0, until, interval)
    return [(at + interval / 8 * (number % 2), 1) for number, at in enumerate(due) if number not in missing]


@pytest.mark.acceptance(106)
@pytest.mark.parametrize("interval", [5, 6, 10, 12])
@cases(
    "expected, missing",
    ("none missing: no flapping at the loop period", False, ()),
    ("one missing", False, (20,)),
    ("one missing again and again", False, (20, 22, 24, 40)),
    ("two missing", False, (20, 21)),
    ("three missing", True, (20, 21, 22)),
    ("no more", True, tuple(range(20, 2000))),
)
@cases("zeros", ("sparse points", False), ("zeros between", True))
def test_one_missing_pass_is_no_news_and_three_are_an_alert(
    expected: bool, missing: Sequence[int], interval: int, zeros: bool
) -> None:
    points = passes(interval, *missing, until=60 * interval)
    between = [(float(minute) + 0.3, 0.0) for minute in range(60 * interval)] if zeros else []

    assert bool(speaks(no_pass(interval), [[*points, *between]], 60 * interval)) is expected


@pytest.mark.parametrize("interval", [1, 2, 3, 4])
def test_of_passes_in_quick_order_more_have_to_be_missing(interval: int) -> None:
    every = 60 * interval

    assert speaks(no_pass(interval), [passes(interval, 20, 21, until=every)], every) == []
    assert speaks(no_pass(interval), [passes(interval, *range(20, 60), until=every)], every)


@pytest.mark.parametrize("interval", [1, 2, 3, 4, 5, 6, 10, 12])
def test_metrics_that_are_ten_minutes_late_for_a_while_are_no_news(interval: int) -> None:
    def late(at: float) -> float:
        return 10.0 if at % 60 > 30 else 0.0

    assert speaks(no_pass(interval), [passes(interval, until=300)], 300, late) == []


def test_the_alert_closes_when_passes_come_again() -> None:
    open_at = speaks(no_pass(5), [passes(5, 20, 21, 22, until=300)], 300)

    assert open_at
    assert min(open_at) - 95 <= 18 + 1
    assert max(open_at) <= 115


def test_a_new_revision_is_no_absence_of_the_old_one() -> None:
    old, new = passes(5, until=100), [(at + 100, 1.0) for at, _ in passes(5, until=200)]

    assert speaks(no_pass(5), [old, new], 300) == []


@cases(
    "expected, interval, missed",
    ("the default: as terraform test expects", 1080, 5, 3),
    ("every minute: as terraform test expects", 780, 1, 3),
    ("once a day: the most that Cloud Monitoring takes", MOST_ABSENCE, 1440, 3),
    ("the most patient", 150 * 60, 12, 12),
)
def test_the_absence_is_of_whole_minutes_within_what_is_taken(expected: int, interval: int, missed: int) -> None:
    assert absence_seconds(interval, missed) == expected
    assert expected % 60 == 0


@pytest.mark.parametrize("key", list(ALERTS))
def test_an_alert_shows_what_it_means_and_what_to_do_within_what_is_taken(key: str) -> None:
    content = alerts()[key]["documentation"]

    assert len(content.encode()) < 10_240  # the API's limit of AlertPolicy.Documentation.content
    assert content.index("**What it means.**") < content.index("**Look at**") < content.index("**Do**")
    assert f"#### Ebb: {alerts()[key]['title']}\n" in runbook()


@pytest.mark.parametrize("key", list(ALERTS))
def test_an_alert_watches_metrics_that_exist_with_labels_that_they_have(key: str) -> None:
    for condition in alerts()[key]["conditions"]:
        own = re.search(rf"logging\.googleapis\.com/user/{VALUES['name']}/(\w+)", condition["filter"])
        if own is not None:
            labels = set(re.findall(r"metric\.labels\.(\w+)", condition["filter"]))
            assert labels <= metrics()[own[1]]["labels"].keys()
            counted = metrics()[own[1]]["value_type"] == "INT64"
            read_as = ("ALIGN_SUM", "REDUCE_SUM") if counted else ("ALIGN_DELTA", "REDUCE_MEAN")
            assert (condition["aligner"], condition["reducer"]) == read_as
        assert own or re.search(r'metric\.type="(pubsub|run)\.googleapis\.com/', condition["filter"])


@pytest.mark.parametrize("key", list(ALERTS))
def test_conditions_keep_the_rules_of_the_api(key: str) -> None:
    """Periods and durations are whole minutes; what missing data means may be said only with a duration."""
    for condition in alerts()[key]["conditions"]:
        assert seconds(condition["period"]) % 60 == 0
        assert seconds(condition["period"]) >= 60
        assert seconds(condition["duration"]) % 60 == 0
        assert condition["aligner"] in ALIGNERS
        assert not condition["missing"] or seconds(condition["duration"]) >= 60
        assert condition["kind"] != "absent" or 120 <= seconds(condition["duration"]) <= MOST_ABSENCE


def test_what_counts_as_a_failed_drain_is_what_opens_a_breaker() -> None:
    """The breaker's, and those of restarts: they open none, for they have moved no pod, but somebody has to look."""
    (condition,) = alerts()["drain_failed"]["conditions"]
    failures = set(re.findall(r'"(\w+)"', condition["filter"].partition("metric.labels.reason=")[2]))

    assert failures == FAILED_DRAINS | {"surge_pending", "surge_failed", "surge_refused"}
    assert failures <= {reason.value for reason in ReturnReason}
    assert MOST_FAILURES == 3  # three within an hour open one; the alert speaks of as many within six


def failures(logged: list[Entry], times: Sequence[float]) -> list[Points]:
    """The failed drains of those minutes, as the metric gives them."""
    found = series(metrics()["drains"], logged)
    assert [dict(labels)["reason"] for labels in found] == ["deadline"]
    return [[(at, 1.0) for at in times]]


@cases(
    "expected, times",
    ("two in a night", False, (10, 100)),
    ("three in a day", False, (10, 400, 800)),
    ("three within six hours", True, (10, 100, 200)),
)
def test_a_single_failed_drain_wakes_nobody(expected: bool, times: Sequence[float]) -> None:
    logged = entries(returned())

    assert bool(speaks(alerts()["drain_failed"], failures(logged, times), DAY)) is expected
