"""How much the sum of a plan says, so that it fits the screen that it is printed on. Must not print."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SumDetail:
    """How many pools have a line, how many reasons of a kind, how many objects of each, and whether with meanings.

    Without these the objects stand in their place, and a reason that is about nothing by name says what it means.
    """

    pools: int | None
    reasons: int
    objects: int
    meanings: bool = True


DETAILS: Final = (
    SumDetail(None, 4, 1),
    SumDetail(None, 4, 1, meanings=False),
    SumDetail(10, 3, 1, meanings=False),
    SumDetail(6, 3, 1, meanings=False),
    SumDetail(5, 2, 1, meanings=False),
    SumDetail(4, 2, 1, meanings=False),
    SumDetail(3, 2, 1, meanings=False),
    SumDetail(3, 1, 1, meanings=False),
    SumDetail(2, 1, 1, meanings=False),
)
"""What is tried until the sum fits; the last one is printed whatever its length. A file gets the first.

What a reason is about stays longest: what it means is what the documentation says."""
