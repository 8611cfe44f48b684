"""One count for healing and for costs: what fails in a row because nothing answers is one outage."""

import pytest

from functions.planner.read_and_repair import Outages
from shared.errors import Forbidden, Retryable, Stale, Terminal

SILENCE, REFUSED = Retryable("the API", "no answer"), Terminal("the API", "422")


@pytest.mark.parametrize(
    ("expected", "calls"),
    [
        pytest.param(True, [SILENCE] * 3, id="three calls in a row get no answer"),
        pytest.param(False, [SILENCE] * 2, id="two"),
        pytest.param(False, [SILENCE, SILENCE, None, SILENCE], id="one between them succeeds"),
        pytest.param(True, [SILENCE, REFUSED, SILENCE, SILENCE], id="a refusal between them shows nothing"),
        pytest.param(False, [SILENCE, SILENCE, SILENCE, REFUSED], id="a refusal itself is none"),
        pytest.param(False, [Stale("it changed"), Forbidden("patch"), REFUSED], id="what is wrong with single objects"),
    ],
)
def test_calls_that_get_no_answer_one_after_another_are_an_outage(
    expected: bool, calls: list[Exception | None]
) -> None:
    outages, found = Outages(), False
    for fault in calls:
        if fault is None:
            outages.note_success()
            found = False
        else:
            found = outages.is_one(fault)
    assert found is expected
