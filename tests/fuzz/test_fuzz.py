"""No bytes break a reader: the corpus, and FUZZ_INPUTS mutations of it (`make fuzz` feeds a million)."""

import os
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import fuzz
from tests.fuzz.targets import TARGETS, Target, accepts

INPUTS = int(os.environ.get("FUZZ_INPUTS", "20000"))
CASES = [pytest.param(target, path, id=f"{target.name}/{path.name}") for target in TARGETS for path in target.corpus]


@pytest.mark.parametrize(("target", "path"), CASES)
def test_examples_are_read_and_findings_are_read_or_refused_in_sentences(target: Target, path: Path) -> None:
    assert accepts(target, path.read_bytes()) or path.name.startswith("found-")


@pytest.mark.parametrize("target", [pytest.param(target, id=target.name) for target in TARGETS])
def test_mutated_examples_break_no_reader(target: Target) -> None:
    report = fuzz(target, round(INPUTS * target.share))

    assert report.findings == {}
    assert report.accepted < report.inputs
