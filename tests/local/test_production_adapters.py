"""The production adapters on the simulated GKE: budgets that never allow, limits of namespaces, and whole reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.local.scenario import DEMO, load
from infra.local.servers import SimulatedGkeServers
from infra.local.world.kinds import Json
from infra.local.world.store import NotAdmittedError
from shared.adapters.gke import GkeCluster
from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.reasons import PodBlock
from shared.core.records.drain_record import EvictionAnswer
from shared.core.rules.disruption_budgets import never_allows
from tests.local.admission import admit
from tests.local.virtual_cluster import VirtualCluster, budget, node, pod, workload


@pytest.fixture(scope="module")
def gke() -> Iterator[SimulatedGkeServers]:
    running = SimulatedGkeServers(load(DEMO))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def cluster(gke: SimulatedGkeServers, tmp_path: Path) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(from_kubeconfig(gke.addresses(tmp_path)["kubeconfig"])))


def test_the_pools_are_read_with_their_limits(gke: SimulatedGkeServers) -> None:
    told = GkeCluster(gke.cloud.cluster.name, api=gke.gke.base).describe()
    assert (set(told.pools.pools), told.pools.profile) == ({"web", "backend", "batch"}, "BALANCED")


def test_a_budget_that_reads_one_holds_back_the_second_eviction(
    cluster: KubernetesCluster, gke: SimulatedGkeServers
) -> None:
    pods = [pod for pod in cluster.pods_on(gke.cloud.node_names["web"][10]) if pod.name.startswith("sessions-")]
    dry = [cluster.evict(pod, 5, dry_run=True).answer for pod in pods]
    answers = [cluster.evict(pod, 5).answer for pod in pods]
    assert dry == [EvictionAnswer.GRANTED, EvictionAnswer.GRANTED]
    assert answers == [EvictionAnswer.GRANTED, EvictionAnswer.BUDGET]


SHARES = ("0%", "1%", "33%", "34%", "50%", "66%", "67%", "99%", "100%")
SPECS: tuple[dict[str, Any], ...] = (
    {},
    *({key: value} for key in ("minAvailable", "maxUnavailable") for value in (0, 1, 2, 3, 4, *SHARES)),
)


@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_rule_and_the_controller_agree_on_what_is_never_allowed(spec: dict[str, Any], replicas: int) -> None:
    virtual = VirtualCluster([node("a", cpu="8")])
    virtual.add("deployments", workload(replicas=replicas))
    virtual.add("poddisruptionbudgets", budget(**spec))
    virtual.run(4)

    written = virtual.store.get("poddisruptionbudgets", "default", "guard")
    found = node_objects.disruption_budget(msgspec.convert(written, wire.PodDisruptionBudget))

    assert (found.observed, found.current_healthy) == (True, replicas)
    never = found.disruptions_allowed == 0
    assert {bool(never_allows(found, known)) for known in (UNKNOWN, Workload("web", replicas))} == {never}


@pytest.mark.parametrize("spec", [{"maxUnavailable": 1}, {"minAvailable": "50%"}, {"minAvailable": 1}], ids=str)
@pytest.mark.parametrize("owner", ["nobody", "DaemonSet"])
def test_they_agree_on_pods_that_no_scale_counts(spec: dict[str, Any], owner: str) -> None:
    virtual = VirtualCluster([node("a", cpu="8"), node("b", cpu="8")])
    if owner == "DaemonSet":
        virtual.add("daemonsets", workload(replicas=None))
    else:
        for name in ("one", "two"):
            virtual.add("pods", pod(name, on="a", phase="Running", app="web"))
    virtual.add("poddisruptionbudgets", budget(**spec))
    virtual.run(4)

    written = virtual.store.get("poddisruptionbudgets", "default", "guard")
    found = node_objects.disruption_budget(msgspec.convert(written, wire.PodDisruptionBudget))

    asks_for_a_share = spec != {"minAvailable": 1}
    assert found.disruptions_allowed == (0 if asks_for_a_share else 1)
    assert never_allows(found, UNKNOWN) == (PodBlock.PDB_UNCOUNTED if asks_for_a_share else None)


META = {"name": "team", "namespace": "default"}


def limit_range(kind: str = "Container", **row: Any) -> Json:
    return {"metadata": META, "spec": {"limits": [{"type": kind, **row}]}}


def quota(**hard: str) -> Json:
    return {"metadata": META, "spec": {"hard": hard}}


def limited_pod(requests: Json | None = None, limits: Json | None = None) -> Json:
    container = {"name": "main", "resources": {"requests": requests or {}, "limits": limits or {}}}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": {"containers": [container]}}


@pytest.mark.parametrize(
    ("expected", "row"),
    [
        pytest.param({"cpu": "1"}, {"defaultRequest": {"cpu": "1"}}, id="the default"),
        pytest.param({"cpu": "2"}, {"default": {"cpu": "2"}}, id="the default limit"),
        pytest.param({"cpu": "3"}, {"max": {"cpu": "3"}}, id="the most"),
        pytest.param({"cpu": "1"}, {"min": {"cpu": "1"}}, id="the least"),
        pytest.param({"memory": "1Gi"}, {"defaultRequest": {"memory": "1Gi"}}, id="of what is not shown"),
    ],
)
def test_a_new_pod_has_the_defaults_of_its_namespace(expected: Json, row: Json) -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add("limitranges", limit_range(**row))
    made = virtual.store.create("pods", limited_pod(), "test")

    assert made["spec"]["containers"][0]["resources"]["requests"] == expected


@pytest.mark.parametrize(
    ("plural", "limits"),
    [
        pytest.param("limitranges", limit_range(min={"cpu": "2"}), id="less than the least"),
        pytest.param("limitranges", limit_range(max={"cpu": "500m"}), id="more than the most"),
        pytest.param("limitranges", limit_range(maxLimitRequestRatio={"cpu": "1"}), id="a limit too far above"),
        pytest.param("limitranges", limit_range("Pod", max={"cpu": "500m"}), id="the pod more than the most"),
        pytest.param("resourcequotas", quota(**{"requests.cpu": "500m"}), id="more than a quota"),
        pytest.param("resourcequotas", quota(pods="0"), id="one more than a quota"),
    ],
)
def test_a_pod_that_is_too_much_is_not_let_in(plural: str, limits: Json) -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add(plural, limits)

    with pytest.raises(NotAdmittedError):
        virtual.store.create("pods", limited_pod({"cpu": "1"}, {"cpu": "2"}), "test")


def test_a_quota_counts_a_pod_until_it_is_gone_and_then_lets_another_in() -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add("deployments", workload(replicas=1))
    virtual.run(6)
    virtual.add("resourcequotas", quota(pods="1", **{"requests.cpu": "8"}))
    virtual.run(1)
    told = virtual.store.get("resourcequotas", "default", "team")["status"]
    assert told == {"hard": {"pods": "1", "requests.cpu": "8"}, "used": {"pods": "1", "requests.cpu": "1000m"}}

    (old,) = virtual.pods()
    virtual.evict(old["metadata"]["name"], gracePeriodSeconds=8)
    virtual.run(2)
    assert [item["metadata"]["name"] for item in virtual.pods()] == [old["metadata"]["name"]]
    virtual.run(20)
    assert [item["metadata"]["name"] for item in virtual.pods()] != [old["metadata"]["name"]]
