"""Sixty nodes in three zones whose Deployments are bound by the scheduler's hard rules; about 230 pods."""

from infra.local.world.pods import is_ready
from tests.faults.rich_worlds import HOST, ZONE, apart_from, beside, spread
from tests.real.control_plane.api import Api
from tests.real.control_plane.manifests import Manifest, deployment, disruption_budget, namespace, node
from tests.real.installation import simulated_pool
from tests.real.waiting import until

POOL = NAMESPACE = "rich"
NODES = 60
ZONES = tuple(f"europe-west4-{zone}" for zone in "abc")
POOLS = {POOL: simulated_pool(POOL, 1, NODES)}


def populate(api: Api) -> None:
    api.create([namespace(NAMESPACE)])
    api.create(node(f"gke-local-{POOL}-{number:04d}", pool=POOL, zone=ZONES[number % 3]) for number in range(NODES))
    api.create(workloads())
    until("every pod ready", lambda: is_calm(api))
    until(
        "PDBs that count them", lambda: all(budget["status"].get("currentHealthy") for budget in api.budgets(NAMESPACE))
    )


def workloads() -> list[Manifest]:
    """Each hard rule in a few Deployments; every second one has a PDB that lets one pod go at a time."""
    made = [
        *(_app(f"zones-{n}", 6, spread(f"zones-{n}", ZONE)) for n in range(8)),
        *(_app(f"hosts-{n}", 10, spread(f"hosts-{n}", HOST)) for n in range(3)),
        *(_app(f"honest-{n}", 12, spread(f"honest-{n}", HOST, nodeTaintsPolicy="Honor")) for n in range(2)),
        *(_app(f"edge-{n}", 4, ports=(8443 + n % 2,)) for n in range(4)),
        *(_app(f"apart-{n}", 5, apart_from(f"apart-{n}")) for n in range(3)),
        *(_app(f"cache-{n}", 2) for n in range(3)),
        *(_app(f"beside-{n}", 4, beside(f"cache-{n}", ZONE)) for n in range(3)),
        *(_app(f"plain-{n}", 5) for n in range(8)),
    ]
    names = [workload["metadata"]["name"] for workload in made]
    return [*made, *(disruption_budget(name, namespace=NAMESPACE, maxUnavailable=1) for name in names[::2])]


def is_calm(api: Api) -> bool:
    pods = api.pods(NAMESPACE)
    return len(pods) == sum(controller["spec"]["replicas"] for controller in api.deployments(NAMESPACE)) and all(
        map(is_ready, pods)
    )


def _app(name: str, replicas: int, pod: Manifest | None = None, ports: tuple[int, ...] = ()) -> Manifest:
    made = deployment(name, namespace=NAMESPACE, replicas=replicas, cpu="350m", memory="500Mi", grace=2, pod=pod)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    return made
