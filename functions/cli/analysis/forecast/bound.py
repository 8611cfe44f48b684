"""What no plan can do better than: how few nodes, and how little money, the pods as they are must cost at least.

Proof. Let x_i in {0, 1} be whether node i remains, c_i its cost, a_i its room (allocatable less the DaemonSet pods
that stay with it), d what all pods ask for that have to live on. They lie on remaining nodes, so for every resource r
the sum of a_ir x_i is at least d_r, and so is any sum of these with weights. The least cost under one such constraint
with 0 <= x_i <= 1 takes nodes in the order of cost by weighed room, the last one in part. Each step only widens what is
allowed. As many nodes as must remain cost no less than the cheapest of that number. Nodes that nobody would empty,
neither Ebb nor the autoscaler, have x_i = 1. Nodes among which no pod can move are separate clusters, whose bounds add
up.

Where capacity is committed a node has no price of its own: a set A of amounts costs its other parts, fees, and
g(A) = max(0, sum of r_j max(0, A_j - k_j) - f), with the rate r_j and the commitment k_j of each axis, and the worth f
of a flexible commitment. For any weights 0 <= l_j <= m <= 1: g(A) >= sum of l_j r_j (A_j - k_j) - m f, since
max(0, x) >= m x and max(0, y) >= l y. The right side is a sum over nodes less a constant, so the proof above holds for
it as for prices, whatever the weights. The best of some weights is taken, found axis by axis; with nothing committed
there is nothing to weigh.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import ceil, floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.resources import CPU, MEMORY, PODS
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.node_filters import NodeFilters
from shared.core.planning.autoscaler import is_expendable
from shared.core.planning.bill import Bill
from shared.core.planning.selection import departing_nodes
from shared.core.records.state import ClusterState
from shared.core.rules.pod_rules import REPLICATED

_WEIGHTS: Final = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
_ERROR: Final = 1e-6  # What floats may have added up to, of a node and of a micro-dollar.
_Floats = NDArray[np.float64]
_AXES: Final = (CPU, MEMORY, PODS)


@dataclass(frozen=True, slots=True)
class Bound:
    """At least so many nodes, and at least so many micro-dollars an hour: each by itself."""

    nodes: int
    cost: int  # At list prices.
    bill: int | None = None  # What is paid at least with the commitments; None without any.


def bound(snapshot: Snapshot, bill: Bill, state: ClusterState) -> Bound:
    nodes, leaving = snapshot.nodes, departing_nodes(snapshot, state)
    rows = [_measure(node, snapshot) for node in nodes]
    room, demand = np.array([room for room, *_ in rows]), np.array([demand for _, demand, _ in rows])
    fixed = np.array([stays for *_, stays in rows], np.bool_) & [node.name not in leaving for node in nodes]
    parts = [_NodePart.of(part, room, demand, fixed) for part in _parts(snapshot)]
    prices = np.array([bill.prices.of(node).per_hour for node in nodes], np.float64)
    amounts = np.array([bill.amounts(node) for node in nodes], np.float64)

    def least(costs: _Floats) -> float:
        return sum(part.least(costs) * (1 - _ERROR) for part in parts)

    paid = None if bill.is_list else _best(bill, prices, amounts, least) if rows else bill.fees
    cost = sum(ceil(part.least(prices) * (1 - _ERROR)) for part in parts)
    return Bound(sum(part.count for part in parts), cost, paid)


_SHARES: Final = (0.0, 0.5, 1.0)  # Weights that are tried on each axis.


def _best(bill: Bill, prices: _Floats, amounts: _Floats, least: Callable[[_Floats], float]) -> int:
    """Return the best bound over some weights: all axes alike at first, then one axis after another."""

    @cache
    def of(weights: tuple[float, ...]) -> int:
        weighed = bill.weigh_axes(weights)
        costs = prices - amounts[:, 0] + amounts[:, 1:] @ np.array(weighed.rates)
        return floor(least(costs) - weighed.covered) - 1 + bill.fees  # the bill is rounded down

    axes = amounts.shape[1] - 1
    best = max(((share,) * axes for share in _SHARES), key=of)
    for axis in range(axes):
        best = max(((*best[:axis], share, *best[axis + 1 :]) for share in (best[axis], *_SHARES)), key=of)
    return of(best)


@dataclass(frozen=True, slots=True)
class _NodePart:
    """Nodes among which pods may move, by index, with their room, what is to be placed, and which of them stay."""

    where: NDArray[np.int64]
    room: _Floats
    requested: _Floats
    fixed: NDArray[np.bool_]
    count: int  # How many nodes remain at least.

    @classmethod
    def of(cls, where: NDArray[np.int64], rooms: _Floats, demands: _Floats, stays: NDArray[np.bool_]) -> "_NodePart":
        room, requested, fixed = rooms[where], demands[where].sum(axis=0), stays[where]
        count = ceil(_least(np.ones(len(where)), room, requested, fixed) - _ERROR)
        return cls(where, room, requested, fixed, count)

    def least(self, prices: _Floats) -> float:
        costs = prices[self.where]
        by_room = _least(costs, self.room, self.requested, self.fixed)
        others = np.sort(costs[~self.fixed])[: max(self.count - int(self.fixed.sum()), 0)]
        return max(by_room, float(costs[self.fixed].sum() + others.sum()))  # the cheapest of as many as must remain


def _measure(node: Node, snapshot: Snapshot) -> tuple[_Floats, _Floats, bool]:
    """Return a node's room, what its pods ask for that live on, and whether nobody would empty it."""
    # the autoscaler lets expendable pods end with their node: they keep no room
    pods = [pod for pod in snapshot.pods_by_node[node.name] if not (pod.phase.finished or is_expendable(pod.spec))]
    moving = [pod for pod in pods if not pod.spec.stays]
    stays = any(map(_never_moves, moving)) or _is_left_alone(node, snapshot)
    lives = _sum([pod for pod in moving if pod.deleting is None and (stays or _is_replicated(pod))])
    if node.outside:
        return lives, lives, True
    offered = np.array([float(node.allocatable.get(axis)) for axis in _AXES])
    return np.maximum(offered - _sum([pod for pod in pods if pod.spec.stays]), lives), lives, stays


