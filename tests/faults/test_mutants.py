"""Each deliberately broken Ebb is caught within a bounded number of histories."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.mutants import MOST, MUTANTS, caught, histories


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_every_mutant_is_caught(mutant: Callable[[], Any]) -> None:
    number, found = caught(mutant, histories(MOST))
    assert found, f"{mutant.__name__} got through {number} histories"
