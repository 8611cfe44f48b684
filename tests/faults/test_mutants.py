"""Each deliberately broken Ebb is caught by a history that is built of what it needs."""

from collections.abc import Callable, Iterable

import pytest

from tests.faults.history import History, breaches_of
from tests.faults.mutants import MUTANTS, Mutant, caught


@pytest.mark.parametrize(("mutant", "needed"), MUTANTS.items(), ids=[each.__name__ for each in MUTANTS])
def test_every_mutant_is_caught_by_what_it_needs(mutant: Mutant, needed: Callable[[], Iterable[History]]) -> None:
    found = caught(mutant, needed())

    assert found, f"{mutant.__name__} got through"
    assert breaches_of(found[0]) == [], "Ebb as it is breaks the promise there too: it says nothing of the mutant"
