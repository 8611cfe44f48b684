"""The generated clusters of the benches: the same every time, and a scheduler would let every pod lie where it lies."""

import pytest

from infra.local.clocks import ManualClock
from infra.local.scheduling.filters import node_infos_of, refusal
from infra.local.simulated_gke import SimulatedGke
from infra.local.world.kinds import Json
from infra.local.world.pods import disks_of, owner_kind
from tests.bench.beside.comparison import Case, check, measured
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix

MIXES = [Mix.PLAIN, Mix.RICH, Mix.MIXED]


@pytest.mark.parametrize("mix", MIXES)
def test_the_same_call_gives_the_same_cluster(mix: Mix) -> None:
    assert generated(12, mix, seed=3) == generated(12, mix, seed=3)
    assert generated(12, mix, seed=3) != generated(12, mix, seed=4)


@pytest.mark.parametrize("fill", [0.5, 0.9])
@pytest.mark.parametrize("mix", MIXES)
def test_nearly_all_pods_have_a_node_and_the_fill_is_as_asked(mix: Mix, fill: float) -> None:
    cluster = generated(200, mix, fill=fill)
    assert cluster.pods >= 0.97 * sum(workload.replicas for workload in cluster.workloads)
    assert used(cluster) == pytest.approx(fill, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_no_filter_of_the_scheduler_refuses_a_pod_the_node_it_lies_on(seed: int) -> None:
    cloud = SimulatedGke(scenario_of(generated(12, Mix.RICH, seed=seed), profile="BALANCED"), ManualClock())
    store = cloud.world.store
    nodes, pods = store.all("nodes"), store.all("pods")

    def refused(pod: Json) -> str | None:
        others = [other for other in pods if other is not pod]
        infos = node_infos_of(nodes, others, disks_of(store.all))
        return refusal(pod, infos.by_name[pod["spec"]["nodeName"]], infos)

    said = {pod["metadata"]["name"]: refused(pod) for pod in pods if owner_kind(pod) != "DaemonSet"}
    assert {name: why for name, why in said.items() if why is not None} == {}
    assert len(said) > 100


def test_a_third_of_the_deployments_spread_and_every_rule_is_drawn() -> None:
    workloads = generated(1000, Mix.RICH).workloads
    deployments = [workload for workload in workloads if workload.kind == "Deployment"]
    spread = [workload for workload in deployments if workload.zone_skew or workload.host_skew]
    assert len(spread) / len(deployments) == pytest.approx(1 / 3, abs=0.03)
    rules = ("zone_skew", "host_skew", "apart", "near", "port", "disk")
    assert all(any(getattr(workload, rule) for workload in workloads) for rule in rules)
    assert not any(workload.constrained for workload in generated(1000, Mix.PLAIN).workloads)


@pytest.mark.deep
def test_next_to_the_autoscaler_every_run_reaches_a_steady_state_with_all_pods_on_nodes() -> None:
    case = Case(Mix.PLAIN, 10, 0.65, 1)
    rests = measured(case)
    check(case, rests)
    assert rests["Ebb + 50"].cost < rests["autoscaler 50"].cost


def used(cluster: BenchCluster) -> float:
    booked = sum(workload.cpu * len(cluster.places[workload.name]) for workload in cluster.workloads)
    return booked / sum(node.cpu for node in cluster.nodes)
