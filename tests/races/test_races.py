"""Real processes race for claims: a budget of five is never six, whoever is first."""

from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from shared.core.reasons import Unremovable
from tests.races.claimer import RaceResult, claims_in
from tests.races.parallel import open_at_once, run

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
def test_of_two_workers_with_a_limit_of_one_exactly_one_drains(place: str) -> None:
    told = run(place, claimers=2, limit=1)

    assert ends(told) == {("drained", ""): 1, ("refused", Unremovable.BUDGET): 1}
    assert (len(claims_in(place).claims), sum(each.cordons for each in told)) == (1, 1)


@pytest.mark.parametrize(
    "strangers",
    [pytest.param(False, id="orders of one pass"), pytest.param(True, id="orders of strangers")],
)
def test_64_claimers_never_exceed_a_budget_of_five(place: str, *, strangers: bool) -> None:
    told = run(place, claimers=64, limit=5, strangers=strangers)

    assert ends(told) == {("drained", ""): 5, ("refused", Unremovable.BUDGET): 59}
    assert (len(claims_in(place).claims), sum(each.cordons for each in told)) == (5, 5)
    assert len(claims_in(place).starts) == 5


def test_64_claimers_with_room_for_all_are_all_granted(place: str) -> None:
    told = run(place, claimers=64, limit=64)

    assert ends(told) == {("drained", ""): 64}
    assert len(claims_in(place).claims) == len(claims_in(place).starts) == 64
