"""Ebb's own adapters over HTTP against the demo scenario: what they read, cordon, evict and give back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.local.scenario import DEMO, load
from infra.local.servers import SimulatedGkeServers
from shared.adapters.gke import GkeCluster
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.core.records.drain_record import EvictionAnswer

KINDS = ("nodes", "pods", "poddisruptionbudgets")
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture(scope="module")
def gke() -> Iterator[SimulatedGkeServers]:
    running = SimulatedGkeServers(load(DEMO))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def cluster(gke: SimulatedGkeServers, tmp_path: Path) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(from_kubeconfig(gke.addresses(tmp_path)["kubeconfig"])))


def test_the_snapshot_has_everything(cluster: KubernetesCluster, gke: SimulatedGkeServers) -> None:
    store = gke.cloud.world.store
    there = {kind: {thing["metadata"]["name"] for thing in store.all(kind)} for kind in KINDS}
    reading = cluster.read()
    read = (reading.nodes, reading.pods, reading.disruption_budgets)
    assert [{thing.name for thing in things} for things in read] == [there[kind] for kind in KINDS]
    assert set(reading.namespaces) == {"back", "batch", "default", "kube-system", "shop"}


def test_the_pools_are_read_with_their_limits(gke: SimulatedGkeServers) -> None:
    told = GkeCluster(gke.cloud.cluster.name, api=gke.gke.base).describe()
    assert (set(told.pools.pools), told.pools.profile) == ({"web", "backend", "batch"}, "BALANCED")


def test_a_node_is_taken_and_returned(cluster: KubernetesCluster, gke: SimulatedGkeServers) -> None:
    name = gke.cloud.node_names["backend"][0]
    before = gke.cloud.world.store.get("nodes", "", name)["spec"]
    taken = cluster.take(cluster.node(name), "o1", NOW)
    assert gke.cloud.world.store.get("nodes", "", name)["spec"]["unschedulable"] is True
    cluster.note(taken, "Cordoned", "for a test")
    cluster.return_node(cluster.node(name), "o1")
    after = gke.cloud.world.store.get("nodes", "", name)["spec"]
    assert (after.get("unschedulable", False), after.get("taints", [])) == (False, before.get("taints", []))


def test_a_budget_that_reads_one_holds_back_the_second_eviction(
    cluster: KubernetesCluster, gke: SimulatedGkeServers
) -> None:
    pods = [pod for pod in cluster.pods_on(gke.cloud.node_names["web"][10]) if pod.name.startswith("sessions-")]
    dry = [cluster.evict(pod, 5, dry_run=True).answer for pod in pods]
    answers = [cluster.evict(pod, 5).answer for pod in pods]
    assert dry == [EvictionAnswer.GRANTED, EvictionAnswer.GRANTED]
    assert answers == [EvictionAnswer.GRANTED, EvictionAnswer.BUDGET]
