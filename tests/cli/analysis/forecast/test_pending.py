"""Pods that are pending take room in every figure of a forecast, and make no saving larger."""

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from functions.cli.analysis.forecast.scenarios import Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import with_pending_placed
from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy
from shared.core.records.state import ClusterState
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as picture_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.builders import NOW, cluster, node, pod

EVERY_POOL = Policy(other_pools=PoolPolicy(enabled=True))


def waiting(name: str, **changes: Any) -> Pod:
    return pod(name, phase=Phase.PENDING, ready=False, unschedulable_since=NOW, **changes)


def forecast(snapshot: Snapshot) -> Scenarios:
    return scenarios_of(Situation(snapshot, ClusterState(), EVERY_POOL), {}, load())


def places(snapshot: Snapshot) -> dict[str, str]:
    return {each.name: each.node for each in snapshot.pods}


def two_nodes(*more: Pod) -> Snapshot:
    """Two nodes of four CPUs, each with a pod of one."""
    return cluster([node("n1"), node("n2")], [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=1), *more])


@pytest.mark.parametrize(
    ("expected", "more"),
    [
        pytest.param(1, (), id="none is pending"),
        pytest.param(2, (waiting("w", cpu=3),), id="it fills what the others leave of a node"),
        pytest.param(1, (waiting("w", cpu=2),), id="there is room for all on one node"),
        pytest.param(1, (waiting("w", cpu=5),), id="it has no place, and holds none"),
    ],
)
def test_neither_the_rest_nor_the_bound_goes_below_what_pending_pods_need(expected: int, more: tuple[Pod, ...]) -> None:
    told = forecast(two_nodes(*more))
    assert (told.at_rest.nodes, told.bound.nodes) == (expected, expected)


@pytest.mark.parametrize(
    ("expected", "more"),
    [
        pytest.param("n2", waiting("w", cpu=1), id="where most is free, as the scheduler scores"),
        pytest.param("", waiting("w", cpu=9), id="it has no place"),
        pytest.param("", structs.replace(waiting("w", cpu=1), deleting=NOW), id="it is on its way out"),
        pytest.param("", pod("w", cpu=1, phase=Phase.SUCCEEDED), id="it has ended"),
    ],
)
def test_a_pending_pod_begins_where_the_scheduler_would_put_it(expected: str, more: Pod) -> None:
    snapshot = two_nodes(pod("p3", on="n1", cpu=1), more)
    assert places(with_pending_placed(snapshot)) == {**places(snapshot), "w": expected}


def test_where_none_is_pending_the_snapshot_is_the_very_same() -> None:
    snapshot = two_nodes()
    assert with_pending_placed(snapshot) is snapshot


def figures(snapshot: Snapshot) -> list[int]:
    """Return what is left by the autoscaler, at rest, of the potential and of the bound."""
    told = forecast(snapshot)
    assert told.begun is not None
    most = potential(Situation(told.begun, ClusterState(), EVERY_POOL), load(), told.reached)
    return [told.alone.cost, told.at_rest.cost, told.now.cost - most.saving, told.bound.cost]


@pytest.mark.parametrize(
    ("nodes", "mix", "seed"),
    [
        pytest.param(6, Mix.PLAIN, 1, id="plain"),
        pytest.param(30, Mix.PLAIN, 2, id="larger", marks=pytest.mark.deep),
        pytest.param(30, Mix.RICH, 1, id="rich", marks=pytest.mark.deep),
    ],
)
def test_demand_that_waits_makes_no_saving_larger(nodes: int, mix: Mix, seed: int) -> None:
    """The same cluster is read without some pods, and with these pending."""
    whole = picture_of(generated(nodes, mix, seed=seed))
    moving = [each for name in whole.node_by_name for each in movable(whole.pods_by_node[name], NOW)]
    chosen = {each.key for each in moving[:: max(1, len(moving) * 2 // (3 * nodes))]}
    absent = replace(whole, pods=tuple(each for each in whole.pods if each.key not in chosen))
    unbound = {"node": "", "phase": Phase.PENDING, "ready": False, "unschedulable_since": NOW}
    waits = replace(
        whole, pods=tuple(structs.replace(each, **unbound) if each.key in chosen else each for each in whole.pods)
    )

    assert all(map(int.__ge__, figures(waits), figures(absent)))
