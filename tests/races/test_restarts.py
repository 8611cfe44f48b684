"""What must be remembered over a cold start: each call below runs in a process that has seen nothing before."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from shared.adapters.process import system_time
from tests.builders import NOW
from tests.races.parallel import in_a_fresh_process as cold
from tests.races.restarts import Call, drain, reasons

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'state'}"


@pytest.mark.acceptance(51)
@pytest.mark.parametrize(
    ("expected", "after"),
    [
        pytest.param("time_gap", 10 * MINUTE - SECOND, id="9:59 after"),
        pytest.param("order", 10 * MINUTE, id="10:00 after"),
    ],
)
def test_the_time_gap_outlives_the_process_that_began_it(expected: str, after: timedelta, place: str) -> None:
    first, later = (Call(place, when, time_gap=10 * MINUTE, limit=2) for when in (NOW, NOW + after))
    assert cold(drain, first, "n1") == "drained"

    assert cold(reasons, later)["n2"] == expected


@pytest.mark.acceptance(51)
@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_the_time_gap_outlives_the_process_in_firestore_too(
    request: pytest.FixtureRequest,
) -> None:
    place = f"firestore:{request.getfixturevalue('firestore_emulator').host}/ebb-{uuid4().hex[:12]}"
    call = Call(place, system_time(), time_gap=10 * MINUTE, limit=2)
    assert cold(drain, call, "n1") == "drained"

    assert cold(reasons, call)["n2"] == "time_gap"


@pytest.mark.acceptance(71)
def test_with_a_limit_of_one_the_second_drain_starts_only_after_the_first_has_ended(
    place: str,
) -> None:
    assert cold(drain, Call(place, NOW), "n1") == "drained"
    assert cold(drain, Call(place, NOW + MINUTE), "n2") == "budget"

    cold(reasons, Call(place, NOW + 2 * MINUTE, gone=("n1",), limit=0))  # this pass sees that the first has ended

    assert cold(drain, Call(place, NOW + 3 * MINUTE, gone=("n1",)), "n3") == "drained"


@pytest.mark.acceptance(80)
@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        pytest.param("marked_recently", [(0, 0.5), (299, 0.5)], id="a second too young"),
        pytest.param("order", [(0, 0.5), (300, 0.5)], id="old enough"),
        pytest.param("marked_recently", [(0, 0.5), (180, 3.9), (360, 0.5), (659, 0.5)], id="reset on recovery"),
        pytest.param("order", [(0, 0.5), (180, 3.9), (360, 0.5), (660, 0.5)], id="old enough since the reset"),
    ],
)
def test_consolidate_after_counts_from_when_the_node_became_eligible(
    expected: str, passes: list[tuple[int, float]], place: str
) -> None:
    calls = [Call(place, NOW + seconds * SECOND, cpu, consolidate_after=5 * MINUTE) for seconds, cpu in passes]

    found = [cold(reasons, call) for call in calls]

    assert found[-1]["n1"] == expected
    assert {each["n1"] for each in found[:-1]} <= {"marked_recently", "cpu_above_limit"}
