"""Judges a plan by what the generator knows, fast enough for the largest clusters; leaves affinity out."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.bench.clusters.generated import BenchCluster
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.workloads import BenchWorkload

_MOST_PODS = 110
_MOST_DISKS = 15


@dataclass(frozen=True)
class _Lying:
    key: str
    workload: BenchWorkload
    begun: BenchNode
    node: BenchNode
    moved: bool


def faults(cluster: BenchCluster, moves: Mapping[str, str], drained: Collection[str]) -> list[str]:
    """Judge `moves` (pod key to node name) that empty the drained nodes; an empty answer means that they hold."""
    lying = list(_lying(cluster, moves))
    return [*_places(lying, drained), *_amounts(lying), *_apart(lying), *_spread(cluster, lying)]


def _lying(cluster: BenchCluster, moves: Mapping[str, str]) -> Iterator[_Lying]:
    nodes = {node.name: node for node in cluster.nodes}
    for workload in cluster.workloads:
        for number, place in enumerate(cluster.places[workload.name]):
            key, begun = f"default/{workload.name}-{number}", cluster.nodes[place]
            yield _Lying(key, workload, begun, nodes[moves.get(key, begun.name)], key in moves)


def _places(lying: Collection[_Lying], drained: Collection[str]) -> Iterator[str]:
    for pod in lying:
        if pod.node.name in drained:
            yield f"{pod.key} lies on {pod.node.name}, which is drained"
        if pod.moved and pod.begun.name not in drained:
            yield f"{pod.key} was moved off {pod.begun.name}, which stays"
        if pod.workload.disk and pod.node.zone != pod.begun.zone:
            yield f"{pod.key} left the zone of its disk"


def _amounts(lying: Collection[_Lying]) -> Iterator[str]:
    used: defaultdict[BenchNode, Counter[str]] = defaultdict(Counter)
    for pod in lying:
        asked = {"cpu": pod.workload.cpu, "memory": pod.workload.memory, "pods": 1, "disks": int(pod.workload.disk)}
        used[pod.node].update(asked)
    for node, amounts in used.items():
        most = {"cpu": node.cpu, "memory": node.memory, "pods": _MOST_PODS - 1, "disks": _MOST_DISKS}
        yield from (f"{node.name} holds {amounts[name]} {name}" for name in most if amounts[name] > most[name])


def _apart(lying: Collection[_Lying]) -> Iterator[str]:
    for what in ("apart", "port"):
        there = Counter((pod.node.name, getattr(pod.workload, what)) for pod in lying)
        yield from (f"{count} pods of {what} {word} on {node}" for (node, word), count in there.items()
                    if word and count > 1)  # fmt: skip


def _spread(cluster: BenchCluster, lying: Collection[_Lying]) -> Iterator[str]:
    """Every zone has counted all the time; a host counts for as many pods as the emptiest that remains allows."""
    pods: defaultdict[str, list[_Lying]] = defaultdict(list)
    for pod in lying:
        if pod.workload.zone_skew or pod.workload.host_skew:
            pods[pod.workload.name].append(pod)
    zones = {node.zone for node in cluster.nodes}
    for name, own in pods.items():
        workload, by_zone = own[0].workload, Counter(pod.node.zone for pod in own)
        if workload.zone_skew and max(by_zone.values()) - min(by_zone[zone] for zone in zones) > workload.zone_skew:
            yield f"{name} lies {dict(by_zone)}"
        by_host = Counter(pod.node.name for pod in own)
        if workload.host_skew and len(by_host) < len(own) and max(by_host.values()) > workload.host_skew:
            yield f"{name} has {max(by_host.values())} pods on one host"
