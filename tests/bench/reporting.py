"""How a bench says what it found: one line each, always against a peer or a bound of the same run."""

from collections.abc import Callable
from time import process_time
from typing import TypeVar

T = TypeVar("T")


def say(what: str, found: str, goal: str) -> None:
    print(f"  {what:62} {found:>28}   goal {goal}", flush=True)  # noqa: T201 - this is what the command is for


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Return the CPU seconds of a call, and its result."""
    began = process_time()
    result = function()
    return process_time() - began, result
