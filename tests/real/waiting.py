"""Waiting for real processes and for others that write the same object: never without end."""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from shared.errors import Stale

T = TypeVar("T")
PATIENCE = 240.0
"""Far longer than anything takes on a machine that is busy with other tests: it costs nothing where all is well."""
_LEAST_PAUSE, _MOST_PAUSE, _SHARE = 0.05, 1.0, 0.05
"""Seconds between two looks: a twentieth of what was waited, for looking takes the time of what is waited for."""


def until(what: str, look: Callable[[], T | None], seconds: float = PATIENCE) -> T:
    """Look until there is something (truthy) to see, and return it. Raises AssertionError after so many seconds."""
    begun = time.monotonic()
    while not (seen := look()):
        waited = time.monotonic() - begun
        assert waited < seconds, f"not within {seconds:.0f} s: {what}"
        time.sleep(min(_LEAST_PAUSE + waited * _SHARE, _MOST_PAUSE))
    return seen


def without_conflict(write: Callable[[], T]) -> T:
    """Write again as long as others, such as a kubelet or a controller, write the object too."""

    def attempt() -> tuple[T] | None:
        try:
            return (write(),)
        except Stale:
            return None

    (made,) = until("a write without a conflict", attempt)
    return made


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
