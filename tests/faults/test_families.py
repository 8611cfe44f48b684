"""The promise holds whatever happens: what the table of families draws, with this run's seed."""

import pytest

from tests.depth import DEEP, SEED
from tests.faults.families import DEEPER, Part, parts
from tests.faults.running import Record, assert_kept


@pytest.mark.parametrize("part", list(parts(SEED, DEEPER if DEEP else 1)), ids=str)
def test_nothing_that_happens_breaks_the_promise(part: Part, record_property: Record) -> None:
    assert_kept(part, record_property)
