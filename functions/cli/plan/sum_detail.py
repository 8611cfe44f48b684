"""How much the sum of a plan says, so that it fits the screen that it is printed on. Must not print."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SumDetail:
    """How many pools have a line, how many reasons of a kind, how many objects of each, and whether with meanings."""

    pools: int | None
    reasons: int
    objects: int
    meanings: bool = True


DETAILS: Final = (
    SumDetail(None, 4, 1),
    SumDetail(None, 4, 0),
    SumDetail(10, 3, 0),
    SumDetail(6, 3, 0),
    SumDetail(5, 2, 0),
    SumDetail(4, 2, 0, meanings=False),
)
"""What is tried until the sum fits; the last one is printed whatever its length. A file gets the first."""
