"""Of processes that race for claims or open one state at once, all keep the limits."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from shared.adapters.process import system_time
from shared.core.reasons import Unremovable
from tests.builders import NOW
from tests.depth import DEEP, cases
from tests.races.claimer import RaceResult, claims_in
from tests.races.restarts import Call, drain, open_at_once, reasons, run
from tests.races.restarts import in_a_fresh_process as cold

CLAIMERS = 64 if DEEP else 16
"""A budget of a third of them is exceeded as surely as one of a twelfth, and sixteen wait for each other far less."""
EMULATOR = (pytest.mark.emulator, pytest.mark.xdist_group("emulator"))


@pytest.fixture(params=["sqlite", pytest.param("firestore", marks=EMULATOR)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty state for all claimers."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'state'}"
    return f"firestore:{request.getfixturevalue('firestore_emulator').host}/ebb-{uuid4().hex[:12]}"


def ends(told: list[RaceResult]) -> Counter[tuple[str, str]]:
    return Counter((result.outcome, result.why) for result in told)


def test_a_state_that_many_open_at_once_for_the_first_time_opens_for_all(tmp_path: Path) -> None:
    assert [open_at_once(f"sqlite:{tmp_path / str(turn)}", 16) for turn in range(5)] == [[True] * 16] * 5


@pytest.mark.acceptance(76)
@cases(
    "granted, claimers, strangers",
    ("two workers of one pass, and a budget of one", 1, 2, False),
    ("many orders of one pass", 5, CLAIMERS, False),
    ("many orders of strangers", 5, CLAIMERS, True),
)
def test_claimers_never_exceed_a_budget(place: str, granted: int, claimers: int, *, strangers: bool) -> None:
    told = run(place, claimers=claimers, limit=granted, strangers=strangers)

    assert ends(told) == {("drained", ""): granted, ("refused", Unremovable.BUDGET): claimers - granted}
    found = claims_in(place)
    assert (len(found.claims), len(found.starts), sum(result.cordons for result in told)) == (granted,) * 3


def test_many_claimers_with_room_for_all_are_all_granted(place: str) -> None:
    told = run(place, claimers=CLAIMERS, limit=CLAIMERS)

    assert ends(told) == {("drained", ""): CLAIMERS}
    assert len(claims_in(place).claims) == len(claims_in(place).starts) == CLAIMERS


MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture
def state_place(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'state'}"


@pytest.mark.acceptance(51)
@cases("expected, after", ("9:59 after", "time_gap", 10 * MINUTE - SECOND), ("10:00 after", "order", 10 * MINUTE))
def test_the_time_gap_outlives_the_process_that_began_it(expected: str, after: timedelta, state_place: str) -> None:
    first, later = (Call(state_place, when, time_gap=10 * MINUTE, limit=2) for when in (NOW, NOW + after))
    assert cold(drain, first, "n1") == "drained"

    assert cold(reasons, later)["n2"] == expected


@pytest.mark.acceptance(51)
@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_the_time_gap_outlives_the_process_in_firestore_too(request: pytest.FixtureRequest) -> None:
    state_place = f"firestore:{request.getfixturevalue('firestore_emulator').host}/ebb-{uuid4().hex[:12]}"
    call = Call(state_place, system_time(), time_gap=10 * MINUTE, limit=2)
    assert cold(drain, call, "n1") == "drained"

    assert cold(reasons, call)["n2"] == "time_gap"


@pytest.mark.acceptance(71)
def test_with_a_limit_of_one_the_second_drain_starts_only_after_the_first_has_ended(state_place: str) -> None:
    assert cold(drain, Call(state_place, NOW), "n1") == "drained"
    assert cold(drain, Call(state_place, NOW + MINUTE), "n2") == "budget"

    cold(reasons, Call(state_place, NOW + 2 * MINUTE, gone=("n1",), limit=0))  # this pass sees that the first has ended

    assert cold(drain, Call(state_place, NOW + 3 * MINUTE, gone=("n1",)), "n3") == "drained"


@pytest.mark.acceptance(80)
@cases(
    "expected, passes",
    ("a second too young", "marked_recently", [(0, 0.5), (299, 0.5)]),
    ("old enough", "order", [(0, 0.5), (300, 0.5)]),
    ("reset on recovery", "marked_recently", [(0, 0.5), (180, 3.9), (360, 0.5), (659, 0.5)]),
    ("old enough since the reset", "order", [(0, 0.5), (180, 3.9), (360, 0.5), (660, 0.5)]),
)
def test_consolidate_after_counts_from_when_the_node_became_eligible(
    expected: str, passes: list[tuple[int, float]], state_place: str
) -> None:
    calls = [Call(state_place, NOW + seconds * SECOND, cpu, consolidate_after=5 * MINUTE) for seconds, cpu in passes]

    found = [cold(reasons, call) for call in calls]

    assert found[-1]["n1"] == expected
    assert {result["n1"] for result in found[:-1]} <= {"marked_recently", "cpu_above_limit"}
