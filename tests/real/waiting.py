"""Waiting for real processes: as short as the thing takes, and never without end."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 240.0
"""Far longer than anything takes on a machine that is busy with other tests: it costs nothing where all is well."""
_LEAST_PAUSE, _MOST_PAUSE, _SHARE = 0.05, 1.0, 0.05
"""Seconds between two looks: a twentieth of what was waited, for looking takes the time of what is waited for."""


def until(what: str, look: Callable[[], T | None], seconds: float = PATIENCE) -> T:
    """Look again and again until there is something (truthy) to see, and return it.

    Raises:
        AssertionError: nothing was to be seen within `seconds`; it names `what` was awaited.
    """
    begun = time.monotonic()
    while not (seen := look()):
        waited = time.monotonic() - begun
        assert waited < seconds, f"not within {seconds:.0f} s: {what}"
        time.sleep(min(_LEAST_PAUSE + waited * _SHARE, _MOST_PAUSE))
    return seen
