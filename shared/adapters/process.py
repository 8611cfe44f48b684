"""What a call has of its process: the clock, how long its outside calls take, and when Python looks for cycles.

The time of day is the state's read time, on which all instances agree. The clock here is for durations and waiting,
and for the embedded state that lives on this machine.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shared.ports import Clock, Log, Ports


class SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; a negative time is no wait."""
        time.sleep(max(0.0, seconds))


def system_time() -> datetime:
    """Return the machine's time of day; only a state that is a file here, and a person's tool, may ask for it."""
    return datetime.now(UTC)  # noqa: TID251 - the clock adapter is where the system is asked


@contextmanager
def no_search_for_cycles() -> Iterator[None]:
    """Look for no cycles inside the block, which is no longer than one plan; afterwards all is as it was."""
    # a sixth of a plan of 5,000 nodes went into it, among a million objects with next to no cycles
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


TIMED = ("cluster", "pools", "state", "policy", "commitments", "orders")  # The ports that lead to other machines.


def with_log(ports: "Ports", log: "Log", level: str) -> "Ports":
    """Return the ports of one call, which write to its own log; at DEBUG each outside call is timed."""
    own = replace(ports, log=log)
    return timed_calls(own) if level == "DEBUG" else own


def timed_calls(ports: "Ports") -> "Ports":
    """Return the ports, of which each call writes how long it took, also where it failed."""
    wrapped: dict[str, Any] = {name: _TimedPort(getattr(ports, name), name, ports.log, ports.clock) for name in TIMED}
    return replace(ports, **wrapped)


class _TimedPort:
    """One port; whatever it has is here, too."""

    def __init__(self, port: object, name: str, log: "Log", clock: "Clock") -> None:
        self._port, self._name, self._log, self._clock = port, name, log, clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        return self._timed(name, found) if callable(found) else found

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def timed(*arguments: object, **named: object) -> object:
            begun = self._clock.monotonic()
            try:
                return call(*arguments, **named)
            finally:
                self._log_call(f"{self._name}.{name}", self._clock.monotonic() - begun)

        return timed

    def _log_call(self, call: str, seconds: float) -> None:
        message = f"{call} took {seconds:.3f} s."
        self._log.event("outside_call", message, severity="DEBUG", call=call, seconds=round(seconds, 3))
