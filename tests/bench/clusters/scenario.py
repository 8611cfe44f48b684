"""A generated cluster as a scenario; one StatefulSet for each replica with a disk, for it knows no claim templates."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from infra.local.scenario import Scenario
from tests.bench.clusters.generated import DAEMON_CPU, DAEMON_MEMORY, ZONES, BenchCluster
from tests.bench.clusters.specs import annotations_of, bound_claim, claim_name, container_of, labels_of, rules_of
from tests.bench.clusters.workloads import BenchWorkload

Json = dict[str, Any]


def scenario_of(cluster: BenchCluster, *, profile: str, **more: Any) -> Scenario:
    document = {
        "profile": profile,
        "pools": _pools(cluster),
        "workloads": [_daemons(), *_workloads(cluster)],
        "manifests": list(_manifests(cluster)),
        **more,
    }
    return Scenario.model_validate(document)


def _pools(cluster: BenchCluster) -> list[Json]:
    counts = Counter((node.pool, node.machine) for node in cluster.nodes)
    limits = {"minNodeCount": 0, "maxNodeCount": 1000}
    return [
        {"name": pool, "machineType": machine, "count": count, "zones": list(ZONES), "autoscaling": limits}
        for (pool, machine), count in counts.items()
    ]


def _daemons() -> Json:
    requests = {"cpu": f"{DAEMON_CPU}m", "memory": f"{DAEMON_MEMORY}Mi"}
    return {"kind": "DaemonSet", "name": "agent", "namespace": "kube-system", "requests": requests,
            "pod": {"tolerations": [{"operator": "Exists"}]}}  # fmt: skip


def _workloads(cluster: BenchCluster) -> Iterator[Json]:
    entries = _entries(cluster)
    for workload in cluster.workloads:
        nodes = [entries[place] for place in cluster.places[workload.name]]
        if workload.disk:
            for number, node in enumerate(nodes):
                yield _workload(workload, f"{workload.name}-{number}", [node])
        elif nodes:
            yield _workload(workload, workload.name, nodes)


def _workload(workload: BenchWorkload, name: str, nodes: list[str]) -> Json:
    rules = rules_of(workload, claim=claim_name(name))
    return {
        "kind": "StatefulSet" if workload.disk else workload.kind,
        "name": name,
        "replicas": len(nodes),
        "labels": labels_of(workload),
        "annotations": annotations_of(workload),
        "nodes": nodes,
        "pod": {**rules, "containers": [container_of(workload)]},
        **({"pdb": {"maxUnavailable": _limit(workload.budget)}} if workload.budget else {}),
    }


def _limit(written: str) -> int | str:
    return int(written) if written.isdigit() else written


def _entries(cluster: BenchCluster) -> list[str]:
    seen: defaultdict[str, int] = defaultdict(int)
    entries = list[str]()
    for node in cluster.nodes:
        entries.append(f"{node.pool}/{seen[node.pool]}")
        seen[node.pool] += 1
    return entries


def _manifests(cluster: BenchCluster) -> Iterator[Json]:
    for workload in cluster.workloads:
        if workload.disk:
            for number, place in enumerate(cluster.places[workload.name]):
                yield from bound_claim(f"{workload.name}-{number}", cluster.nodes[place].zone)
