"""Time for the simulated GKE: clocks that are passed in, and the timestamps that Kubernetes writes.

No other module of the simulated GKE may ask the system for the time.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


class TimeSource(Protocol):
    """Gives the time as seconds since 1970 (UTC)."""

    def now(self) -> float: ...


class ManualClock:
    """A clock that moves only by `advance`: virtual time for tests and simulators."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Move on by `seconds` (never backwards) and return the new time."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back ({seconds} s): advance by a positive amount")
        self._now += seconds
        return self._now


class SystemClock:
    """The system's time when it was made, and from then on what its steady clock adds: it never goes back."""

    def __init__(self) -> None:
        self._epoch = time.time() - time.monotonic()

    def now(self) -> float:
        return self._epoch + time.monotonic()


def stamp(seconds: float) -> str:
    """RFC 3339 to whole seconds, as metav1.Time is written."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
