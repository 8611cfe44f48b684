"""The linear program's bound of a picture; the caller tells rules beyond resources, for their reading is judged."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, is_daemon, is_mirror
from shared.core.cluster.resources import PODS
from shared.core.cluster.snapshot import Snapshot
from tests.bench.clusters.generated import BenchCluster
from tests.bench.linear_bound import BoundClass, BoundNode, most_saved

_FEW: Final = 0.1
"""Pods that exclude each other are a row of the program only if they are so many for each node."""


@dataclass(frozen=True)
class PodRule:
    """What binds a pod beyond its request: the zone of its disk, and the word of those that exclude it on a host."""

    zone: str = ""
    excludes: str = ""


FREE: Final = PodRule()
RuleOf = Callable[[Pod], PodRule]


def bound_of(snapshot: Snapshot, pinned: Collection[str] = (), rule_of: RuleOf = lambda _: FREE) -> float:
    axes = sorted({name for node in snapshot.nodes for name, _ in node.allocatable.amounts} - {PODS})
    classes: dict[BoundClass, BoundClass] = {}
    excluding = _worth_a_row(snapshot, rule_of)
    groups = {node.name: (node.zone, tuple(node.allocatable.amounts)) for node in snapshot.nodes}

    def kind_of(pod: Pod) -> BoundClass:
        rule = rule_of(pod)
        within = frozenset(group for group in groups.values() if group[0] == rule.zone) if rule.zone else None
        asked = (*(float(pod.spec.requests.get(name)) for name in axes), 1.0)
        kind = BoundClass(asked, within, rule.excludes if rule.excludes in excluding else "")
        return classes.setdefault(kind, kind)

    kinds = {pod.key: kind_of(pod) for pod in snapshot.pods if not _stays(pod)}
    rows = [
        BoundNode(
            cost=float(load().of(node).per_hour),
            free=_free(node, snapshot.pods_by_node[node.name], axes),
            group=groups[node.name],
            pods=Counter(kinds[pod.key] for pod in snapshot.pods_by_node[node.name] if pod.key in kinds),
            pinned=node.name in pinned,
        )
        for node in snapshot.nodes
    ]
    return most_saved(rows)


def rules_of(cluster: BenchCluster) -> RuleOf:
    known: dict[str, PodRule] = {}
    for workload in cluster.workloads:
        port, apart = (f"port {workload.port}" if workload.port else ""), workload.apart
        for number, place in enumerate(cluster.places[workload.name]):
            zone = cluster.nodes[place].zone if workload.disk else ""
            known[f"default/{workload.name}-{number}"] = PodRule(zone, apart or port)
    return lambda pod: known.get(pod.key, FREE)


def _worth_a_row(snapshot: Snapshot, rule_of: RuleOf) -> frozenset[str]:
    counts = Counter(rule_of(pod).excludes for pod in snapshot.pods)
    return frozenset(word for word, count in counts.items() if word and count > _FEW * len(snapshot.nodes))


def _stays(pod: Pod) -> bool:
    return is_daemon(pod.spec) or is_mirror(pod.spec) or pod.phase.finished


def _free(node: Node, pods: Collection[Pod], axes: Collection[str]) -> tuple[float, ...]:
    living = [pod for pod in pods if not pod.phase.finished]
    left = (float(node.allocatable.get(name) - sum(pod.requests.get(name) for pod in living)) for name in axes)
    return (*left, float(node.allocatable.get(PODS) - len(living)))
