"""The one gate of every outside call: counted, recorded, failed by its number; and what befalls messages and clocks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from shared.errors import Retryable
from tests.faults.outages import ADVICE, Outage, kind_of
from tests.faults.thread_scheduler import Killed, ThreadScheduler

T = TypeVar("T")
MOST_CALLS = 20_000
"""A small history makes some hundreds; more means that somebody goes round in circles without sleeping."""


class CallEnd(StrEnum):
    GO = "go"
    FAIL = "fail"
    KILL = "kill"


@dataclass(frozen=True)
class CallFault:
    """Wait, perhaps take effect, wait, then end; seconds of virtual time."""

    end: CallEnd = CallEnd.GO
    effect: bool = True
    before: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        waits = f"{self.before:g}s before, {self.after:g}s after" if self.before or self.after else "at once"
        return f"{self.end.value} {'with' if self.effect else 'without'} effect, {waits}"


KILL_BEFORE = CallFault(CallEnd.KILL, effect=False)
KILL_AFTER = CallFault(CallEnd.KILL)


@dataclass(frozen=True)
class OutsideCall:
    number: int
    at: float
    actor: str
    what: str


class CallGate:
    def __init__(self, threads: ThreadScheduler, faults: Mapping[int, CallFault]) -> None:
        self.threads, self.faults = threads, faults
        self.calls: list[OutsideCall] = []
        self.outages: list[Outage] = []
        self.unread_at: list[float] = []
        """When reads of what only advises failed."""
        self.most_calls = MOST_CALLS
        self.struck_at: list[float] = []
        """When faults struck, and when they ended."""
        self.stopped_at: list[float] = []
        """When one killed or paused its actor; one that merely fails at once delays a look by a redelivery."""

    @property
    def actor(self) -> str:
        return self.threads.current.name if self.threads.current else ""

    def began_at(self) -> float:
        return next(call.at for call in reversed(self.calls) if call.actor == self.actor)

    def struck_passes(self) -> set[str]:
        struck = (self.calls[number].actor for number in self.faults if number < len(self.calls))
        return {actor for actor in struck if actor.startswith("tick")}

    def call(self, what: str, act: Callable[[], T], *, can_fail: bool = True) -> T:
        """Carry out one outside call. Raises Killed where the plan says so, and Retryable if such a call can fail."""
        actor = self.threads.current
        assert actor is not None
        if actor.killed:
            raise Killed
        self.threads.pause()
        call = OutsideCall(len(self.calls), self.threads.clock.now(), actor.name, what)
        self.calls.append(call)
        if call.number >= self.most_calls:
            raise AssertionError(f"{actor.name} goes round in circles at {what}")
        self._suffer(what, can_fail=can_fail)
        fault = self.faults.get(call.number)
        if fault is not None and fault.end is CallEnd.FAIL and not can_fail:
            fault = replace(fault, end=CallEnd.GO, effect=True)
        return act() if fault is None else self._faulty(fault, what, act)

    def _note_unread(self, what: str) -> None:
        if kind_of(what) in ADVICE:
            self.unread_at.append(self.threads.clock.now())

    def _suffer(self, what: str, *, can_fail: bool) -> None:
        """Be slow or fail as an outage of such calls has it. Raises what the outage does."""
        for outage in self.outages:
            if outage.strikes_at(self.threads.clock.now()) and outage.strikes(what) and can_fail:
                self.threads.pause(outage.slow)
                if outage.fails:
                    self._note_unread(what)
                    raise outage.failure(what)

    def _faulty(self, fault: CallFault, what: str, act: Callable[[], T]) -> T:
        actor = self.threads.current
        assert actor is not None
        begun = self.threads.clock.now()
        self.struck_at.append(begun)
        try:
            if fault.before:
                self.threads.pause(fault.before)
            done = [act()] if fault.effect else []
            if fault.after:
                self.threads.pause(fault.after)
        finally:
            self.struck_at.append(self.threads.clock.now())
            if fault.end is CallEnd.KILL or fault.before or fault.after:
                self.stopped_at += [begun, self.threads.clock.now()]
        if fault.end is CallEnd.KILL:
            actor.killed = True
            raise Killed
        if fault.end is CallEnd.FAIL or not done:
            self._note_unread(what)
            raise Retryable(what, "no answer")
        return done[0]


@dataclass(frozen=True)
class MessageFaults:
    """What befalls the pushes, by their number in the history: lost, doubled, late (seconds)."""

    lost: frozenset[int] = frozenset()
    doubled: frozenset[int] = frozenset()
    late: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ClockSkew:
    """How far the instances' clocks are off: every call draws its own offset and rate."""

    offset: float = 0.0
    rate: float = 0.0
