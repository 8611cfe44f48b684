"""The bounds that keep any amount of the API within 64 bits, whatever the arrays do with it.

A quantity may be as large as 2^63-1. In the arrays a node offers at most `MOST`; a pod that asks for more asks for
`MOST + 1`: it fits nowhere, and a node that has booked it has nothing free. All err on the safe side only.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.resources import Resources

Amounts = NDArray[np.int64]
SCALE: Final = 10_000  # Shares of a node are compared in steps of 1/10,000.
MOST: Final = 2**48
"""256 TiB, or as many millicores: more than any node has. Twice that (overbooked, and headroom held back), times
`SCALE`, is below 2^63."""
_MOST_SHARE: Final = 2**40  # Of a node that offers next to nothing: two such shares and a tie-break still add up.
_WRAPS: Final = 2.0**60  # A sum of requests from which on 64 bits may not hold it.


def matrix(rows: Sequence[Resources], axes: Sequence[str], most: int) -> Amounts:
    """Return amounts by axis and row, none above `most` or below its negative."""
    place = {name: axis for axis, name in enumerate(axes)}
    amounts = np.zeros((len(axes), len(rows)), np.int64)
    for column, row in enumerate(rows):
        for name, value in row.amounts:
            if name in place:
                amounts[place[name], column] = max(-most, min(value, most))
    return amounts


def left(offered: Amounts, where: NDArray[np.int64], requested: Amounts) -> Amounts:
    """Return what is left of the offers of each place, at least -`MOST`."""
    # What is overbooked by more has as little room.
    # A sum that 64 bits cannot hold shows by its rough size, which floats can.
    free = offered.copy()
    for axis, amounts in enumerate(requested):
        np.subtract.at(free[axis], where, amounts)
        rough = np.bincount(where, weights=amounts, minlength=offered.shape[1])
        free[axis][rough >= _WRAPS] = -MOST
    return free.clip(-MOST, MOST)


def shares(free: Amounts, offered: Amounts) -> Amounts:
    parts: Amounts = free * SCALE // offered.clip(1)
    return parts.clip(-_MOST_SHARE, _MOST_SHARE)


def share(free: int, offered: int) -> int:
    part = free * SCALE // offered
    return part if -_MOST_SHARE < part < _MOST_SHARE else max(-_MOST_SHARE, min(part, _MOST_SHARE))
