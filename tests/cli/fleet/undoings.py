"""Readings that go wrong in their own process, for another process to import."""

import os

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.sources import ClusterSource

BAD = "bad"


def end_process(source: ClusterSource) -> SourceResult:
    """End the process as a kernel without memory does."""
    if source.name == BAD:
        os._exit(137)
    return SourceResult(source)


def have_a_fault(source: ClusterSource) -> SourceResult:
    if source.name == BAD:
        raise KeyError(source.name)
    return SourceResult(source)
