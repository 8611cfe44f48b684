"""The production adapters on the simulated GKE: pools, and budgets that never allow."""

from threading import Lock
from typing import Any

import msgspec
import pytest

from infra.local.clocks import ManualClock
from infra.local.scenario import DEMO, load
from infra.local.servers import HttpServer
from infra.local.simulated_gke import SimulatedGke
from shared.adapters.gke import GkeCluster
from shared.adapters.kubernetes import node_objects, wire
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.reasons import PodBlock
from shared.core.rules.drain_context import never_allows
from tests.local.virtual_cluster import VirtualCluster, budget, node, pod, workload


def test_the_pools_are_read_with_their_limits() -> None:
    cluster = SimulatedGke(load(DEMO), ManualClock()).cluster
    server = HttpServer(cluster.handle, Lock())
    server.start()
    told = GkeCluster(cluster.name, api=server.base).read()
    server.stop()

    least = {name: pool.min_per_zone for name, pool in told.pools.items()}
    assert (least, told.profile) == ({"web": 1, "backend": 1, "batch": 0}, "BALANCED")


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
