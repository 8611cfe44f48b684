"""What the table of families draws keeps the promise, and each Ebb that is broken on purpose is caught."""

from collections.abc import Callable, Iterable

import pytest

from tests.depth import DEEP, SEED
from tests.faults.families import DEEPER, Part, parts
from tests.faults.history import History, breaches_of
from tests.faults.mutants import MUTANTS, Mutant, caught
from tests.faults.running import Record, assert_kept


@pytest.mark.parametrize("part", list(parts(SEED, DEEPER if DEEP else 1)), ids=str)
def test_nothing_that_happens_breaks_the_promise(part: Part, record_property: Record) -> None:
    assert_kept(part, record_property)


@pytest.mark.parametrize(("mutant", "needed"), MUTANTS.items(), ids=[mutant.__name__ for mutant in MUTANTS])
def test_every_mutant_is_caught_by_what_it_needs(mutant: Mutant, needed: Callable[[], Iterable[History]]) -> None:
    found = caught(mutant, needed())

    assert found, f"{mutant.__name__} got through"
    assert breaches_of(found[0]) == [], "Ebb as it is breaks the promise there too: it says nothing of the mutant"
