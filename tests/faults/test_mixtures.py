"""Several faults at once, messages lost, doubled, late and out of order, clocks that are off: drawn from seeds."""

import pytest

from tests.faults.catalog import mixture
from tests.faults.running import SEED, Record, assert_kept

CHUNK = 125


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 3500, CHUNK), ids=lambda first: f"seeds from {first}")
def test_no_mixture_of_faults_breaks_the_promise(first: int, record_property: Record) -> None:
    assert_kept((mixture(SEED + seed, people=False) for seed in range(first, first + CHUNK)), record_property)
