"""The scenarios against the simulated GKE in steady state, its autoscaler alone and together with Ebb.

Twenty clusters, plain and rich in rules, under both profiles; Ebb in a hurry (budgets of a tenth, a pass a minute) and
at the pace of its defaults (a node of each pool and pass, ten minutes between). What is left may differ by a node or
3 %: pods of one moment reach the scheduler in an order that no forecast knows, and lie elsewhere then.
"""

from dataclasses import dataclass, replace
from typing import Final

import msgspec
import pytest

from functions.cli.analysis.forecast.scenarios import Scenario, Scenarios, scenarios_of
from functions.cli.analysis.forecast.steady_state import find_steady_state
from shared.adapters.kubernetes import buffer_objects
from shared.adapters.kubernetes.buffer_objects import classes_of
from shared.adapters.prices import load
from shared.core.cluster.names import COMPUTE_CLASS_LABEL
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.parsing import parse
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.beside.runs import INTERVAL, POLICY, REAPER, Rest, autoscaler_alone, reaped, with_ebb
from tests.bench.clusters.api import snapshot
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix
from tests.bench.days.population import PROFILES
from tests.depth import first_of

DEFAULT_PACE: Final = """\
dryRun: false
cluster: {timeSinceLastAddition: 0s}
defaults: {minimumNodeAge: 0s, excessNodesThreshold: 0}
nodePools:
"""
OPEN, CALM = (POLICY, INTERVAL), (DEFAULT_PACE, 300.0)
FILLS: Final = (0.4, 0.5, 0.6, 0.7)
SHARE: Final = 0.03
REAPED: Final = (4, 5)
"""Seeds: one of each profile and pace."""


@dataclass(frozen=True)
class Case:
    """One generated cluster, and how Ebb is set on it."""

    seed: int
    mix: Mix
    profile: str
    rules: str
    interval: float
    reaps: bool = False
    """Whether the autoscaler only deletes empty nodes, by their ComputeClass."""

    @property
    def cluster(self) -> BenchCluster:
        machines = ("e2-standard-4", "e2-standard-8")
        fill, nodes = FILLS[self.seed % len(FILLS)], 9 + self.seed % 4
        return generated(nodes, self.mix, fill=fill, pods_a_node=5, seed=self.seed, machines=machines)


CASES: Final = [
    Case(seed, mix, PROFILES[seed % 3 == 2], *(CALM if seed % 2 else OPEN), reaps=seed in REAPED)
    for seed in range(10)
    for mix in (Mix.PLAIN, Mix.RICH)
]

ROWS: Final = first_of(5, [pytest.param(case, id=f"{case.mix.value} {case.seed}") for case in CASES])


def forecast(case: Case, given: Snapshot) -> Scenarios:
    picture = of_reaper(given) if case.reaps else given
    pools = "".join(f'  "{pool}": {{enabled: true}}\n' for pool in picture.nodes_by_pool)
    policy = parse(f"{case.rules}{pools}".encode())
    situation = Situation(replace(picture, profile=case.profile), ClusterState(), policy)
    return scenarios_of(find_steady_state(situation, {}, load()))


def of_reaper(picture: Snapshot) -> Snapshot:
    """Return the picture as it is read of `reaped` clusters."""
    labelled = (replace(node, labels={**node.labels, COMPUTE_CLASS_LABEL: "reaper"}) for node in picture.nodes)
    classes = classes_of((msgspec.convert(REAPER, buffer_objects.ComputeClass),))
    return replace(picture, nodes=tuple(labelled), compute_classes=classes)


def is_near(told: Scenario, truth: Rest) -> bool:
    """Whether the nodes agree, or the money: a large node may stay for two small ones, as the dice have it."""
    nodes, cost = abs(told.nodes - truth.nodes), abs(told.cost - truth.cost)
    return nodes <= max(1, round(SHARE * truth.nodes)) or cost <= SHARE * truth.cost


@pytest.mark.parametrize("case", ROWS)
def test_the_scenarios_are_how_the_cluster_ends(case: Case) -> None:
    cluster = case.cluster
    told, plain = forecast(case, snapshot(cluster)), scenario_of(cluster, profile=case.profile)
    scenario = reaped(plain) if case.reaps else plain

    alone, beside = autoscaler_alone(scenario), with_ebb(scenario, case.rules, case.interval)
    assert alone.is_rest
    assert beside.is_rest
    assert is_near(told.alone, alone), (told.alone, alone)
    assert is_near(told.at_rest, beside), (told.at_rest, beside)
    assert told.bound.nodes <= min(alone.nodes, beside.nodes)
    assert told.bound.cost <= min(alone.cost, beside.cost)
