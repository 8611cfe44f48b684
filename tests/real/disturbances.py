"""One run: load, people, the planner's calls and kills, all at times that one seed draws."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random

import requests

from tests.depth import DEEP
from tests.real.installation import Installation, Memory
from tests.real.load import ChangingLoad
from tests.real.process_killer import Killer

TICK_EVERY = 12.0 if DEEP else 6.0
BEGINS = {"strike": 10.0, "turn": 4.0, "interfere": 15.0, "top up": 2.0, "look": 1.0}
EVERY = {"strike": (4, 10), "turn": (10, 16), "interfere": (6, 12), "top up": (8, 12), "look": (2, 2)}
"""Seconds until an act comes for the first time, and between which it comes again."""
_ENDED = frozenset({"removed", "given_back", "overruled", "released"})


class Planner(threading.Thread):
    """Cloud Scheduler: calls the planner every few seconds, whatever it answers."""

    def __init__(self, ebb: Installation) -> None:
        super().__init__(daemon=True)
        self._ebb, self._stopping = ebb, threading.Event()
        self.answers: Counter[str] = Counter()

    def run(self) -> None:
        while not self._stopping.wait(TICK_EVERY):
            self.answers[self._call()] += 1

    def stop(self) -> None:
        self._stopping.set()
        self.join(60)

    def _call(self) -> str:
        try:
            response = requests.post(f"http://127.0.0.1:{self._ebb.planner_port}/", json={}, timeout=60)
        except requests.RequestException as killed:
            return type(killed).__name__
        return "duplicate" if "duplicate" in response.text else str(response.status_code)


class Disturbances:
    def __init__(self, ebb: Installation, load: ChangingLoad, random: Random) -> None:
        self._load, self._random = load, random
        self.killer = Killer(ebb, random)
        self._memory = Memory(ebb)
        self._due = dict(BEGINS)
        self._began = time.monotonic()
        self.most_claims = 0
        """The most claims that stood at any look: an excess would stand for many looks."""
        self.outcomes: Counter[str] = Counter()
        """How drains ended, or else their phase."""

    def live(self) -> int:
        acts: dict[str, Callable[[], None]] = {
            "strike": self.killer.strike,
            "turn": self._load.turn,
            "interfere": self._load.interfere,
            "top up": self._load.top_up,
            "look": self.look,
        }
        for name, act in acts.items():
            now = time.monotonic() - self._began
            if now >= self._due[name]:
                act()
                self._due[name] = now + self._random.uniform(*EVERY[name])
        return sum(count for outcome, count in self.outcomes.items() if outcome in _ENDED)

    def look(self) -> None:
        claims = len(self._memory.state().claims)
        self.most_claims = max(self.most_claims, claims)
        self.outcomes = Counter(record.outcome or record.phase.value for record in self._memory.records())
        self.say(f"{dict(self.outcomes)}, {claims} claims, killed {self.killer.killed}")

    def is_over(self) -> bool:
        threading.Event().wait(1.0)
        self.look()
        return self._memory.has_ended_drains() and not self._load.held()

    def summary(self) -> str:
        ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        seconds = time.monotonic() - self._began
        return f"{ended}; killed {self.killer.killed}; at most {self.most_claims} claims at once; {seconds:.0f} s"

    def say(self, line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - self._began:.0f} s: {line}\n")
        sys.stdout.flush()
