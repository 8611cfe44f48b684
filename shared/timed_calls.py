"""Outside calls with their durations: one DEBUG line for each call of a port, to find what is slow."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from shared.ports import Clock, Log, Ports

TIMED = ("cluster", "pools", "state", "policy", "commitments", "orders")
"""The ports that lead to other machines."""


def with_log(ports: Ports, log: Log, level: str) -> Ports:
    """Return the ports of one call, which write to its own log; at DEBUG each outside call is timed."""
    own = replace(ports, log=log)
    return timed_calls(own) if level == "DEBUG" else own


def timed_calls(ports: Ports) -> Ports:
    """Return the ports, of which each call writes how long it took, also where it failed."""
    wrapped: dict[str, Any] = {name: _TimedPort(getattr(ports, name), name, ports.log, ports.clock) for name in TIMED}
    return replace(ports, **wrapped)


class _TimedPort:
    """One port; whatever it has is here, too."""

    def __init__(self, port: object, name: str, log: Log, clock: Clock) -> None:
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
