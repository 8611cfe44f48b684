"""How many events fell into the busiest stretch of time: what "writes per second" means in these tests."""

from collections import deque
from collections.abc import Iterable


def busiest(times: Iterable[float], seconds: float) -> int:
    """Return the most events within any half-open stretch of that length; 0 when there are none."""
    most, within = 0, deque[float]()
    for at in sorted(times):
        within.append(at)
        while within[0] <= at - seconds:
            within.popleft()
        most = max(most, len(within))
    return most


def sustained(times: Iterable[float], seconds: float) -> float:
    """Return the busiest stretch's events per second."""
    return busiest(times, seconds) / seconds
