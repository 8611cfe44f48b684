"""The cooperative scheduler: each function call is a thread, exactly one runs, and the seed says who goes on.

Threads switch only inside `pause`, which every outside call and every sleep goes through. Virtual time stands still
while anybody can run. Must know nothing of Ebb.
"""

import _thread
import threading
from collections.abc import Callable
from random import Random

from infra.local.clocks import ManualClock

_PATIENCE = 600.0
"""Seconds of real time after which a thread that does not hand over is called stuck; other tests may hold the CPUs."""


class Killed(BaseException):
    """The instance is no more. No `except Exception` may see it; every further outside call raises it again."""


class Actor:
    """One call of a function in its own thread. `rate` is how fast its instance's clock runs."""

    def __init__(self, name: str, rate: float, offset: float) -> None:
        self.name, self.rate, self.offset = name, rate, offset
        self.due = 0.0
        self.killed = False
        self.over = False
        self.failure: BaseException | None = None
        self.turn = threading.Lock()
        self.turn.acquire()


class ThreadScheduler:
    def __init__(self, clock: ManualClock, random: Random) -> None:
        self.clock, self.random = clock, random
        self.actors: list[Actor] = []
        self.current: Actor | None = None
        self._main = threading.Lock()
        self._main.acquire()
        self._is_dismissed = False

    def start(self, actor: Actor, act: Callable[[], None]) -> None:
        """Add an actor that is ready now; it first runs when `run` lets it."""
        actor.due = self.clock.now()
        self.actors.append(actor)
        _thread.start_new_thread(self._live, (actor, act))  # a Thread would wait for its start: half the time of a call

    def run(self) -> None:
        """Let the actors run until all of them sleep or have ended. Raises what an actor died of."""
        first = self._next()
        if first is None:
            return
        self._hand_to(first)
        self._wait_for_all()
        for actor in [actor for actor in self.actors if actor.over]:
            self.actors.remove(actor)
            if actor.failure is not None:
                raise actor.failure

    def pause(self, seconds: float = 0.0) -> None:
        """Stop the current actor for so long (0: only to let others in)."""
        actor = self.current
        assert actor is not None
        actor.due = self.clock.now() + seconds
        following = self._next()
        if following is actor:
            return
        self._hand_to(following)
        actor.turn.acquire()  # for as long as the others need; the main thread's wait shows which is stuck
        if self._is_dismissed:
            raise Killed

    def dismiss(self) -> None:
        """End the actors that still sleep, as a kill does: the history is over, and no thread may outlive it."""
        self._is_dismissed = True
        for actor in self.actors:
            actor.killed = True
            self._hand_to(actor)
            self._wait_for_all()

    def wakes_at(self) -> float | None:
        return min((actor.due for actor in self.actors), default=None)

    def _next(self) -> Actor | None:
        now = self.clock.now()
        ready = [actor for actor in self.actors if not actor.over and actor.due <= now]
        return self.random.choice(ready) if len(ready) > 1 else ready[0] if ready else None

    def _hand_to(self, actor: Actor | None) -> None:
        self.current = actor
        (self._main if actor is None else actor.turn).release()

    def _wait_for_all(self) -> None:
        if not self._main.acquire(timeout=_PATIENCE):
            raise RuntimeError("an actor does not hand over: it waits for something outside the scheduler")

    def _live(self, actor: Actor, act: Callable[[], None]) -> None:
        actor.turn.acquire()
        try:
            act()
        except Killed:
            actor.killed = True
        except BaseException as failure:  # noqa: BLE001 - raised again by `run` in the main thread
            actor.failure = failure
        actor.over = True
        self._hand_to(None if self._is_dismissed else self._next())
