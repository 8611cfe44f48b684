"""Waiting for something that happens in real time, with a bound and a sentence when it does not."""

import threading
from collections.abc import Callable

STEP = 0.05


def wait_until(what: str, holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Poll until it holds; AssertionError names what did not happen in time."""
    pause = threading.Event()
    for _ in range(int(seconds / STEP)):
        if holds():
            return
        pause.wait(STEP)
    raise AssertionError(f"{what}: not within {seconds} s")
