"""Each deliberately broken Ebb is caught within a bounded number of histories."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.history import breaches_of
from tests.faults.mutants import MOST, MUTANTS, caught, histories


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "first"), MUTANTS.items(), ids=[each.__name__ for each in MUTANTS])
def test_every_mutant_is_caught(mutant: Callable[[], Any], first: int) -> None:
    number, found = caught(mutant, histories(first, MOST))
    assert found, f"{mutant.__name__} got through {MOST} histories"
    _, history = next(histories(number, 0))
    assert breaches_of(history) == [], (
        "Ebb as it is breaks the promise in that history too: it says nothing of the mutant"
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=[each.__name__ for each in MUTANTS])
def test_every_mutant_finds_what_it_replaces(mutant: Callable[[], Any]) -> None:
    """A rename that a mutant missed shows here in a moment, not only in the slow run."""
    with mutant():
        pass
