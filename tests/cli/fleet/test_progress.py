"""How far a fleet is read: one line on a terminal, cleared in the end, and nothing in a file."""

from io import StringIO

from functions.cli.fleet.cluster_reading import SourceResult
from functions.cli.fleet.compute import FleetProgress
from functions.cli.fleet.sources import ClusterSource


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def read(stream: StringIO) -> list[str]:
    with FleetProgress(2, stream) as progress:
        progress.done(SourceResult(ClusterSource("prod\x1b[31m")))
        progress.done(SourceResult(ClusterSource("stage"), faults=("No.",)))
    return stream.getvalue().split("\r\x1b[2K")[1:]


def test_a_terminal_sees_how_many_are_read_and_how_many_are_not() -> None:
    assert read(Terminal()) == [
        "Reading the fleet  0 of 2",
        "Reading the fleet  1 of 2  prod?[31m",
        "Reading the fleet  2 of 2, 1 not read  stage",
        "",
    ]


def test_a_file_learns_nothing() -> None:
    assert read(StringIO()) == []
