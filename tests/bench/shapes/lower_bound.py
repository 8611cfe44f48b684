"""What no choice of machine types can do better than, by linear programming.

Proof. A choice keeps nodes (y_i, 1 where node i is kept, with its own pods), has x_t new nodes of each type t, and
places all other pods of every class k on them. Its cost is sum c_t x_t + sum y_i (c_i - m_i) + sum m_i, where m_i is
what moving the pods of node i counts for. What lies on the new nodes of a type fits into their room together, what is
moved to a node that is kept into what is free there. Shares of nodes and of pods only allow more, and rules that are
left out, too. Nodes that stay have y_i = 1, and their own pods are no part of the sums.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tests.bench.linear_bound import Rows

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_ERROR: Final = 1e-6  # What floats may have added up to, of the whole.


@dataclass(frozen=True)
class Problem:
    """All amounts by class (k), axis (a), type (t) and node that is there (i)."""

    requests: Floats  # k x a.
    pods: Floats  # By k: all that need a place, those on nodes that may go included.
    costs: Floats  # By t.
    room: Floats  # t x a: what pods may take of an empty new node.
    admitted: Mask  # k x t.
    own: Floats  # i x k: the pods that would have to move; none of a node that stays.
    kept: Floats
    """By i: what keeping the node costs more than moving its pods counts for; minus infinity for one that stays."""
    free: Floats  # i x a: what moved pods may take there.
    admitted_there: Mask  # k x i.


def lower_bound(given: Problem) -> float:
    """Return the least cost, without what is the same in all choices."""
    from scipy.optimize import linprog  # noqa: PLC0415 - only `make bench` needs it

    if not len(given.costs) or not len(given.pods):
        return 0.0
    rows, columns = _constraints(given)
    types, stays = len(given.costs), np.isneginf(given.kept)
    costs = np.zeros(columns)
    costs[:types], costs[types : types + len(stays)] = given.costs, np.where(stays, 0.0, given.kept)
    limits = [(0.0, None)] * types + [(float(one), 1.0) for one in stays]
    limits += [(0.0, None)] * (columns - len(limits))
    found = linprog(costs, rows.matrix(columns), rows.right, bounds=limits)
    assert found.status == 0, f"the bound's linear program: {found.message}"
    return float(found.fun) - abs(float(found.fun)) * _ERROR


def _constraints(given: Problem) -> tuple[Rows, int]:
    """Return the rows and the number of columns: first types and nodes, then where pods of each class lie."""
    rows, places = Rows(), np.hstack((given.admitted, given.admitted_there))
    kinds, count = places.shape
    column = {pair: count + at for at, pair in enumerate(zip(*map(np.ndarray.tolist, np.nonzero(places)), strict=True))}
    for kind in range(kinds):
        own = {len(given.costs) + node: -float(pods) for node, pods in enumerate(given.own[:, kind]) if pods}
        there = {column[kind, place]: -1.0 for place in range(count) if places[kind, place]}
        rows.add({**own, **there}, -float(given.pods[kind]))
    for place, room in enumerate(np.vstack((given.room, given.free))):
        for axis, amount in enumerate(room.tolist()):
            scale = max(amount, 1.0)
            asked = {
                column[kind, place]: float(given.requests[kind, axis]) / scale
                for kind in range(kinds)
                if places[kind, place]
            }
            rows.add({place: -amount / scale, **asked}, 0.0)
    return rows, count + len(column)
