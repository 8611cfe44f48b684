"""How far could the cluster shrink? Greedy passes in several orders, then exchanges that improve the best of them.

A number of steps limits the search, not a clock, and its dice have a fixed seed, so that equal input gives an equal
plan. Whole rounds are done and proved, so that more steps never make the result worse; a clock is only a brake
(docs/decisions/choosing.md).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Final

import numpy as np

from shared.core.placement.buffer_room import BufferRoom, Chunks
from shared.core.placement.packing import NOTHING_REACHED, Packing, Reached
from shared.core.placement.rearrangement import Rearrangement
from shared.core.placement.simulation import Simulation

TRIES: Final = 6  # Nodes tried in the place of those reopened; three times as many are looked at.
SIZES: Final = (1, 1, 2) * 5 + (8,)  # How many nodes are reopened, trial by trial.
CHAIN: Final = 2  # How many displaced pods in a row may be moved on for one that finds no place.

Lost = Callable[[Sequence[int]], int]
"""Returns how many micro-dollars an hour nodes of these amounts save less than they cost (`planning.bill`)."""
LITTLE: Final = 10  # Micro-dollars an hour, less than a cent a month: a node that saves no more saves nothing.
Merit = tuple[int, int, int, int, int]  # Compared from left to right, more is better: see `Tally.merit`.


@dataclass(frozen=True, slots=True)
class Use:
    """What taking a node takes of a supply that must not run out, and how much must be left for that."""

    supply: str
    takes: int
    needs: int
    left: int  # How much there is before any node is taken.
    balanced: bool = False  # Whether what is left should stay as large as its like, in squares.


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    cost: int  # Its price, in micro-dollars per hour.
    disruption: int = 0  # What the evictions would cost, in any unit.
    uses: tuple[Use, ...] = ()
    rank: int = 0  # Its place among the candidates by what else is preferred: of equals the earlier goes.
    first: bool = False
    """Whether it goes whatever it saves, and so is never weighed against others: it is empty, or has expired."""
    amounts: tuple[int, ...] = ()  # What it takes off what commitments may cover; empty where nothing is committed.


@dataclass
class Tally:
    """What the nodes taken are worth together; `lost` is what they save less than they cost, None for nothing."""

    lost: Lost | None = None
    balanced: Mapping[str, int] = field(default_factory=dict)
    """How much there is of each supply that should stay as large as its like."""
    cost: int = 0
    disruption: int = 0
    evictions: int = 0
    ranks: int = 0
    used: Counter[str] = field(default_factory=Counter)  # By supply.
    gone: tuple[int, ...] = ()  # The amounts of all.

    def add(self, candidate: Candidate, evictions: int, nodes: int = 1) -> None:
        self.cost += nodes * candidate.cost
        self.disruption += nodes * candidate.disruption
        self.evictions += nodes * evictions
        self.ranks += nodes * candidate.rank
        for use in candidate.uses:
            self.used[use.supply] += nodes * use.takes
        if self.lost:
            self.gone = self._gone(candidate, nodes)

    def _gone(self, candidate: Candidate, nodes: int) -> tuple[int, ...]:
        gone = self.gone or (0,) * len(candidate.amounts)
        return tuple(have + nodes * own for have, own in zip(gone, candidate.amounts, strict=True))

    @property
    def saving(self) -> int:
        return self.cost - (self.lost(self.gone) if self.lost and self.gone else 0)

    def saved_by(self, candidate: Candidate, *, taken: bool = False) -> int:
        """Return what a candidate adds to the saving; of one that is taken: what it has added to that of all others."""
        if self.lost is None:
            return candidate.cost
        rows = (self._gone(candidate, -1), self.gone) if taken else (self.gone, self._gone(candidate, 1))
        before, after = (self.lost(gone) if gone else 0 for gone in rows)
        return candidate.cost - (after - before)

    def is_for_nothing(self, candidate: Candidate, *, taken: bool = False) -> bool:
        """Whether commitments cover all that the candidate costs; of one that is taken: whether the others suffice."""
        if self.lost is None or candidate.first:
            return False
        return self.saved_by(candidate, taken=taken) <= LITTLE < candidate.cost

    def has_room_for(self, candidate: Candidate) -> bool:
        return all(use.left - self.used[use.supply] >= use.needs for use in candidate.uses)

    @property
    def merit(self) -> Merit:
        """Money; what evictions cost; how many they are; how evenly the supplies are left; the ranks."""
        uneven = sum((left - self.used[name]) ** 2 for name, left in self.balanced.items())
        return self.saving, -self.disruption, -self.evictions, -uneven, -self.ranks


class Choice(Rearrangement):
    """A rearrangement of which the worth is known at each moment, and in which `chunks` of buffers keep their room."""

    # What the proof refuses for a buffer is not chosen in the first place.

    def __init__(
        self, start: Packing, candidates: Mapping[int, Candidate], tally: Tally, buffers: BufferRoom, chunks: Chunks
    ) -> None:
        super().__init__(start)
        self._candidates, self._buffers, self._chunks = candidates, buffers, chunks
        self.tally = tally

    def take(self, node: int, ejections: int = 0) -> bool:
        mark, asked = self.mark(), self._candidates[node]
        if self.tally.is_for_nothing(asked) or not (self.tally.has_room_for(asked) and super().take(node, ejections)):
            return False
        if self._buffers.lost_place(self, node, self._chunks) is None:
            return True
        self.roll_back(mark)
        return False

    def let_stand(self) -> None:
        """Return the nodes that later ones have made needless: those that cost most to move first."""
        if self.tally.lost is None:
            return
        rows = {node: self._candidates[node] for node in self.taken}
        for node in sorted(rows, key=lambda node: (-rows[node].disruption, -len(self.own_of(node)), node)):
            if self.tally.is_for_nothing(rows[node], taken=True):
                self.put_back(node)

    def _hold(self, kind: int, node: int, pods: int) -> None:
        super()._hold(kind, node, pods)
        self.tally.add(self._candidates[node], len(self.own_of(node)), pods)


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
            choice.put_back(node)
        for node in (*self._promising(), *back):
            if node not in choice:
                choice.take(node, ejections)
        after = choice.tally.merit
        if after < before and (strict or after[0] < before[0]):
            choice.roll_back(0)
        choice.steps += 1

    def complete(self) -> None:
        self.choice.keep()
        for node in sorted(self._nodes, key=self._load.__getitem__):
            if node not in self.choice:
                self.choice.take(node, CHAIN)
        self.choice.let_stand()

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


STEPS: Final = 2_000  # Pods and nodes tried before no further round is begun; the first round is always finished.
STEPS_FOR_EACH: Final = 6  # So many more for each node and pod of the cluster.
ROUND: Final = 500  # Steps of a round of exchanges; as many as the choice took to find, where that is more.
SMALL: Final = 2_000
"""Nodes and pods of a cluster in which what a search by prices alone finds is a beginning, too: no bill is higher."""


@dataclass(frozen=True)
class SearchResult:
    """The best set of nodes: `simulation` shows where their pods go, `saving` is in micro-dollars per hour."""

    simulation: Simulation
    nodes: tuple[str, ...] = ()
    saving: int = 0
    merit: Merit = (0, 0, 0, 0, 0)
    steps: int = 0  # Steps used.
    braked: bool = False  # Whether the brake ended it before its steps did.


def never() -> bool:
    """Do not brake."""
    return False


def search(
    simulation: Simulation,
    candidates: Sequence[Candidate],
    steps: int | None = None,
    *,
    brake: Callable[[], bool] = never,
    reached: Reached = NOTHING_REACHED,
    lost: Lost | None = None,
) -> SearchResult:
    """Return the set of candidates that saves most, by as little disruption as was found."""
    # `simulation` stays as it is.
    # `steps` None grows with the cluster. `reached` are candidates known to go together, so that no less is found.
    # Under commitments (`lost`) each node that is taken saves the less; what saves nothing is not taken.
    if simulation.unplaced or not candidates:
        return SearchResult(simulation)
    ranked = sorted(candidates, key=lambda candidate: (candidate.rank, candidate.name))
    work, size = _Search(simulation, ranked, lost), simulation.arrays.size_of_cluster
    most = STEPS + STEPS_FOR_EACH * size if steps is None else steps
    nothing = SearchResult(simulation, merit=work.tally().merit)
    begun = [nothing, *work.extend_known_set(reached)]
    if lost and size <= SMALL:
        begun += work.by_price(search(simulation, candidates, steps, brake=brake, reached=reached))
    best, used = max(begun, key=lambda result: result.merit), 0
    for choice, spent in work.rounds(brake):
        used += spent
        if choice.tally.merit > best.merit:
            best = max(best, work.prove(choice), key=lambda result: result.merit)
        if used >= most or len(best.nodes) == len(candidates):
            break
        if brake():
            return replace(best, steps=used, braked=True)
    return replace(best, steps=used)


class _Search:
    """The candidates of one search, by node index, and what its rounds share."""

    def __init__(self, simulation: Simulation, ranked: Sequence[Candidate], lost: Lost | None) -> None:
        arrays = simulation.arrays
        self._simulation, self._lost = simulation, lost
        self._balanced = {use.supply: use.left for row in ranked for use in row.uses if use.balanced}
        self._candidates = {arrays.index[candidate.name]: candidate for candidate in ranked}
        self._dollars = {node: max(self.tally().saved_by(row), 1) for node, row in self._candidates.items()}
        self._load = {node: arrays.load(node) / dollar for node, dollar in self._dollars.items()}

    def tally(self) -> Tally:
        return Tally(self._lost, self._balanced)

    def rounds(self, brake: Callable[[], bool]) -> Iterator[tuple[Choice, int]]:
        """Yield a choice and the steps it took, without end: one pass for each order, then exchanges on the best."""
        best: Choice | None = None
        start = self._simulation
        for order in self._orders():
            choice = Choice(start.first_packing, self._candidates, self.tally(), start.buffers, start.first_chunks)
            for node in order:
                choice.take(node)
            choice.let_stand()
            best = choice if best is None or choice.tally.merit > best.tally.merit else best
            yield choice, choice.steps
        if best is not None and len(self._candidates) > 1:  # a single one can be exchanged for nothing
            yield from self._exchanges(best, brake)

    def prove(self, choice: Choice) -> SearchResult:
        """Place the whole set once more from the start; a node whose pods then find no place returns to it."""
        # So does one that a buffer keeps where the scheduler does not follow and puts pods into the room of chunks.
        trial, tally = self._simulation.with_guide(choice.lying()), self.tally()
        unguided = self._simulation.copy() if self._simulation.keeps_buffers_robustly else None
        for node in choice.taken:
            chosen = self._candidates[node]
            # Under some strategy a buffer may keep the node; else it is taken there, too, if it can be.
            refused = unguided.try_remove(chosen.name) if unguided else None
            if not (refused and refused.buffer) and trial.try_remove(chosen.name) is None:
                tally.add(chosen, len(trial.arrays.movable(node)))
            else:
                choice.put_back(node)
        return SearchResult(trial, trial.taken[len(self._simulation.taken) :], tally.saving, tally.merit)

    def extend_known_set(self, reached: Reached) -> Iterator[SearchResult]:
        """Yield what comes of a set that is known, and of all that fits with it; nothing where there is none."""
        if not reached.nodes:
            return
        arrays = self._simulation.arrays
        trial, tally = self._simulation.with_guide(reached.places_in(arrays)), self.tally()
        begun = [arrays.index[name] for name in reached.nodes]
        for node in dict.fromkeys((*begun, *sorted(self._candidates, key=self._load.__getitem__))):
            asked = self._candidates.get(node)
            if not asked or tally.is_for_nothing(asked) or not tally.has_room_for(asked):
                continue
            if trial.try_remove(asked.name) is None:
                tally.add(asked, len(trial.arrays.movable(node)))
        yield SearchResult(trial, trial.taken[len(self._simulation.taken) :], tally.saving, tally.merit)

    def by_price(self, found: SearchResult) -> Iterator[SearchResult]:
        """Yield a set that was found by prices alone as it is, and without what saves nothing."""
        arrays, tally = self._simulation.arrays, self.tally()
        for name in found.nodes:
            node = arrays.index[name]
            tally.add(self._candidates[node], len(arrays.movable(node)))
        yield replace(found, saving=tally.saving, merit=tally.merit)
        places = {move.pod: move.node for own in found.simulation.assignments.moves().values() for move in own}
        yield from self.extend_known_set(Reached(found.nodes, places))

    def _exchanges(self, choice: Choice, brake: Callable[[], bool]) -> Iterator[tuple[Choice, int]]:
        improver, length = Improver(choice, self._candidates, self._load), max(ROUND, choice.steps)
        while True:
            begun = choice.steps
            while choice.steps - begun < length and not brake():
                improver.try_once(strict=2 * (choice.steps - begun) > length)
            improver.complete()
            yield choice, choice.steps - begun

    def _orders(self) -> Iterator[Sequence[int]]:
        """Yield orders to try: room is what a removal costs, money what it brings."""
        # Load by dollar; lost capacity by dollar (in steps of 5 %, by load within a step); disruption; money.
        rows, load, cost = self._candidates, self._load, self._dollars
        capacity = {node: self._simulation.arrays.capacity(node) for node in rows}

        def by(key: Callable[[int], tuple[float, ...]]) -> Sequence[int]:
            return sorted(rows, key=lambda node: (not rows[node].first, *key(node)))

        yield by(lambda node: (load[node],))
        yield by(lambda node: (round(20 * log(capacity[node] / cost[node])), load[node]))
        yield by(lambda node: (rows[node].disruption / cost[node], load[node]))
        yield by(lambda node: (-cost[node],))
