"""The mistakes that are made: the seed alone draws them, and those that are excused can still be made."""

from tests.mutation.__main__ import drawn
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.sites import ROOT, mutants, product


def test_a_share_is_drawn_by_the_seed_alone() -> None:
    every = mutants(product()[:9])
    assert drawn(every, 0.2, 7) == drawn(every, 0.2, 7) != drawn(every, 0.2, 8)
    assert len(drawn(every, 0.2, 7)) == round(len(every) * 0.2)


def test_each_mutant_that_is_called_equivalent_can_still_be_made() -> None:
    files = {ROOT / file for file, *_ in EQUIVALENT}
    assert EQUIVALENT.keys() - {mutant.key for mutant in mutants(sorted(files))} == set()
