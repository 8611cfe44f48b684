"""Making a plan puts the search for cycles off, and leaves it as it was."""

import gc
from collections.abc import Iterator

import pytest

from shared.adapters.process import no_search_for_cycles


@pytest.fixture(autouse=True)
def searching() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("before", [True, False], ids=["it is on", "it is off"])
def test_cycles_are_not_looked_for_inside_and_as_before_afterwards(before: bool) -> None:
    (gc.enable if before else gc.disable)()

    with no_search_for_cycles():
        assert not gc.isenabled()

    assert gc.isenabled() is before


def test_a_plan_that_fails_leaves_it_as_it_was_too() -> None:
    with pytest.raises(ValueError, match="no plan"), no_search_for_cycles():
        raise ValueError("no plan")

    assert gc.isenabled()
