"""Small worlds whose pods are bound by the scheduler's hard rules: spread, affinity, anti-affinity, host ports, disks.

Five or six nodes in up to three zones. Where a rule leaves some way out, it is narrow: a drain that the plan did not
think through to its end leaves a pod Pending.
"""

from functools import cache
from random import Random
from typing import Any, Final

from tests.faults.worlds import STAYS, Limits, Setting, disk, mounted, setting, workload

HOST: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def spread(app: str, key: str, skew: int = 1, **more: Any) -> dict[str, Any]:
    rule = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", **more}
    return {"topologySpreadConstraints": [{**rule, "labelSelector": {"matchLabels": {"app": app}}}]}


def _term(app: str, key: str) -> list[dict[str, Any]]:
    return [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]


def beside(app: str, key: str) -> dict[str, Any]:
    return {"affinity": {"podAffinity": {_REQUIRED: _term(app, key)}}}


def apart_from(app: str, key: str = HOST) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {_REQUIRED: _term(app, key)}}}


def port(number: int, cpu: int) -> dict[str, Any]:
    requests = {"cpu": f"{cpu}m", "memory": "256Mi"}
    ports = [{"containerPort": number, "hostPort": number, "protocol": "TCP"}]
    return {
        "containers": [{"name": "main", "image": "local/main", "resources": {"requests": requests}, "ports": ports}]
    }


_ONE: Final[dict[str, Any]] = {"pdb": {"maxUnavailable": 1}}


@cache
def rich_settings() -> tuple[Setting, ...]:
    few = Limits(minimum_nodes=2, pool_minimum=0)
    with_disks = Limits(minimum_nodes=2, pool_minimum=0, disk_moves=90.0)
    alone = Limits(pool=1, ceiling=1, minimum_nodes=2, pool_minimum=0)
    small = workload("small", [0, 1, 4], cpu=200)
    return (
        setting("zones", [workload("web", [0, 1, 2, 3, 4, 5], cpu=400, pod=spread("web", ZONE), **_ONE), small],
                nodes=6, zones=3, limits=few),
        setting("hosts", [workload("web", [0, 1, 2, 3], pod=spread("web", HOST), **_ONE), small], limits=few),
        setting("hosts without the tainted",
                [workload("web", [0, 1, 2, 3, 4], cpu=400, pod=spread("web", HOST, nodeTaintsPolicy="Honor"))],
                limits=few),
        setting("hosts and zones", [
            workload("web", [0, 1, 2], cpu=400, pod=spread("web", HOST), **_ONE),
            workload("api", [3, 4, 5], cpu=600, pod=spread("api", ZONE, minDomains=2), **_ONE),
            small], nodes=6, zones=2, limits=few),
        setting("zones, one at a time, and no autoscaler",
                [workload("web", [0, 1, 2, 3], cpu=700, pod=spread("web", ZONE)), small, *_full(5, 1500)],
                nodes=6, zones=3, limits=alone, enabled=False),
        setting("beside its cache", [
            workload("cache", [0, 3], cpu=300, pod=apart_from("cache")),
            workload("web", [0, 0, 3, 3], cpu=200, pod=beside("cache", HOST), **_ONE), small], limits=few),
        setting("in its zone", [
            workload("db", [0, 3], kind="StatefulSet", cpu=300),
            workload("web", [0, 3, 3], cpu=300, pod=beside("db", ZONE), **_ONE), small],
                nodes=6, zones=3, limits=few),
        setting("no room in its zone", [
            workload("db", [0], kind="StatefulSet", cpu=1500, **STAYS),
            workload("web", [2], cpu=500, pod=beside("db", ZONE)),
            workload("stays", [1, 3], cpu=1200, **STAYS)], nodes=4, zones=2, limits=few, unneededTime=200),
        setting("together", [workload("group", [0, 1, 1], cpu=300, pod=beside("group", ZONE)), small,
                             workload("plain", [2, 3, 5], cpu=500, **_ONE)], nodes=6, zones=2, limits=few),
        setting("ports", [workload("edge", [0, 1, 2], cpu=300, pod=port(443, 300), **_ONE),
                          workload("other", [3], cpu=500, pod=port(443, 500)), small], limits=few),
        setting("tight ports", [workload("edge", [0, 1], cpu=300, pod=port(443, 300)),
                                workload("other", [3, 4], cpu=300, pod=port(443, 300), **STAYS), *_full(2, 300)],
                limits=few),
        setting("apart", [workload("web", [0, 1, 2], cpu=400, pod=apart_from("web"), **_ONE),
                          workload("shy", [3], cpu=400, pod=apart_from("web")), small], limits=few),
        setting("disks in their zones", [
            *(workload(f"db{node}", [node], kind="StatefulSet", cpu=300, **mounted(f"data{node}")) for node in (0, 1)),
            workload("web", [2, 3, 4, 5], cpu=400, pod=spread("web", ZONE), **_ONE)],
                nodes=6, zones=3, limits=with_disks, manifests=(*disk("data0"), *disk("data1", "europe-west4-b"))),
        setting("no room where its disk is", [
            workload("db", [2], kind="StatefulSet", cpu=500, **mounted("data")),
            workload("full", [0], cpu=1500, **STAYS), workload("stays", [1, 3], cpu=1200, **STAYS)],
                nodes=4, zones=2, limits=with_disks, manifests=disk("data"), unneededTime=200),
    )  # fmt: skip


