"""What a drain took is read off its record alone."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.draining.drain import log_fields
from shared.core.records.drain_record import DrainRecord, PodProgress
from tests.builders import NOW, order

SECOND = timedelta(seconds=1)


def record(**changes: Any) -> DrainRecord:
    return DrainRecord(order=order(), **changes)


def row(answer: str, **changes: Any) -> PodProgress:
    return PodProgress(uid="u", answer=answer, at=NOW, **changes)


@pytest.mark.parametrize(
    ("expected", "drain"),
    [
        pytest.param({"pods_evicted": 0}, record(), id="never cordoned"),
        pytest.param({"drain_seconds": 90, "pods_evicted": 0}, record(cordoned_at=NOW - 90 * SECOND), id="under way"),
        pytest.param(
            {"drain_seconds": 60, "deletion_seconds": 30, "pods_evicted": 2},
            record(
                cordoned_at=NOW - 90 * SECOND,
                drained_at=NOW - 30 * SECOND,
                pods={"ns/a": row("granted"), "ns/b": row("gone"), "ns/c": row("budget")},
            ),
            id="drained",
        ),
    ],
)
def test_an_account_shows_what_is_known(expected: dict[str, float], drain: DrainRecord) -> None:
    assert log_fields(drain, NOW) == expected


@pytest.mark.parametrize(
    ("expected", "before", "uid"),
    [
        pytest.param(None, row("later", detail="429"), "u", id="held by something else"),
        pytest.param(None, row("budget", detail="ns/pdb"), "other", id="another pod of that name"),
        pytest.param(("ns/pdb", 5 * SECOND), row("budget", detail="ns/pdb"), "u", id="held by a budget"),
    ],
)
def test_a_pod_is_held_from_a_budgets_refusal_to_the_next_answer(expected: Any, before: Any, uid: str) -> None:
    assert before.held_by_budget(uid, NOW + 5 * SECOND) == expected
