"""What no choice of machine types can do better than, and what a pod of each class is worth at that point.

Proof. A choice keeps nodes (y_i, 1 where node i is kept, with its own pods), has x_t new nodes of each type t, and
places all pods of every class k. Its cost is sum c_t x_t + sum y_i (c_i - m_i) + sum m_i, where m_i is what moving the
pods of node i counts for. Let a pod of class k be worth u_k, and let each type have prices v_t for its resources, with
v_t . room_t <= c_t, and each node that is there prices v_i for what is free on it, so that u_k <= v_t . request_k and
u_k <= v_i . request_k wherever the class may lie. Then pods on a new node are worth no more than c_t together, those on
a node that is kept no more than its own pods and v_i . free_i. So the cost is at least

    sum over pods of u_k  -  sum over nodes of max(0, worth of its own pods + v_i . free_i - (c_i - m_i))  +  sum m_i.

This holds for any prices (it is the dual of a linear program); an ascent looks for good ones. Nodes that stay have
y_i = 1, and their own pods are no part of the sums. Rules that are left out only make the bound looser.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_ERROR: Final = 1e-6
"""What floats may have added up to, of the whole."""
_DIRECTIONS: Final = 12
"""Steps in which the prices of two resources are mixed for nodes that are there."""
_ROUNDS: Final = 400
_PACE: Final = 0.6
_UNUSED: Final = 0.02
"""The share of a type's cost that no resource carries at first."""


@dataclass(frozen=True)
class Problem:
    """All amounts by class (k), axis (a), type (t) and node that is there (i)."""

    requests: Floats
    """k x a."""
    pods: Floats
    """By k: all that need a place, those on nodes that may go included."""
    costs: Floats
    """By t."""
    room: Floats
    """t x a: what pods may take of an empty new node."""
    admitted: Mask
    """k x t."""
    own: Floats
    """i x k: the pods that would have to move; none of a node that stays."""
    kept: Floats
    """By i: what keeping the node costs more than moving its pods counts for; minus infinity for one that stays."""
    free: Floats
    """i x a: what moved pods may take there."""
    admitted_there: Mask
    """k x i."""


@dataclass(frozen=True)
class LowerBound:
    """The least cost, without what is the same in all choices; and by class what a pod is worth."""

    cost: float
    worth: Floats


def lower_bound(given: Problem) -> LowerBound:
    """Return the best bound that was found."""
    if not len(given.costs) or not len(given.pods):
        return LowerBound(0.0, np.zeros(len(given.pods)))
    ascent = _Ascent(given)
    return max((ascent.step(number) for number in range(_ROUNDS)), key=lambda each: each.cost)


class _Ascent:
    """Prices of the types, changed step by step: each type spreads its cost over its resources."""

    def __init__(self, given: Problem) -> None:
        self._given = given
        types, axes = given.room.shape
        self._offered = offered = given.room > 0
        shares = np.where(offered, 1.0, 0.0)
        shares[:, -1] *= _UNUSED  # the number of pods seldom matters
        unused = np.full((types, 1), _UNUSED)
        self._shares = np.hstack((shares, unused))
        self._shares /= self._shares.sum(axis=1, keepdims=True)
        self._unit = np.where(offered, given.costs[:, np.newaxis] / np.where(offered, given.room, 1.0), 0.0)
        self._directions = np.array(list(_directions(axes))) / np.maximum(given.room.max(axis=0), 1.0)
        self._groups = self._alike()

    def step(self, number: int) -> LowerBound:
        """Return the bound at these prices, and change them."""
        given, types = self._given, np.arange(len(self._given.costs))
        prices = self._unit * self._shares[:, :-1]
        by_type = given.requests @ prices.T
        lacking = (given.requests[:, np.newaxis, :] > 0) & ~self._offered[np.newaxis, :, :]
        by_type[~given.admitted | lacking.any(axis=2)] = np.inf
        chosen = by_type.argmin(axis=1)
        worth = by_type[np.arange(len(chosen)), chosen]
        known = np.isfinite(worth)
        worth = np.where(known, worth, 0.0)
        slack, gradient = self._kept(worth)
        load = np.zeros_like(self._shares)
        np.add.at(load[:, :-1], chosen[known], (gradient[:, np.newaxis] * given.requests)[known])
        load[:, :-1] *= self._unit
        most = np.abs(load).max(axis=1, keepdims=True)
        self._shares[types] *= np.exp(_PACE / (1 + number) ** 0.5 * load / np.maximum(most, 1e-12))
        self._shares /= self._shares.sum(axis=1, keepdims=True)
        cost = float(given.pods @ worth) - slack
        return LowerBound(cost - abs(cost) * _ERROR, worth)

    def _kept(self, worth: Floats) -> tuple[float, Floats]:
        """Return what the nodes that are there are worth beyond their cost, and how the bound changes with worths."""
        given, gradient, total = self._given, self._given.pods.copy(), 0.0
        for mask, nodes in self._groups:
            dots = self._directions @ given.requests[mask].T
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = np.where(worth[mask] > 0, worth[mask] / dots, 0.0)
            best = scaled.argmax(axis=1) if mask.any() else np.zeros(len(self._directions), np.int64)
            scale = scaled.max(axis=1) if mask.any() else np.zeros(len(self._directions))
            offered = self._directions @ given.free[nodes].T
            with np.errstate(invalid="ignore"):
                costs = np.where(offered > 0, scale[:, np.newaxis] * offered, 0.0)
            which = costs.argmin(axis=0)
            spare = costs[which, np.arange(len(nodes))]
            slack = np.maximum(given.own[nodes] @ worth + spare - given.kept[nodes], 0.0)
            slack = np.where(np.isfinite(given.kept[nodes]), slack, spare)
            total += float(slack.sum())
            counted = slack > 0
            gradient -= given.own[nodes][counted].sum(axis=0)
            kinds = np.flatnonzero(mask)
            for place in np.flatnonzero(counted & (spare > 0)).tolist():
                row = which[place]
                gradient[kinds[best[row]]] -= offered[row, place] / dots[row, best[row]]
        return total, gradient

    def _alike(self) -> list[tuple[Mask, NDArray[np.int64]]]:
        """Return nodes that admit the same classes, with these classes."""
        found: dict[bytes, list[int]] = {}
        there = self._given.admitted_there
        for node in range(there.shape[1]):
            found.setdefault(there[:, node].tobytes(), []).append(node)
        return [(there[:, nodes[0]], np.array(nodes, np.int64)) for nodes in found.values()]


def _directions(axes: int) -> Iterator[Sequence[float]]:
    """Yield mixes of each pair of resources, and the number of pods alone; the last axis is that number."""
    for one in range(axes - 1):
        for other in range(one + 1, axes - 1):
            for step in range(_DIRECTIONS + 1):
                row = [0.0] * axes
                row[one], row[other] = step / _DIRECTIONS, 1 - step / _DIRECTIONS
                yield row
    yield [0.0] * (axes - 1) + [1.0]
