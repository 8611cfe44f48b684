"""The promise in dollars: two days with Ebb cost no more than with the autoscaler alone, by cases of the bench."""

from functools import cache
from random import Random
from typing import Final

import pytest

from tests.bench.days.population import MIXES, case
from tests.bench.days.table import DEFAULTS, INIT, SMALL, Row, played, runs_of
from tests.depth import DEEP, SEED

KINDS: Final = (DEFAULTS, INIT)
FEW, MANY = 2, 4
"""Throws of the autoscaler's dice."""
NUMBERS: Final = tuple(range(len(MIXES), 2 * len(MIXES)))
"""A case of each mix of machines, with some PodDisruptionBudgets."""


@cache
def row(number: int, throws: int = FEW) -> Row:
    own = case(number, nodes=SMALL)
    return Row(number, own.name, own.budgets, runs_of(own, KINDS, throws), 0)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_bill_is_never_higher_than_without_ebb(number: int) -> None:
    """What seems dearer is played more often: two throws of the autoscaler's dice may lie close together by chance."""
    seems = [kind for kind in KINDS if row(number).is_dearer(kind)]

    assert [kind for kind in seems if row(number, MANY).is_dearer(kind)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_bill_of_all_together_falls(kind: str) -> None:
    assert sum(row(number).percent(kind) for number in NUMBERS) / len(NUMBERS) < -5  # percent


@pytest.mark.deep
def test_the_bill_of_clusters_drawn_anew_is_never_higher() -> None:
    numbers = Random(SEED).sample(range(1000, 100_000), 24 if DEEP else 1)  # noqa: S311 - drawn again by its seed
    rows = [played(number, SMALL) for number in numbers]

    assert [(each.name, kind, each.percent(kind)) for each in rows for kind in KINDS if each.is_dearer(kind)] == []
