"""What the cluster autoscaler leaves by itself, if demand stays as it is (docs/decisions/money-over-days.md).

It announces what it finds unneeded and empties it; then the scheduler has placed the pods, and it looks again.
"""

from collections.abc import Callable, Iterator, Sequence

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.planning.scheduling import Drained, drained

FindUnneeded = Callable[[Snapshot], Sequence[str]]
"""Returns what the autoscaler would announce, in the order in which it would remove it."""


def left_alone(
    snapshot: Snapshot, find_unneeded: FindUnneeded, rounds: int, arrays_of: ArraysOf = ClusterArrays
) -> Iterator[Drained]:
    """Yield the autoscaler's rounds, each with what it has announced until then; at most so many."""
    for _ in range(rounds):
        names = find_unneeded(snapshot)
        step = drained(snapshot, names, names, arrays_of, by_autoscaler=names)
        if not step.gone:
            return
        yield step
        snapshot = step.snapshot
