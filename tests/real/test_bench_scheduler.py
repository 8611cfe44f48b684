"""The scheduler that the headroom bench replays plans on, against the filters of the real one, eviction by eviction."""

import json
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest

from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.manifests import lists, pods
from tests.bench.clusters.workloads import Mix
from tests.bench.headroom.scheduling import BenchScheduler, Eviction, Profile
from tests.real.scheduler_filters import Question, SchedulerFilters
from tests.real.scheduler_filters.program import Cluster, Manifest

pytestmark = pytest.mark.control_plane

SEEDS = range(6)
DRAINED = {0, 4, 9}


@pytest.mark.deep
def test_it_lets_every_pod_go_exactly_where_the_real_filters_let_it(scheduler_filters: SchedulerFilters) -> None:
    worlds = [world(mix, seed) for mix in (Mix.PLAIN, Mix.RICH) for seed in SEEDS]
    evictions = [evicted(cluster, seed) for seed, cluster in enumerate(worlds)]
    asked = [
        (manifests(cluster), questions(cluster, eviction)) for cluster, eviction in zip(worlds, evictions, strict=True)
    ]
    answers = scheduler_filters.ask(asked)

    differing = [
        f"world {number}: {each.workload}-{each.replica}: {sorted(names(cluster, each.fitting) ^ free)}"
        for number, (cluster, own, answer) in enumerate(zip(worlds, evictions, answers, strict=True))
        for each, refusals in zip(own, answer, strict=True)
        if (free := names(cluster, range(len(cluster.nodes))) - refusals.keys()) != names(cluster, each.fitting)
    ]
    assert differing == []
    assert any(each.target is None for own in evictions for each in own)
    assert sum(map(len, evictions)) > 100


def world(mix: Mix, seed: int) -> BenchCluster:
    """A cluster so full that not every pod finds a place; without disks, whose claims the filters would ask for."""
    whole = generated(12, mix, fill=0.75, pods_a_node=10, seed=seed)
    return replace(whole, workloads=[workload for workload in whole.workloads if not workload.disk])


def evicted(cluster: BenchCluster, seed: int) -> list[Eviction]:
    trimmed = replace(cluster, places={workload.name: cluster.places[workload.name] for workload in cluster.workloads})
    return BenchScheduler(trimmed, list(Profile)[seed % 2], Random(seed)).evict_all(DRAINED)  # noqa: S311 - data


def manifests(cluster: BenchCluster) -> Cluster:
    found = lists(cluster)
    return Cluster(found["nodes"], found["namespaces"], list(bound(cluster)))


def bound(cluster: BenchCluster) -> Iterable[Manifest]:
    return (json.loads(pod) for pod in pods(cluster))


def questions(cluster: BenchCluster, evictions: Iterable[Eviction]) -> list[Question]:
    manifest = {pod["metadata"]["name"]: unbound(pod) for pod in bound(cluster)}
    cordon = [cluster.nodes[place].name for place in sorted(DRAINED)]
    return [
        Question(
            manifest[f"{eviction.workload}-{eviction.replica}"],
            bind=cluster.nodes[eviction.source if eviction.target is None else eviction.target].name,
            cordon=cordon,
        )
        for eviction in evictions
    ]


def unbound(pod: Manifest) -> Manifest:
    return pod | {"spec": {name: value for name, value in pod["spec"].items() if name != "nodeName"}}


def names(cluster: BenchCluster, places: Iterable[int]) -> set[str]:
    return {cluster.nodes[place].name for place in places}
