"""How far could the cluster shrink? Several greedy passes over the candidates, of which the best saving is kept.

The number of steps limits the search, not a clock, so that equal input gives an equal plan.
Must not know timers, budgets or policy: `planning` says who is a candidate.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from shared.core.placement.simulation import Simulation

STEPS: Final = 10_000
"""Pods and nodes tried before no further pass is begun; the first pass is always finished."""


@dataclass(frozen=True)
class Candidate:
    """A node that may go; `cost` is in micro-dollars per hour."""

    name: str
    cost: int


@dataclass(frozen=True)
class SearchResult:
    """The best set of nodes: `simulation` shows where their pods go, `saving` is in micro-dollars per hour."""

    simulation: Simulation
    nodes: tuple[str, ...]
    saving: int
    steps: int
    """Steps used."""


def search(simulation: Simulation, candidates: Sequence[Candidate], steps: int = STEPS) -> SearchResult:
    """Return the set of candidates that saves most, by as few moves as were found; `simulation` stays as it is."""
    ranked = sorted(candidates, key=lambda each: each.name)
    best = SearchResult(simulation, (), 0, 0)
    used = 0
    for order in _orders(simulation, ranked):
        found = _one_pass(simulation, order)
        used += found.steps
        best = max(best, found, key=_merit)
        if used >= steps or not ranked:
            break
    return SearchResult(best.simulation, best.nodes, best.saving, used)


def _merit(found: SearchResult) -> tuple[int, int]:
    """Money first, then as few moves as possible; of equals the earlier is kept."""
    return found.saving, -found.simulation.placement_count


def _one_pass(simulation: Simulation, order: Sequence[Candidate]) -> SearchResult:
    trial = simulation.copy()
    taken = [each for each in order if trial.try_remove(each.name) is None]
    steps = len(order) + trial.placement_count - simulation.placement_count
    return SearchResult(trial, tuple(each.name for each in taken), sum(each.cost for each in taken), steps)


def _orders(simulation: Simulation, ranked: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Yield orders to try without end: three plain ideas, then near misses of the first.

    Room is what a removal costs, money what it brings: the load that must move for each dollar; the capacity that
    is lost for each dollar (in steps of 5 %, by load within a step); money alone.
    """
    load = {each.name: simulation.load(each.name) / max(each.cost, 1) for each in ranked}
    lost = {each.name: round(20 * log(simulation.capacity(each.name) / max(each.cost, 1))) for each in ranked}

    def by(key: Callable[[Candidate], tuple[float, ...]]) -> Sequence[Candidate]:
        return sorted(ranked, key=key)

    yield by(lambda each: (load[each.name],))
    yield by(lambda each: (lost[each.name], load[each.name]))
    yield by(lambda each: (-each.cost,))
    generator = np.random.default_rng(0)
    while True:
        noise = dict(zip((each.name for each in ranked), generator.uniform(0.5, 1.5, len(ranked)), strict=True))
        yield by(lambda each: (load[each.name] * noise[each.name],))  # noqa: B023 - sorted at once
