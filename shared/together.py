"""Several calls to the world at once, bounded: threads, because each call waits for an answer.

It is a port like the others, so that a simulator of one process may take the calls one by one. Must not decide
anything.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class RunTogether(Protocol):
    """Carries out calls that do not depend on each other."""

    def __call__(self, act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
        """Return `act` of each item, in the items' order; at most `most` calls are under way at once."""


def in_threads(act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
    """Carry the calls out in threads; the first failure is raised once all have ended."""
    with ThreadPoolExecutor(max_workers=most) as pool:
        return list(pool.map(act, items))
