"""What is read twice counts once: two readings are of one cluster where a node stands in both.

Pure: readings in, readings out. Must not guess by names that people gave.
"""

from collections.abc import Iterable
from typing import Final

from functions.cli.fleet.cluster_reading import PlannedCluster, SourceResult
from functions.cli.format import moment

OLDER: Final = "{name} is the same cluster as {other} and was read earlier, at {time}: it is not counted."


def counted_once(
    results: Iterable[SourceResult],
) -> tuple[list[tuple[SourceResult, PlannedCluster]], tuple[str, ...]]:
    """Return each cluster once, as it was read last, and a note for each earlier reading."""
    every = [(result, each) for result in results for each in result.clusters]
    newest = sorted(every, key=lambda pair: pair[1].view.taken_at, reverse=True)
    kept: list[tuple[SourceResult, PlannedCluster]] = []
    notes: list[str] = []
    for result, planned in newest:
        other = next((pair for pair in kept if not pair[1].nodes.isdisjoint(planned.nodes)), None)
        if other is None:
            kept.append((result, planned))
        else:
            names = {"name": planned.view.cluster, "other": other[0].source.name}
            notes.append(OLDER.format(**names, time=moment(planned.view.taken_at)))
    return kept, tuple(notes)
