"""The one door through which every outside call goes: counted, recorded, and failed where the plan says so.

A fault strikes a call by its number in the history. Must not know what the call means.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from shared.errors import Retryable
from tests.faults.thread_scheduler import Killed, Stage

T = TypeVar("T")
MOST_CALLS = 20_000
"""A small history makes some hundreds; more means that somebody goes round in circles without sleeping."""


class End(StrEnum):
    """What comes of the call in the end."""

    GO = "go"
    FAIL = "fail"
    KILL = "kill"


@dataclass(frozen=True)
class Fault:
    """Wait, perhaps take effect, wait, then end; seconds of virtual time."""

    end: End = End.GO
    effect: bool = True
    before: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        waits = f"{self.before:g}s before, {self.after:g}s after" if self.before or self.after else "at once"
        return f"{self.end.value} {'with' if self.effect else 'without'} effect, {waits}"


KILL_BEFORE = Fault(End.KILL, effect=False)
KILL_AFTER = Fault(End.KILL)


@dataclass(frozen=True)
class Call:
    """One outside call as it began."""

    number: int
    at: float
    actor: str
    what: str


class Door:
    """Counts the calls of one history and carries out its faults."""

    def __init__(self, stage: Stage, faults: Mapping[int, Fault]) -> None:
        self.stage, self.faults = stage, faults
        self.calls: list[Call] = []
        self.most_calls = MOST_CALLS
        self.struck_at: list[float] = []
        """When faults struck, and when they ended."""

    @property
    def actor(self) -> str:
        """Return the name of the call that runs now; empty between calls."""
        return self.stage.current.name if self.stage.current else ""

    def began_at(self) -> float:
        """Return when the call under way of the actor that runs now began."""
        return next(call.at for call in reversed(self.calls) if call.actor == self.actor)

    def through(self, what: str, act: Callable[[], T], *, can_fail: bool = True) -> T:
        """Carry out one outside call. Raises Killed where the plan says so, and Retryable if such a call can fail."""
        actor = self.stage.current
        assert actor is not None
        if actor.killed:
            raise Killed
        self.stage.pause()
        call = Call(len(self.calls), self.stage.clock.now(), actor.name, what)
        self.calls.append(call)
        if call.number >= self.most_calls:
            raise AssertionError(f"{actor.name} goes round in circles at {what}")
        fault = self.faults.get(call.number)
        if fault is not None and fault.end is End.FAIL and not can_fail:
            fault = replace(fault, end=End.GO, effect=True)
        return act() if fault is None else self._faulty(fault, what, act)

    def _faulty(self, fault: Fault, what: str, act: Callable[[], T]) -> T:
        actor = self.stage.current
        assert actor is not None
        self.struck_at.append(self.stage.clock.now())
        if fault.before:
            self.stage.pause(fault.before)
        done = [act()] if fault.effect else []
        if fault.after:
            self.stage.pause(fault.after)
        self.struck_at.append(self.stage.clock.now())
        if fault.end is End.KILL:
            actor.killed = True
            raise Killed
        if fault.end is End.FAIL or not done:
            raise Retryable(what, "no answer")
        return done[0]
