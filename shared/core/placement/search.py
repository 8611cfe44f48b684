"""How far could the cluster shrink? Greedy passes in several orders, then exchanges that make the best of them better.

What is found is proved at the end of each round by placing it once more from the start. The number of steps limits
the search, not a clock, so that equal input gives an equal plan; whole rounds are done, so that more steps only add
rounds, and never make the result worse. A clock is only a brake, given by the caller (docs/decisions/choosing.md).
Must not know timers, budgets or policy: `planning` says who is a candidate.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

from shared.core.placement.choice import Candidate, Merit, Supply, Tally
from shared.core.placement.improvement import Choice, Improver
from shared.core.placement.reached import NOTHING_REACHED, Reached
from shared.core.placement.simulation import Simulation

STEPS: Final = 2_000
"""Pods and nodes tried before no further round is begun; the first round is always finished."""
STEPS_FOR_EACH: Final = 6
"""So many more for each node and pod of the cluster."""
ROUND: Final = 500
"""Steps of a round of exchanges; as many as the choice took to find, where that is more."""
NO_SUPPLIES: Final[Mapping[str, Supply]] = {}


@dataclass(frozen=True)
class SearchResult:
    """The best set of nodes: `simulation` shows where their pods go, `saving` is in micro-dollars per hour."""

    simulation: Simulation
    nodes: tuple[str, ...] = ()
    saving: int = 0
    merit: Merit = (0, 0, 0, 0, 0)
    steps: int = 0
    """Steps used."""
    braked: bool = False
    """Whether the brake ended it before its steps did."""


def never() -> bool:
    """Do not brake."""
    return False


def search(
    simulation: Simulation,
    candidates: Sequence[Candidate],
    steps: int | None = None,
    *,
    supplies: Mapping[str, Supply] = NO_SUPPLIES,
    brake: Callable[[], bool] = never,
    reached: Reached = NOTHING_REACHED,
) -> SearchResult:
    """Return the set of candidates that saves most, by as little disruption as was found.

    `simulation` stays as it is; of several strategies the search follows the first.

    Args:
        simulation: where the cluster stands.
        candidates: the nodes that may go.
        steps: the limit; None = one that grows with the cluster.
        supplies: by name, what the candidates' uses are of.
        brake: asked now and then; the search ends with the best so far as soon as it answers yes.
        reached: candidates that are known to go together, so that no less is found.
    """
    if simulation.unplaced or not candidates:
        return SearchResult(simulation)
    work = _Search(simulation, sorted(candidates, key=lambda each: (each.rank, each.name)), supplies)
    most = steps_for(simulation) if steps is None else steps
    nothing = SearchResult(simulation, merit=Tally(supplies).merit)
    best, used = max((nothing, *work.known(reached)), key=lambda each: each.merit), 0
    for choice, spent in work.rounds(brake):
        used += spent
        if choice.tally.merit > best.merit:
            best = max(best, work.prove(choice), key=lambda each: each.merit)
        if used >= most or len(best.nodes) == len(candidates):
            break
        if brake():
            return replace(best, steps=used, braked=True)
    return replace(best, steps=used)


def steps_for(simulation: Simulation) -> int:
    """Return the limit for a cluster of that size."""
    return STEPS + STEPS_FOR_EACH * simulation.arrays.size_of_cluster


def _is_for_a_buffer(unguided: Simulation | None, name: str) -> bool:
    """Whether a buffer keeps the node under some strategy; else it is taken there, if it can be."""
    refused = unguided.try_remove(name) if unguided else None
    return refused is not None and bool(refused.buffer)


class _Search:
    """The candidates of one search, by node index, and what its rounds share."""

    def __init__(self, simulation: Simulation, ranked: Sequence[Candidate], supplies: Mapping[str, Supply]) -> None:
        arrays = simulation.arrays
        self._simulation = simulation
        self._supplies = supplies
        self._candidates = {arrays.index[each.name]: each for each in ranked}
        self._load = {node: arrays.load(node) / max(each.cost, 1) for node, each in self._candidates.items()}

    def rounds(self, brake: Callable[[], bool]) -> Iterator[tuple[Choice, int]]:
        """Yield a choice and the steps it took, without end: one pass for each order, then exchanges on the best."""
        best: Choice | None = None
        for order in self._orders():
            choice = self._choice()
            for node in order:
                choice.take(node)
            best = choice if best is None or choice.tally.merit > best.tally.merit else best
            yield choice, choice.steps
        if best is not None:
            yield from self._exchanges(best, brake)

    def prove(self, choice: Choice) -> SearchResult:
        """Place all of it once more from the start; a node whose pods then find no place is given back.

        So is one that a buffer keeps where the scheduler does not follow: it puts pods into the very room of chunks.
        """
        trial, tally = self._simulation.guided(choice.lying()), Tally(self._supplies)
        unguided = self._simulation.copy() if self._simulation.keeps_buffers_robustly else None
        for node in choice.taken:
            each = self._candidates[node]
            if not _is_for_a_buffer(unguided, each.name) and trial.try_remove(each.name) is None:
                tally.add(each, len(trial.arrays.movable(node)))
            else:
                choice.give_back(node)
        return SearchResult(trial, trial.taken[len(self._simulation.taken) :], tally.saving, tally.merit)

    def known(self, reached: Reached) -> Iterator[SearchResult]:
        """Yield what comes of a set that is known, and of all that fits beside it; nothing where there is none."""
        if not reached.nodes:
            return
        arrays = self._simulation.arrays
        trial, tally = self._simulation.guided(reached.places_in(arrays)), Tally(self._supplies)
        begun = [arrays.index[name] for name in reached.nodes]
        for node in dict.fromkeys((*begun, *sorted(self._candidates, key=self._load.__getitem__))):
            each = self._candidates.get(node)
            if each and tally.has_room_for(each) and trial.try_remove(each.name) is None:
                tally.add(each, len(trial.arrays.movable(node)))
        yield SearchResult(trial, trial.taken[len(self._simulation.taken) :], tally.saving, tally.merit)

    def _choice(self) -> Choice:
        start, tally = self._simulation, Tally(self._supplies)
        return Choice(start.first_packing, self._candidates, tally, start.buffers, start.first_chunks)

    def _exchanges(self, choice: Choice, brake: Callable[[], bool]) -> Iterator[tuple[Choice, int]]:
        improver, length = Improver(choice, self._candidates, self._load), max(ROUND, choice.steps)
        while True:
            begun = choice.steps
            while choice.steps - begun < length and not brake():
                improver.try_once(strict=2 * (choice.steps - begun) > length)
            improver.complete()
            yield choice, choice.steps - begun

    def _orders(self) -> Iterator[Sequence[int]]:
        """Yield orders to try.

        Room is what a removal costs, money what it brings: the load that must move for each dollar; the disruption
        for each dollar; the capacity that is lost for each dollar (in steps of 5 %, by load within a step); money.
        """
        rows, load = self._candidates, self._load
        cost = {node: max(each.cost, 1) for node, each in rows.items()}
        capacity = {node: self._simulation.arrays.capacity(node) for node in rows}

        def by(key: Callable[[int], tuple[float, ...]]) -> Sequence[int]:
            return sorted(rows, key=lambda node: (not rows[node].first, *key(node)))

        yield by(lambda node: (load[node],))
        yield by(lambda node: (round(20 * log(capacity[node] / cost[node])), load[node]))
        yield by(lambda node: (rows[node].disruption / cost[node], load[node]))
        yield by(lambda node: (-cost[node],))
