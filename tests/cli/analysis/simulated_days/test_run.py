"""Laws of simulated days: equal input, flat days, and the same end as the forecast's, alone and with Ebb."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.cli.analysis.forecast.scenarios import scenarios_of
from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.patterns import Curve, Demand, JobRun, ReplicaChange, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Limit, Policy
from shared.core.policy.parsing import parse
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pdb, pod, pod_class

DAY = timedelta(days=1)
EAGER = parse(b"""
dryRun: false
cluster: {minimumNodes: 1, minimumNonTaintedNodes: 1, timeSinceLastAddition: 0s}
defaults:
  minimumNodeAge: 0s
  excessNodesThreshold: 0
  scaleDownRequiredUnderutilizedNodeCount: 1
  scaleDownCPURequestRatioLimit: 1
  scaleDownMemoryRequestRatioLimit: 1
nodePools: {a: {enabled: true}}
""")


def filled(cpu: float, nodes: int = 6) -> Snapshot:
    """So many nodes, each with two pods that ask for so many cores together, every pod of a workload of its own."""
    rows: list[Node] = [node(f"n{number}") for number in range(nodes)]
    pods: list[Pod] = [
        pod(f"p{number}-{half}", on=f"n{number}", cpu=cpu / 2, owner=f"ReplicaSet/w{number}-{half}")
        for number in range(nodes)
        for half in range(2)
    ]
    return cluster(rows, pods)


def played(
    picture: Snapshot, demand: Demand | None = None, policy: Policy | None = None, lasts: timedelta = DAY
) -> PlayedTotals:
    return simulate(Days(picture, load(), demand or Demand(), lasts), policy)


def swinging_day(picture: Snapshot, night: int = 50) -> Demand:
    return by_curve(swinging(picture, night), Curve(), picture.taken_at, DAY)


def shop(nodes: int = 8) -> Snapshot:
    """One Deployment of four half-core pods a node, which fill it to a good half."""
    kind = pod_class(owner="ReplicaSet/shop", cpu=0.6, memory=1)
    pods = [pod(f"s{n}-{k}", on=f"n{n}", kind=kind) for n in range(nodes) for k in range(4)]
    return cluster([node(f"n{n}") for n in range(nodes)], pods)


def test_equal_input_gives_equal_days() -> None:
    picture = shop()
    assert played(picture, swinging_day(picture), EAGER) == played(picture, swinging_day(picture), EAGER)


@pytest.mark.parametrize("policy", [pytest.param(None, id="alone"), pytest.param(EAGER, id="with Ebb")])
def test_on_a_flat_day_without_slack_nothing_moves(policy: Policy | None) -> None:
    told = played(filled(3.6), policy=policy)

    assert (told.evictions, told.drains, told.pending) == (0, 0, 0)
    assert told.node_hours == 6 * 24


@pytest.mark.parametrize("cpu", [0.4, 1.0, 1.6, 2.4, 3.2])
@pytest.mark.parametrize("profile", ["BALANCED", "OPTIMIZE_UTILIZATION"])
def test_a_flat_day_ends_where_the_forecast_ends(cpu: float, profile: str) -> None:
    picture = replace(filled(cpu), profile=profile)
    told = scenarios_of(Situation(picture, ClusterState(), EAGER), {}, load())

    assert played(picture).end_nodes == told.alone.nodes
    assert played(picture, policy=EAGER).end_nodes == told.at_rest.nodes


def test_nodes_are_bought_for_demand_and_go_with_it() -> None:
    picture = shop(3)
    rise = Demand((ReplicaChange(NOW + timedelta(hours=1), "default/ReplicaSet/shop", 24),))
    told = played(picture, rise, lasts=timedelta(hours=2))

    assert told.most_nodes > 3
    assert told.pending > 0
    assert told.longest_wait < 150


def test_a_pod_waits_as_long_as_its_node_boots() -> None:
    picture = filled(3.6, 2)
    job = JobRun(NOW + timedelta(minutes=10), pod_class(owner="Job/j", cpu=2), 1, timedelta(minutes=5))
    told = played(picture, Demand((), (job,)), lasts=timedelta(hours=1))

    assert told.most_nodes == 3
    assert told.end_nodes == 2
    assert 90 <= told.longest_wait <= 111


def test_the_night_is_cheaper_with_ebb_and_the_day_is_the_same() -> None:
    picture = shop(12)
    alone, beside = (played(picture, swinging_day(picture, 80), policy) for policy in (None, EAGER))

    assert beside.node_hours < alone.node_hours
    assert beside.evictions_by_ebb > 0
    assert beside.most_nodes == alone.most_nodes


def test_a_pod_disruption_budget_that_allows_nothing_keeps_its_pods() -> None:
    picture = replace(filled(0.4), disruption_budgets=(pdb("all", min_available=Limit(percent=100)),))

    assert played(picture, policy=EAGER).evictions == 0


def test_a_policy_in_dry_run_is_played_as_if_it_were_at_work() -> None:
    picture = shop(12)
    demand = swinging_day(picture, 80)

    assert played(picture, demand, replace(EAGER, dry_run=True, paused=True)) == played(picture, demand, EAGER)


def test_passes_at_which_nothing_changed_are_not_planned_again() -> None:
    told = played(filled(3.6), policy=EAGER)

    assert told.passes == 288
    assert told.planned < 10
