"""The table of all histories that are drawn: a run draws equal parts of each family, other ones with each seed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, product
from random import Random
from typing import Final
from zlib import crc32

from tests.faults.catalog import (
    EACH_CALL,
    LONG_UPGRADE,
    OUTAGE,
    PROVIDER_ACTION,
    begun_in,
    each_call,
    long_upgrades,
    outages,
    provider_actions,
)
from tests.faults.history import History
from tests.faults.mixtures import MIXTURES, PLAIN, Worlds, mixture
from tests.faults.neighbours import beside_neighbours
from tests.faults.partly import PARTLY, partly, partly_histories
from tests.faults.replaced import replaced_settings
from tests.faults.returning_worlds import returning_settings
from tests.faults.rich_worlds import drawn_rich, rich_settings
from tests.faults.steering import ranks_or_scales_in, steered_settings
from tests.faults.surging_worlds import rolls_out, surging_settings
from tests.faults.waved_worlds import waved_settings
from tests.faults.worlds import with_buffers

DEEPER: Final = 8
"""So many parts of each family has a deep run, where another one has one."""
LONGER: Final = 2
"""So many times fewer parts of what lasts for hours has a deep run: such a history costs five others."""
UPGRADES_SHARE: Final = 19
"""Of the long upgrades of each world."""
_CHUNK: Final = 50
"""Mixtures in one test."""
_SEEDS: Final = 1_000_000
"""More mixtures than a run draws: those of two runs differ."""


@dataclass(frozen=True)
class Family:
    """Worlds, and what is tried there: one of so many faulty calls, actions of GKE and outages, and so many mixtures.

    Shares have no divisor with the numbers of halves, nodes and moments, so that each of those has its turn.
    """

    worlds: Worlds
    call_share: int
    action_share: int
    outage_share: int
    mixtures: int
    partly_share: int = 1999
    """Of what fails only in part: for each world more than for any other kind, and worth most where waves live."""


FAMILIES: Final = (
    Family(PLAIN, 41, 5, 89, 250),
    Family(Worlds("rich", lambda: begun_in(rich_settings()), drawn_rich), 331, 53, 229, 40),
    Family(Worlds("returning", lambda: begun_in(returning_settings())), 173, 73, 229, 15),
    Family(Worlds("buffered", lambda: begun_in(with_buffers())), 181, 53, 229, 10),
    Family(Worlds("surging", lambda: begun_in(surging_settings()), owner=rolls_out), 331, 73, 229, 25),
    Family(Worlds("steered", lambda: begun_in(steered_settings()), owner=ranks_or_scales_in), 113, 53, 229, 15),
    Family(Worlds("waved", lambda: begun_in(waved_settings())), 113, 53, 229, 15),
    Family(Worlds("replaced", lambda: begun_in(replaced_settings())), 113, 53, 229, 15),
    Family(Worlds("neighbours", beside_neighbours), 499, 109, 457, 10),
    Family(Worlds("partly", partly_histories), 331, 53, 89, 15, 173),
)


@dataclass(frozen=True)
class Part:
    """One of so many equal parts of a world's histories, or some mixtures; `number` says which."""

    of: str
    whole: Callable[[], Iterable[History]]
    number: int = 0
    parts: int = 1

    def __str__(self) -> str:
        return f"{self.of}, {self.number} of {self.parts}" if self.parts > 1 else self.of

    @property
    def kind(self) -> str:
        kind, colon, _ = self.of.partition(": ")
        return kind if colon else "mixtures"

    def histories(self) -> Iterator[History]:
        return islice(self.whole(), self.number, None, self.parts)


def parts(seed: int, times: int = 1) -> Iterator[Part]:
    """Give what a run with this seed draws, some times as deep."""
    for family in FAMILIES:
        for base in family.worlds.by_hand():
            yield from _shares(f"calls: {base.name}", partial(_faulty_calls, base), family.call_share, seed, times)
            actions = partial(provider_actions, base)
            yield from _shares(f"actions: {base.name}", actions, family.action_share, seed, times)
            long = max(1, times // LONGER)
            yield from _shares(f"outages: {base.name}", partial(outages, base), family.outage_share, seed, long)
            yield from _shares(f"partly: {base.name}", partial(partly, base), family.partly_share, seed, long)
            yield from _shares(f"upgrades: {base.name}", partial(long_upgrades, base), UPGRADES_SHARE, seed, long)
        yield from _mixtures(family, seed * _SEEDS, family.mixtures * times)


def shuffled(seed: int) -> Iterator[History]:
    """Give the histories that a run with this seed draws, in an order that mixes families."""
    drawn = list(parts(seed))
    Random(seed).shuffle(drawn)  # noqa: S311 - an order, not a secret
    for part in drawn:
        yield from part.histories()


def share(name: str, of: int, seed: int) -> int:
    return (seed + crc32(name.encode())) % of


def _shares(name: str, whole: Callable[[], Iterable[History]], of: int, seed: int, times: int) -> Iterator[Part]:
    first, most = share(name, of, seed), min(times, of)
    for number in range(most):
        yield Part(name, whole, (first + number * (of // most)) % of, of)


def _faulty_calls(base: History) -> Iterable[History]:
    return chain.from_iterable(each_call(kind, base) for kind in EACH_CALL)


def _mixtures(family: Family, first: int, most: int) -> Iterator[Part]:
    for (kind, people), begin in product(MIXTURES.items(), range(first, first + most, _CHUNK)):
        seeds = range(begin, min(begin + _CHUNK, first + most))
        draw = partial(mixture, people=people, worlds=family.worlds)
        yield Part(f"{family.worlds.name} {kind} from {begin}", partial(map, draw, seeds))


@cache
def bases() -> dict[str, History]:
    return {base.name: base for family in FAMILIES for base in family.worlds.by_hand()}


def history_named(name: str) -> History:
    """Return the history `FAMILY MIXTURE:SEED`, `KIND:WORLD:NUMBER` or `WORLD`. Raises KeyError or ValueError."""
    kind, _, rest = name.partition(":")
    family, _, mixed = kind.rpartition(" ")
    if rest and mixed in MIXTURES:
        worlds = {row.worlds.name: row.worlds for row in FAMILIES}[family]
        return mixture(int(rest), people=MIXTURES[mixed], worlds=worlds)
    world, _, number = rest.rpartition(":")
    base = bases()[world or kind]
    if not rest:
        return base
    made = _MADE[kind](base) if kind in _MADE else each_call(kind, base)
    return next(islice(made, int(number), None))


_MADE: Final = {PROVIDER_ACTION: provider_actions, OUTAGE: outages, PARTLY: partly, LONG_UPGRADE: long_upgrades}
