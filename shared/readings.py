"""Readings that the calls of one instance share, and calls that run side by side."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar

from shared.errors import Retryable

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
Sleep = Callable[[float], None]
WAIT_SECONDS: Final = 30.0
"""How long a call waits for another one: reading 5,000 nodes takes some seconds, and a message can come again."""
PAUSE_SECONDS: Final = 0.1


class RunTogether(Protocol):
    """Carries out calls that do not depend on each other."""

    def __call__(self, act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
        """Return `act` of each item, in the items' order; at most `most` calls are under way at once."""


def in_threads(act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
    """Carry the calls out in threads; the first failure is raised once all have ended."""
    with ThreadPoolExecutor(max_workers=most) as pool:
        return list(pool.map(act, items))


@dataclass(frozen=True)
class DatedReading(Generic[T]):
    """What was read, and the state's time just before."""

    value: T
    read_at: datetime


class SharedReadings:
    """The newest reading of each thing, by name; the name stands in the failure when a wait has been too long."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._turns: dict[str, Lock] = {}

    @contextmanager
    def turn(self, what: str, sleep: Sleep) -> Iterator[None]:
        """Let one call at a time do this; the others wait. Raises Retryable when they have waited too long."""
        lock = self._turns.setdefault(what, Lock())
        for _ in range(round(WAIT_SECONDS / PAUSE_SECONDS)):
            if lock.acquire(blocking=False):
                try:
                    yield
                finally:
                    lock.release()
                return
            sleep(PAUSE_SECONDS)
        raise Retryable(what, f"other orders of this instance have been at it for {WAIT_SECONDS:.0f} s")

    def get(self, what: str, is_good: Callable[[T], bool], read: Callable[[], T], sleep: Sleep) -> tuple[T, bool]:
        """Return a reading that the caller calls good, and whether another call made it. Raises as `turn` and `read`.

        A reading that the caller makes itself is good by that alone. The one before is dropped first: two of a whole
        cluster would need twice the memory.
        """

        def last_good() -> T | None:
            last = self._last.get(what)
            return last if last is not None and is_good(last) else None

        if (found := last_good()) is not None:
            return found, True
        with self.turn(what, sleep):
            if (found := last_good()) is not None:
                return found, True
            self._last.pop(what, None)
            fresh = self._last[what] = read()
            return fresh, False

    def recent(
        self, what: str, now: datetime, stands_for: timedelta, read: Callable[[], T], sleep: Sleep
    ) -> DatedReading[T]:
        """Return a reading that is at most so old. Raises as `get`."""

        def is_young(last: DatedReading[T]) -> bool:
            return now - last.read_at <= stands_for

        return self.get(what, is_young, lambda: DatedReading(read(), now), sleep)[0]

    def rows(
        self,
        what: str,
        names: Collection[str],
        now: datetime,
        stands_for: timedelta,
        read: Callable[[Collection[str]], Mapping[str, T]],
        sleep: Sleep,
    ) -> tuple[Mapping[str, T], datetime]:
        """Return what is there of these names, and a time after which all was read. Raises as `turn` and `read`."""

        def missing() -> list[str]:
            rows = self._last.get(what, {})
            return [name for name in names if name not in rows or now - rows[name].read_at > stands_for]

        if missing():
            with self.turn(what, sleep):  # all use what one call brings
                if asked := missing():
                    self._keep(what, now - 2 * stands_for, asked, DatedReading(read(asked), now))
        rows = {name: row for name in names if (row := self._last.get(what, {}).get(name)) is not None}
        found = {name: row.value for name, row in rows.items() if row.value is not None}
        return found, min((row.read_at for row in rows.values()), default=now)

    def _keep(self, what: str, young: datetime, asked: Collection[str], found: DatedReading[Mapping[str, Any]]) -> None:
        """Keep what came, what was asked for and is not there, and of the rest what another call may be using."""
        kept = {name: row for name, row in self._last.get(what, {}).items() if row.read_at >= young}
        came = {name: DatedReading(found.value.get(name), found.read_at) for name in {*asked, *found.value}}
        self._last[what] = {**kept, **came}