def _sum(pods: Sequence[Pod]) -> _Floats:
    rows = [(pod.requests.cpu, pod.requests.get(MEMORY), 1) for pod in pods]
    return np.array(rows, np.float64).sum(axis=0) if rows else np.zeros(len(_AXES))


def _is_replicated(pod: Pod) -> bool:
    return pod.spec.owner is not None and pod.spec.owner.kind in REPLICATED


def _never_moves(pod: Pod) -> bool:
    """Whether neither the autoscaler nor any policy of Ebb's would move the pod."""
    wanted = pod.spec.annotations.get(names.SAFE_TO_EVICT)
    return pod.deleting is None and (wanted == "false" or (wanted != "true" and not _is_replicated(pod)))


def _is_left_alone(node: Node, snapshot: Snapshot) -> bool:
    pool = snapshot.pools.get(node.pool)
    switched_off = node.annotations.get(names.SCALE_DOWN_DISABLED) == "true"
    return node.outside or switched_off or pool is None or not pool.autoscaled


def _parts(snapshot: Snapshot) -> Iterator[NDArray[np.int64]]:
    """Yield the nodes, by index, among which pods may move: no pod of one part can lie in another."""
    filters, part = NodeFilters(snapshot.nodes), np.arange(len(snapshot.nodes))
    where = {node.name: number for number, node in enumerate(snapshot.nodes)}
    places: dict[PodClass, set[int]] = {}
    for pod in snapshot.pods:
        if pod.node in where and not pod.spec.stays:
            places.setdefault(pod.spec, set()).add(where[pod.node])
    alike: dict[bytes, set[int]] = {}
    for spec, own in places.items():
        mask = filters.of(spec)
        alike.setdefault(np.packbits(mask).tobytes(), set(np.flatnonzero(mask).tolist())).update(own)
    for together in alike.values():
        joined = np.unique(part[sorted(together)])
        part[np.isin(part, joined)] = joined[0]
    for label in np.unique(part):
        yield np.flatnonzero(part == label)


def _least(costs: _Floats, room: _Floats, demand: _Floats, fixed: NDArray[np.bool_]) -> float:
    scale = np.maximum(demand, 1.0)
    share, left = room[~fixed] / scale, (demand - room[fixed].sum(axis=0)) / scale
    weights = (np.array(path) for path in product(_WEIGHTS, repeat=len(_AXES)) if max(path) == 1)
    return float(costs[fixed].sum()) + max(
        _cover(costs[~fixed], share @ weight, float(left @ weight)) for weight in weights
    )


def _cover(costs: _Floats, room: _Floats, demand: float) -> float:
    useful = room > 0
    costs, room = costs[useful], room[useful]
    order = np.argsort(costs / room)
    costs, room = costs[order], room[order]
    before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
    return float(costs @ np.clip((demand - before) / room, 0.0, 1.0)) if len(room) else 0.0
