"""The simulated day against the truth: the same day on the simulated GKE in virtual time, alone and with Ebb.

Demand falls at night and comes back; the autoscaler buys, and removes; Ebb is the production planner and drainer. Both
worlds begin with the same picture and hear the same wishes. What differs is luck that no model knows: which of equal
nodes the scheduler takes and which of equal pods a ReplicaSet gives up, so that a large node may stay where a small one
did. A day in which the autoscaler's first fit took another node than here is told apart in `LUCK`.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import pytest

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.patterns import Curve, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Delays
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from tests.bench.beside.reaper import reaped
from tests.bench.clusters.generated import generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix
from tests.depth import first_of
from tests.local.day_on_gke import DayOnGke, TrueDay

DAY: Final = timedelta(days=1)
INTERVAL: Final = 300.0
SECOND: Final = timedelta(seconds=1)
DELAYS: Final = Delays(boot=20 * SECOND, ready=4 * SECOND, longest_end=2 * SECOND)
"""Those of the simulated GKE."""
NOBODY: Final = ""
EBB: Final = """\
dryRun: false
cluster: {timeSinceLastAddition: 0s}
defaults: {minimumNodeAge: 0s, excessNodesThreshold: 0, scaleDownRequiredUnderutilizedNodeCount: 1}
nodePools:
"""
NODES, SHARE = 1.0, 0.03


@dataclass(frozen=True)
class Case:
    seed: int
    night: int
    profile: str = "BALANCED"
    mix: Mix = Mix.PLAIN
    reaps: bool = False
    """Whether the autoscaler only deletes empty nodes, by their ComputeClass."""

    def played(self, rules: str) -> tuple[TrueDay, PlayedTotals]:
        """Return the day on the simulated GKE, and the simulated one."""
        machines = ("e2-standard-4", "e2-standard-8")
        cluster = generated(10, self.mix, fill=0.7, pods_a_node=6, seed=self.seed, machines=machines)
        scenario = scenario_of(cluster, profile=self.profile)
        gke = DayOnGke(reaped(scenario) if self.reaps else scenario, rules, INTERVAL)
        picture = replace(gke.picture(), profile=self.profile)
        demand = by_curve(swinging(picture, self.night), Curve(), picture.taken_at, DAY)
        policy = _policy(rules, picture) if rules else None
        told = simulate(Days(picture, load(), demand, DAY, DELAYS), policy)
        return gke.live_through(demand.changes, DAY), told


def _policy(rules: str, picture: Snapshot) -> Policy:
    pools = "".join(f'  "{pool}": {{enabled: true}}\n' for pool in picture.nodes_by_pool)
    return parse(f"{rules}{pools}".encode())


CASES: Final = [
    pytest.param(case, id=f"{case.mix.value} {case.seed} {case.profile}")
    for case in (
        Case(3, 70, "OPTIMIZE_UTILIZATION"),
        Case(1, 50),
        Case(2, 60),
        Case(4, 60, mix=Mix.RICH),
        Case(6, 40, mix=Mix.RICH),
        Case(8, 60, mix=Mix.RICH),
        Case(9, 60),
        Case(12, 50, reaps=True),
    )
]
LUCK: Final = [
    pytest.param(Case(7, 50, "OPTIMIZE_UTILIZATION"), id="a large node"),
    pytest.param(Case(10, 50, mix=Mix.RICH), id="a node more"),
]


@pytest.mark.parametrize("rules", [pytest.param(NOBODY, id="alone"), pytest.param(EBB, id="with Ebb")])
@pytest.mark.parametrize("case", first_of(1, CASES))
def test_the_simulated_day_is_that_of_the_cluster(case: Case, rules: str) -> None:
    true, told = case.played(rules)

    assert abs(told.mean_nodes - true.mean_nodes) <= NODES
    assert abs(told.end_nodes - true.series[-1][1]) <= NODES
    assert abs(told.cost - true.cost) <= SHARE * true.cost


@pytest.mark.parametrize("case", first_of(0, LUCK))
def test_luck_costs_a_node_at_most(case: Case) -> None:
    true, told = case.played(NOBODY)

    assert abs(told.mean_nodes - true.mean_nodes) <= NODES
    assert abs(told.cost - true.cost) <= 0.07 * true.cost
