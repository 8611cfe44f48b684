"""When a pod that does not run yet should run."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders import NOW
from tests.real.control_plane.resync import is_overdue


def starting(ago: float, pace: str = "", **meta: Any) -> dict[str, Any]:
    notes = {"kwok.ebb.internal/readiness": pace} if pace else {}
    began = (NOW - timedelta(seconds=ago)).isoformat().replace("+00:00", "Z")
    return {"metadata": {"annotations": notes, **meta}, "status": {"startTime": began}}


@pytest.mark.parametrize(
    ("expected", "pod"),
    [
        pytest.param(False, {"metadata": {}, "status": {}}, id="it has no node yet"),
        pytest.param(False, starting(15), id="in the time that every pod may take"),
        pytest.param(True, starting(16), id="after it"),
        pytest.param(True, starting(12, "1s"), id="after its own time"),
        pytest.param(True, starting(12, "100ms"), id="in milliseconds"),
        pytest.param(False, starting(12, "1h"), id="it takes an hour"),
        pytest.param(False, starting(60, deletionTimestamp="2026-03-04T22:00:00Z"), id="it ends"),
    ],
)
def test_a_pod_is_looked_at_again_once_it_should_run(expected: bool, pod: dict[str, Any]) -> None:
    assert is_overdue(pod, NOW) is expected
