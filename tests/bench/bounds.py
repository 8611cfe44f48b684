"""What the nodes that remain must cost at least: a bound that no placement can beat.

Proof. Let x_i in {0, 1} say whether node i remains, c_i its cost, a_i its room (allocatable less the DaemonSet pods
that stay with it), d what all other pods ask for. Pods lie on remaining nodes, so for every resource r
    sum_i a_ir x_i >= d_r.
Then for any weights w_r >= 0 also sum_i (w . a_i) x_i >= w . d. The least cost under this one constraint with
0 <= x_i <= 1 is found by taking nodes in the order of c_i / (w . a_i), the last one in part (fractional cover). Each
step (one constraint of several, fractions of nodes, no pod looked at) only widens what is allowed: the cost of any
placement is at least that, for every w, and so at least the largest over the weights tried. Nodes that may not go
have x_i = 1: they are taken first, with their room.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

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
