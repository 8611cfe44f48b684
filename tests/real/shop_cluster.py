"""The cluster of the end-to-end test: twenty half-empty nodes, some eighty pods, PDBs."""

from functools import partial

from infra.local.world.pods import is_healthy
from tests.real.control_plane.api import Api
from tests.real.control_plane.manifests import Manifest, deployment, disruption_budget, namespace, nodes, paced
from tests.real.installation import policy_text, simulated_pool
from tests.real.waiting import until

POOL = "shop"
NAMESPACE = "shop"
NODES = 20
APPS = 10
REPLICAS = 8
POOLS = {POOL: simulated_pool(POOL, 3, 40)}
LIMITS = {"minimumNodes": 5, "rate": {"nodes": "100%", "per": "1h"}}
DRAIN = {"timeout": "2m", "watchdog": "2m"}
policy = partial(policy_text, POOL, 4, DRAIN, excessNodesThreshold=1, maxNodesPerPass=2)


def populate(api: Api, **pace: str) -> None:
    """Make the nodes and workloads, whose pods have a pace of their own, and wait until all pods are Ready."""
    api.create([namespace(NAMESPACE)])
    api.create(nodes(NODES, pool=POOL))
    api.create(workloads(**pace))
    until(f"{APPS * REPLICAS} ready pods", lambda: len(ready_pods(api)) == APPS * REPLICAS)
    until(
        "PDBs that count them",
        lambda: all(pdb["status"].get("currentHealthy") == REPLICAS for pdb in api.budgets(NAMESPACE)),
    )


def workloads(**pace: str) -> list[Manifest]:
    """Ten Deployments of eight pods; every second one has a PDB that lets one pod go at a time."""
    made = []
    for number in range(APPS):
        name = f"app-{number}"
        app = deployment(name, namespace=NAMESPACE, replicas=REPLICAS, cpu="300m", memory="600Mi", grace=2)
        made.append(paced(app, **pace))
        if number % 2 == 0:
            made.append(disruption_budget(name, namespace=NAMESPACE, maxUnavailable=1))
    return made


def ready_pods(api: Api) -> list[Manifest]:
    return list(filter(is_healthy, api.pods(NAMESPACE)))
