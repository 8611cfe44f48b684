"""The headroom bench: its scheduler keeps every rule, and its passes end with each pod on a node."""

from dataclasses import replace
from random import Random

import pytest

from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.workloads import Mix
from tests.bench.headroom.passes import Proof, shrink, without
from tests.bench.headroom.scheduling import BenchScheduler, Eviction, Profile, fill

MACHINES = ("e2-standard-4", "e2-standard-8")
DRAINED = [1, 5]


def cluster(mix: Mix, seed: int = 0) -> BenchCluster:
    return generated(14, mix, fill=0.6, pods_a_node=6, seed=seed, machines=MACHINES)


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("mix", [Mix.PLAIN, Mix.RICH])
def test_what_it_places_breaks_no_rule_and_what_fits_nowhere_goes_back(mix: Mix, profile: Profile) -> None:
    before = cluster(mix)
    evictions = BenchScheduler(before, profile, Random(3)).evict_all(DRAINED)  # noqa: S311 - a test's data
    moves = {f"default/{eviction.workload}-{eviction.replica}": before.nodes[place].name
             for eviction in evictions if (place := eviction.target) is not None}  # fmt: skip
    kept = {eviction.source for eviction in evictions if eviction.target is None}
    empty = {before.nodes[place].name for place in DRAINED if place not in kept}
    told = faults(before, moves, empty)
    assert [fault for fault in told if "which stays" not in fault] == []
    assert len(moves) > 3


def test_equal_calls_give_equal_passes_and_lose_no_pod() -> None:
    before, proof = cluster(Mix.RICH), Proof(robust=True, headroom=5)
    first, second = (shrink(before, proof, Profile.LEAST_ALLOCATED, 1, 2) for _ in range(2))
    assert first == second
    assert first.passes
    assert len(before.nodes) > first.nodes
    assert [pass_.fill for pass_ in first.passes] == sorted(pass_.fill for pass_ in first.passes)


def test_a_node_to_which_a_pod_went_back_stays() -> None:
    whole = cluster(Mix.PLAIN)
    before = replace(whole, places={name: tuple(0 for _ in places) for name, places in whole.places.items()})
    left = without(before, DRAINED, [Eviction("app-00000", 0, 1, None)])
    assert [node.name for node in left.nodes] == [
        node.name for place, node in enumerate(before.nodes) if place == 1 or place not in DRAINED
    ]


def test_the_fill_is_the_share_of_cpu_asked_for() -> None:
    assert fill(cluster(Mix.PLAIN)) == pytest.approx(0.6, abs=0.1)
