"""What is to happen when: the clock of a simulated cluster. Equal times keep the order in which they were noted.

Must not know what happens.
"""

import heapq
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import count


class Agenda:
    """Actions by time."""

    def __init__(self) -> None:
        self._rows: list[tuple[datetime, int, Callable[[], None]]] = []
        self._numbers = count()

    def note(self, at: datetime, action: Callable[[], None]) -> None:
        heapq.heappush(self._rows, (at, next(self._numbers), action))

    @property
    def next_at(self) -> datetime | None:
        """When the next action is due; None where nothing is."""
        return self._rows[0][0] if self._rows else None

    def due(self, now: datetime) -> Iterator[Callable[[], None]]:
        """Yield what is due, also what is noted meanwhile for the same moment."""
        while self._rows and self._rows[0][0] <= now:
            yield heapq.heappop(self._rows)[2]
