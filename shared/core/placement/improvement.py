"""The search's second half: give back a node of little worth, and try to take others that it kept out.

Every trial either leaves the choice at least as good as it was, or leaves nothing behind. The dice have a fixed seed.
Must not prove anything: `search` does, of what comes out.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from shared.core.placement.buffer_room import BufferRoom, Chunks
from shared.core.placement.choice import Candidate, Tally
from shared.core.placement.packing import Packing
from shared.core.placement.rearrangement import Rearrangement

TRIES: Final = 6
"""Nodes tried in the place of those given back; three times as many are looked at."""
SIZES: Final = (1, 1, 2) * 5 + (8,)
"""How many nodes are given back, trial by trial."""
CHAIN: Final = 2
"""How many displaced pods in a row may be moved on for one that finds no place."""


class Choice(Rearrangement):
    """A rearrangement of which the worth is known at each moment, and in which buffers keep their room.

    `chunks` say how many of each must keep it: what the proof refuses for one is not chosen in the first place.
    """

    def __init__(
        self, start: Packing, candidates: Mapping[int, Candidate], tally: Tally, buffers: BufferRoom, chunks: Chunks
    ) -> None:
        super().__init__(start)
        self._candidates, self._buffers, self._chunks = candidates, buffers, chunks
        self.tally = tally

    def take(self, node: int, ejections: int = 0) -> bool:
        mark = self.mark()
        if not (self.tally.has_room_for(self._candidates[node]) and super().take(node, ejections)):
            return False
        if self._buffers.lost(self, node, self._chunks) is None:
            return True
        self.roll_back(mark)
        return False

    def _hold(self, kind: int, node: int, pods: int) -> None:
        super()._hold(kind, node, pods)
        self.tally.add(self._candidates[node], len(self._own_of(node)), pods)


class Improver:
    """Trials on one choice; `load` is what would have to move for each dollar, by node."""

    def __init__(self, choice: Choice, candidates: Mapping[int, Candidate], load: Mapping[int, float]) -> None:
        self.choice = choice
        self._candidates = candidates
        self._load = load
        self._nodes = sorted(load)
        self._dice = np.random.default_rng(0)
        self._trials = 0

    def try_once(self, *, strict: bool) -> None:
        """Exchange a few nodes for others, if that is not worse: `strict`, in no respect; otherwise, in money."""
        choice, before = self.choice, self.choice.tally.merit
        self._trials += 1
        ejections = CHAIN * (self._trials % 2)
        choice.keep()
        back = self._little_worth()
        for node in back:
            choice.give_back(node)
        for node in (*self._promising(), *back):
            if node not in choice:
                choice.take(node, ejections)
        after = choice.tally.merit
        if after < before and (strict or after[0] < before[0]):
            choice.roll_back(0)
        choice.steps += 1

    def complete(self) -> None:
        """Take what still finds a place once others move over."""
        self.choice.keep()
        for node in sorted(self._nodes, key=self._load.__getitem__):
            if node not in self.choice:
                self.choice.take(node, CHAIN)

    def _little_worth(self) -> list[int]:
        """Return one or two of the nodes taken: of three that the dice name, the one that costs most to move."""
        found = [node for node in self.choice.taken if not self._candidates[node].first]
        if not found:
            return []
        count = SIZES[self._trials % len(SIZES)]
        named = self._dice.integers(len(found), size=(count, 3)).tolist()
        return list(dict.fromkeys(max((found[place] for place in row), key=self._load.__getitem__) for row in named))

    def _promising(self) -> list[int]:
        named = self._dice.integers(len(self._nodes), size=3 * TRIES).tolist()
        found = dict.fromkeys(node for node in (self._nodes[place] for place in named) if node not in self.choice)
        noise = dict(zip(found, self._dice.uniform(0.5, 1.5, len(found)).tolist(), strict=True))
        return sorted(found, key=lambda node: noise[node] * self._load[node])[:TRIES]
