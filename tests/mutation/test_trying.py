"""How a mutant ends, and which tests are asked: tests made for it are collected in a process of their own.

The seed alone draws the mistakes that are made, and those that are excused can still be made.
"""

import faulthandler
import gc
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutation.__main__ import drawn
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.measuring import measure
from tests.mutation.reach import Reach
from tests.mutation.sites import ROOT, Mutant, mutants, of_text, product
from tests.mutation.suite import Suite, collect
from tests.mutation.swapping import Live
from tests.mutation.trying import Fate, Processes, Trial, ended, fate, forked

MODULE = """
def down(number: int) -> int:
    while number > 0:
        number -= 1
    return number


def above(number: int) -> bool:
    return number > 3
"""
TESTS = """
import sys
sys.path.insert(0, __file__.removesuffix("/test_example.py"))
from example import above, down
from shared.core.cluster.resources import amount
from shared.core.records.orders import CLAIM_WITHIN

def test_down():
    assert down(2) == 0

def test_above():
    assert above(5)

def test_amount():
    assert amount("cpu", "2.000000") == 2000

def test_constant():
    assert CLAIM_WITHIN.total_seconds() == 600

def test_that_fails():
    assert amount("cpu", "2.000000") == 3000
"""
FILE = "test_example.py"


def within_a_run(folder: Path, work: Callable[[Suite], None]) -> None:
    """Collect the tests in a process of its own, and work there with them."""
    (folder / "example.py").write_text(MODULE)
    (folder / FILE).write_text(TESTS)

    def run() -> int:
        _leave_behind()
        os.chdir(folder)
        collect([FILE], work)
        return 0

    faulthandler.cancel_dump_traceback_later()  # a fork would always wait for the thread that watches this test
    assert fate(ended(forked(run))[1]) is Fate.SURVIVED


def _leave_behind() -> None:
    """Blame no test of the new process for what tests before left in this one, nor for a warning about it."""
    gc.disable()
    warnings.resetwarnings()


def mutant_of(folder: Path, after: str) -> Mutant:
    return next(mutant for mutant in of_text(folder / "example.py", MODULE) if mutant.texts()[1] == after)


def real_mutant(file: str, after: str) -> Mutant:
    return next(mutant for mutant in mutants([ROOT / file]) if mutant.texts()[1] == after)


def asked(mutant: Mutant | None, *tests: str) -> Trial:
    return Trial(mutant, [f"{FILE}::{test}" for test in tests])


def test_a_mutant_ends_as_its_tests_end(tmp_path: Path) -> None:
    def work(suite: Suite) -> None:
        minutes = real_mutant("shared/core/records/orders.py", "CLAIM_WITHIN: Final = timedelta(minutes=10) * 60")
        table = {
            "no mistake": (Fate.SURVIVED, asked(None, "test_down", "test_above", "test_amount", "test_constant")),
            "seen by the second test": (Fate.KILLED, asked(mutant_of(tmp_path, "False"), "test_down", "test_above")),
            "seen by a test that is not asked": (Fate.SURVIVED, asked(mutant_of(tmp_path, "False"), "test_down")),
            "without effect on what is asked": (Fate.SURVIVED, asked(mutant_of(tmp_path, "number >= 3"), "test_above")),
            "never ending": (Fate.HUNG, asked(mutant_of(tmp_path, "number += 1"), "test_down")),
            "in a constant": (Fate.KILLED, asked(minutes, "test_constant")),
            "in a constant that no test asks for": (Fate.SURVIVED, asked(minutes, "test_above")),
        }
        ends = Processes(suite, Live(), {FILE: 2}, jobs=1).tried([trial for _, trial in table.values()])
        found = dict(zip(table, (end for _, end in ends), strict=True))
        assert found == {name: expected for name, (expected, _) in table.items()}

    within_a_run(tmp_path, work)


def test_a_test_that_fails_without_a_mutant_ends_the_run(tmp_path: Path) -> None:
    def work(suite: Suite) -> None:
        with pytest.raises(RuntimeError):
            list(Processes(suite, Live(), {FILE: 0}, jobs=1).tried([asked(None, "test_that_fails")]))

    within_a_run(tmp_path, work)


def test_the_projects_own_tests_are_collected_under_its_own_settings() -> None:
    """Its settings refuse marks that nobody registered; the tests above have no settings."""
    found: list[str] = []

    def run() -> int:
        _leave_behind()
        os.chdir(ROOT)
        collect(["tests/cli/analysis/simulated_days/test_pod_lives.py"], lambda suite: found.extend(suite.items))
        return int(not found)

    faulthandler.cancel_dump_traceback_later()  # as above
    assert fate(ended(forked(run))[1]) is Fate.SURVIVED


def test_those_tests_are_asked_that_run_the_line_and_pass(tmp_path: Path) -> None:
    quantity = real_mutant("shared/core/cluster/resources.py", "exact.numerator")
    constant = real_mutant("shared/core/records/orders.py", "timedelta()")

    def work(suite: Suite) -> None:
        measure(suite, Live(), [FILE], tmp_path / "kept", jobs=2)
        reach = Reach(tmp_path / "kept", [FILE])
        assert (reach.running(quantity), reach.running(constant)) == ([f"{FILE}::test_amount"], [])
        assert f"{FILE}::test_constant" in reach.entering(constant)
        assert reach.failed == [f"{FILE}::test_that_fails"]

    within_a_run(tmp_path, work)


def test_a_share_is_drawn_by_the_seed_alone() -> None:
    every = mutants(product()[:9])
    assert drawn(every, 0.2, 7) == drawn(every, 0.2, 7) != drawn(every, 0.2, 8)
    assert len(drawn(every, 0.2, 7)) == round(len(every) * 0.2)


def test_each_mutant_that_is_called_equivalent_can_still_be_made() -> None:
    files = {ROOT / file for file, *_ in EQUIVALENT}
    assert EQUIVALENT.keys() - {mutant.key for mutant in mutants(sorted(files))} == set()
