"""The bound of a picture: what its nodes and pods are to the linear program and the cover bound, the tighter of both.

What a generated cluster's rules say beyond resources is told by the caller, since the picture's own reading of them is
what is measured.

The cover bound: no placement beats it.

Proof. Let x_i in {0, 1} say whether node i remains, c_i its cost, a_i its room (allocatable less the DaemonSet pods
that stay with it), d what all other pods ask for. Pods lie on remaining nodes, so for every resource r
    sum_i a_ir x_i >= d_r.
Then for any weights w_r >= 0 also sum_i (w . a_i) x_i >= w . d. The least cost under this one constraint with
0 <= x_i <= 1 is found by taking nodes in the order of c_i / (w . a_i), the last one in part (fractional cover). Each
step (one constraint of several, fractions of nodes, no pod looked at) only widens what is allowed: the cost of any
placement is at least that, for every w, and so at least the largest over the weights tried. Nodes that may not go
have x_i = 1: they are taken first, with their room.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, is_daemon, is_mirror
from shared.core.cluster.resources import PODS
from shared.core.cluster.snapshot import Snapshot
from tests.bench.clusters.generated import BenchCluster
from tests.bench.linear_bound import Bound, BoundClass, BoundNode, most_saved

Floats = NDArray[np.float64]
_GRID = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def least_cost(cost: Sequence[float], room: Floats, demand: Floats, fixed: NDArray[np.bool_]) -> float:
    """Return the bound; `room` is nodes x resources."""
    costs, scale = np.asarray(cost, dtype=np.float64), np.maximum(demand, 1.0)
    spent = float(costs[fixed].sum())
    left = (demand - room[fixed].sum(axis=0)) / scale
    share = room[~fixed] / scale
    weights = (np.array(path) for path in product(_GRID, repeat=len(demand)) if any(path))
    return spent + max(_cover(costs[~fixed], share @ weight, float(left @ weight)) for weight in weights)


def _cover(cost: Floats, room: Floats, demand: float) -> float:
    useful = room > 0
    cost, room = cost[useful], room[useful]
    order = np.argsort(cost / room)
    cost, room = cost[order], room[order]
    before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
    part = np.clip((demand - before) / room, 0.0, 1.0)
    return float(cost @ part)


_FEW: Final = 0.1
"""Pods that exclude each other are a row of the program only if they are so many for each node."""


@dataclass(frozen=True)
class PodRule:
    """What binds a pod beyond its request: the zone of its disk, and the word of those that exclude it on a host."""

    zone: str = ""
    excludes: str = ""


FREE: Final = PodRule()
RuleOf = Callable[[Pod], PodRule]


def bound_of(
    snapshot: Snapshot, pinned: Collection[str] = (), rule_of: RuleOf = lambda _: FREE, *, count_nodes: bool = False
) -> Bound:
    """Return the most that can be saved; `count_nodes` prices every node alike."""
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
            cost=1.0 if count_nodes else float(load().of(node).per_hour),
            free=_free(node, snapshot.pods_by_node[node.name], axes),
            group=groups[node.name],
            pods=Counter(kinds[pod.key] for pod in snapshot.pods_by_node[node.name] if pod.key in kinds),
            pinned=node.name in pinned,
        )
        for node in snapshot.nodes
    ]
    found = most_saved(rows)
    return Bound(min(found.saving, by_cover(rows)), found.shares)


def rules_of(cluster: BenchCluster) -> RuleOf:
    """Return what the generated cluster says of its pods, by name."""
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


def by_cover(rows: Collection[BoundNode]) -> float:
    """Return the cover bound: no pod of a node that goes is looked at by itself."""
    moving = [_sum(node.pods, len(node.free)) for node in rows]
    room = np.array([np.maximum(node.free, 0.0) + moved for node, moved in zip(rows, moving, strict=True)])
    fixed, costs = np.array([node.pinned for node in rows]), [node.cost for node in rows]
    return sum(costs) - least_cost(costs, room, np.sum(moving, axis=0), fixed)


def _sum(pods: Mapping[BoundClass, int], axes: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    total = np.zeros(axes)
    for kind, count in pods.items():
        total += count * np.array(kind.requests, dtype=np.float64)
    return total