def _full(node: int, cpu: int) -> list[dict[str, Any]]:
    return [workload(f"full{node}", [node], cpu=cpu)]


@cache
def drawn_rich(seed: int) -> Setting:
    """A world drawn from a seed; the scheduler has placed most of its first pods, by their own rules."""
    random = Random(seed)  # noqa: S311 - a world, not a secret
    nodes, zones = random.randint(4, 6), random.randint(1, 3)
    limits = Limits(
        pool=random.randint(1, 2), ceiling=random.randint(1, 3), minimum_nodes=random.randint(2, nodes - 1),
        pool_minimum=random.randint(0, 1), starts_per_hour=random.randint(2, 10), disk_moves=90.0,
    )  # fmt: skip
    workloads = [_drawn_workload(random, number, nodes) for number in range(random.randint(2, 4))]
    place, name = random.randrange(nodes), "data"
    db = workload("db", [place], kind="StatefulSet", cpu=300, **mounted(name))
    return setting(
        f"drawn rich {seed}",
        [*workloads, db],
        nodes,
        limits,
        disk(name, f"europe-west4-{'abc'[place % zones]}"),
        zones,
        enabled=random.random() < 0.8,
    )


def _drawn_workload(random: Random, number: int, nodes: int) -> dict[str, Any]:
    name, other = f"app{number}", f"app{random.randrange(number + 1)}"
    cpu, key = random.choice((200, 400, 600)), random.choice((HOST, ZONE))
    rules: list[dict[str, Any]] = [
        {},
        spread(name, key, random.choice((1, 1, 2))),
        spread(name, key, nodeTaintsPolicy="Honor", minDomains=random.randint(1, 3)),
        {"topologySpreadConstraints": [*_hard(spread(name, HOST, 2)), *_hard(spread(name, ZONE))]},
        beside(other, key),
        apart_from(other),
        port(random.choice((443, 8443)), cpu),
    ]
    budgets: list[dict[str, Any]] = [{}, _ONE, {"pdb": {"minAvailable": "50%"}}]
    made = workload(
        name,
        [random.randrange(nodes) for _ in range(random.randint(1, 4))],
        kind=random.choice(["Deployment", "Deployment", "StatefulSet"]),
        cpu=cpu,
        pod=random.choice(rules),
        **random.choice(budgets),
    )
    return made if random.random() < 0.3 else {**made, "nodes": []}


def _hard(rules: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rules["topologySpreadConstraints"]
    return found
