"""Waiting for real processes: as short as the thing takes, and never without end."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_POLL_SECONDS = 0.1


def until(what: str, look: Callable[[], T | None], seconds: float = 30.0) -> T:
    """Look again and again until there is something (truthy) to see, and return it.

    Raises:
        AssertionError: nothing was to be seen within `seconds`; it names `what` was awaited.
    """
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(_POLL_SECONDS)
    return seen
