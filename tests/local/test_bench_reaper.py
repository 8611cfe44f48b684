"""The bench of the reaper: beside one nobody but Ebb evicts, no order is lost, and nodes go within minutes."""

from statistics import median

from infra.local.scenario import Scenario
from tests.bench.beside.comparison import Case
from tests.bench.beside.reaper import beside, check, reaped
from tests.bench.clusters.generated import generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix


def scenario() -> Scenario:
    cluster = generated(8, Mix.PLAIN, fill=0.45, pods_a_node=4, seed=1, machines=("e2-standard-4",))
    return scenario_of(cluster, profile="BALANCED")


def test_a_reaper_leaves_all_but_empty_nodes_to_ebb_and_deletes_those_within_minutes() -> None:
    case = Case(Mix.PLAIN, 8, 0.45, 1)
    alone, raced = beside(reaped(scenario())), beside(scenario())

    check(case, "reaps", alone)
    assert alone.lost == {}
    assert alone.minutes
    assert median(alone.minutes) < 4
    assert (raced.by_autoscaler > 0, raced.minutes) == (True, ()), "what it announces is left to it"
