"""Ebb without one of the scheduler's rules: the oracle sees each, though a drain gives its node back in time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import cluster_arrays
from shared.core.placement.constraints import CONSTRAINTS, NewConstraint
from tests.faults.mutants import swapped


@contextmanager
def without(rule: NewConstraint) -> Iterator[None]:
    """Plan and prove as if there were no such rule."""
    own = cluster_arrays.ClusterArrays.__init__
    kept = tuple(constraint for constraint in CONSTRAINTS if constraint is not rule)

    def arrays(
        self: cluster_arrays.ClusterArrays, snapshot: Snapshot, constraints: Sequence[NewConstraint] = kept
    ) -> None:
        own(self, snapshot, constraints)

    with swapped(cluster_arrays.ClusterArrays, "__init__", arrays):
        yield
