"""A cluster that undoes its process ends no other cluster's reading."""

import os

import pytest

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.compute import ENDED, Read, read_all
from functions.cli.fleet.sources import ClusterSource

pytestmark = pytest.mark.workers
BAD = "bad"
NAMES = ("a", BAD, "b", "c")


def end_process(source: ClusterSource) -> SourceResult:
    """End the process as a kernel without memory does."""
    if source.name == BAD:
        os._exit(137)
    return SourceResult(source)


def have_a_fault(source: ClusterSource) -> SourceResult:
    if source.name == BAD:
        raise KeyError(source.name)
    return SourceResult(source)


@pytest.mark.parametrize(
    ("expected", "read"),
    [
        pytest.param(ENDED, end_process, id="its process is ended"),
        pytest.param("It could not be planned (KeyError: 'bad')", have_a_fault, id="a fault of ours"),
    ],
)
def test_all_others_are_read(expected: str, read: Read) -> None:
    results = {
        result.source.name: result.faults for result in read_all([ClusterSource(name) for name in NAMES], read, 2)
    }
    assert results.keys() == set(NAMES)
    assert results.pop(BAD)[0].startswith(expected)
    assert set(results.values()) == {()}


def test_nothing_to_read_is_no_fault() -> None:
    assert list(read_all((), end_process, 4)) == []
