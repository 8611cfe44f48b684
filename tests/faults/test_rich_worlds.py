"""The promise in worlds whose pods are bound by hard rules, and what is seen where Ebb lacks one of the rules."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import cluster_arrays
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.constraint import NewConstraint
from shared.core.placement.constraints.exclusion import AntiAffinity, HostPorts, OnePodClaims
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import VolumePlace
from tests.faults.families import bases
from tests.faults.history import run
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches


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


SHOWN = {
    AntiAffinity: "apart",
    RequiredAffinity: "no room in its zone",
    HostPorts: "ports",
    TopologySpread: "zones",
    VolumePlace: "no room where its disk is",
}
"""The rules that decide a fit in these worlds, and a world in which each does; of the others see `tests/real`."""


def test_each_rule_has_a_world_that_shows_it() -> None:
    assert {*CONSTRAINTS} == {*SHOWN, OnePodClaims, AttachLimits}


@pytest.mark.parametrize(("rule", "world"), SHOWN.items(), ids=[rule.__name__ for rule in SHOWN])
def test_a_drain_that_knows_nothing_of_a_rule_is_seen(rule: NewConstraint, world: str) -> None:
    with without(rule):
        found = breaches(run(bases()[world]))

    assert any("the first eviction" in fault for fault in found)
