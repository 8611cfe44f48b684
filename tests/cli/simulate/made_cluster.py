"""A made-up cluster of any size; the same nodes and seed give the same."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Owner, Pod, PodClass
from shared.core.cluster.resources import CPU, MEMORY, PODS, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload

NAME: Final = "one pool of e2-standard-8"
BEGINS: Final = datetime(2026, 3, 2, tzinfo=UTC)
_POOL, _MACHINE = "web", "e2-standard-8"
_ZONES: Final = ("europe-west4-a", "europe-west4-b", "europe-west4-c")
_CPU, _MEMORY = 7910, 27 << 30
_SIZES: Final = ((250, 512), (500, 1024), (500, 2048), (1000, 2048), (1000, 4096), (2000, 4096))
"""Millicores and MiB that a pod asks for."""
_FILL: Final = 0.8
_AGE: Final = timedelta(days=10)
_AGENT: Final = PodClass(
    names.KUBE_SYSTEM, Owner("DaemonSet", "agent"), requests=Resources.of({CPU: 100, MEMORY: 200 << 20})
)


@dataclass
class _Room:
    """What is free on the nodes as they fill."""

    cpu: list[int]
    memory: list[int]
    pods: list[Pod] = field(default_factory=list)
    replicas: Counter[str] = field(default_factory=Counter)


def make_cluster(nodes: int, seed: int, at: datetime | None) -> Snapshot:
    now = at or BEGINS
    rows = [_node(number, now) for number in range(nodes)]
    room = _Room([_CPU - 100] * nodes, [_MEMORY - (200 << 20)] * nodes)
    room.pods += [_pod(f"agent-{row.name}", _AGENT, row.name, now) for row in rows]
    random = Random(seed)  # noqa: S311 - a made-up cluster, no secret
    number = 0
    while sum(room.cpu) > nodes * _CPU * (1 - _FILL):
        number += 1
        _deploy(number, random, rows, room, now)
    return Snapshot(
        "a generated cluster", now, now, tuple(rows), tuple(sorted(room.pods, key=lambda pod: pod.key)),
        pools={_POOL: NodePool(_POOL, min_per_zone=1)},
        workloads={
            f"shop/ReplicaSet/{name}": Workload(f"shop/Deployment/{name}", many, many, rolling=False, created=many)
            for name, many in room.replicas.items()
        },
    )  # fmt: skip


def _deploy(number: int, random: Random, rows: list[Node], room: _Room, now: datetime) -> None:
    cpu, mib = random.choice(_SIZES)
    name = f"app-{number:03d}"
    spec = PodClass(
        "shop", Owner("ReplicaSet", name), {"app": name}, requests=Resources.of({CPU: cpu, MEMORY: mib << 20})
    )
    for replica in range(random.choice((2, 3, 4, 6, 8, 12))):
        fitting = [place for place in range(len(rows)) if room.cpu[place] >= cpu and room.memory[place] >= mib << 20]
        if not fitting:
            return
        place = max(random.sample(fitting, min(3, len(fitting))), key=lambda place: room.cpu[place])
        room.cpu[place] -= cpu
        room.memory[place] -= mib << 20
        room.pods.append(_pod(f"{name}-{replica:02d}", spec, rows[place].name, now))
        room.replicas[name] += 1


def _node(number: int, now: datetime) -> Node:
    zone = _ZONES[number % len(_ZONES)]
    name = f"{_POOL}-{zone[-1]}-{number:04d}"
    labels = {
        names.POOL_LABEL: _POOL, names.ZONE_LABEL: zone, names.HOSTNAME_LABEL: name, names.MACHINE_LABEL: _MACHINE,
    }  # fmt: skip
    offers = Resources.of({CPU: _CPU, MEMORY: _MEMORY, PODS: 110})
    return Node(name, name, now - _AGE, "1", labels, allocatable=offers)


def _pod(name: str, spec: PodClass, node: str, now: datetime) -> Pod:
    return Pod(name, name, spec, node, created=now - _AGE, started=now - _AGE)
