"""The promise in dollars: two days with Ebb cost no more than with the autoscaler alone, by cases of the bench."""

from functools import cache
from random import Random
from typing import Final

import pytest

from tests.bench.days.population import MIXES, case
from tests.bench.days.table import ABOVE, ALONE, DEFAULTS, INIT, SMALL, Run, played, runs_of
from tests.depth import DEEP, SEED

KINDS: Final = (DEFAULTS, INIT)
NUMBERS: Final = tuple(range(len(MIXES), 2 * len(MIXES)))
"""A case of each mix of machines, with some PodDisruptionBudgets."""


@cache
def runs(number: int) -> dict[str, Run]:
    return runs_of(case(number, nodes=SMALL), KINDS, throws=1)


def percent(number: int, kind: str) -> float:
    own = runs(number)
    return 100 * (own[kind].paid / own[ALONE].paid - 1)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_bill_is_never_higher_than_without_ebb(number: int) -> None:
    assert {kind: percent(number, kind) <= ABOVE for kind in KINDS} == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bill_of_all_together_falls(kind: str) -> None:
    assert sum(percent(number, kind) for number in NUMBERS) / len(NUMBERS) < -5  # percent


@pytest.mark.deep
def test_the_bill_of_clusters_drawn_anew_is_never_higher() -> None:
    numbers = Random(SEED).sample(range(1000, 100_000), 24 if DEEP else 1)  # noqa: S311 - drawn again by its seed
    rows = [played(number, SMALL) for number in numbers]

    assert [(row.name, kind, row.percent(kind)) for row in rows for kind in KINDS if row.is_dearer(kind)] == []
