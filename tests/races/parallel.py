"""Starts claimers as processes of their own and lets them go at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from typing import TypeVar

from shared.adapters.process import system_time
from tests.races.claimer import PATIENCE, Race, RaceResult, claim, line_up, open_together

T = TypeVar("T")
_TIMEOUT = 2 * PATIENCE


def run(place: str, claimers: int, limit: int, *, strangers: bool = False) -> list[RaceResult]:
    """Race for `limit` claims and return what each claimer says."""
    race = Race(place, claimers, limit, system_time(), strangers)
    return _at_once([(claim, (race, number)) for number in range(claimers)])


def open_at_once(place: str, count: int) -> list[bool]:
    """Open one state in so many processes at the same moment."""
    return _at_once([(open_together, (place,))] * count)


def _at_once(calls: Sequence[tuple[Callable[..., T], tuple[object, ...]]]) -> list[T]:
    context = _context()
    with ProcessPoolExecutor(len(calls), context, line_up, (context.Barrier(len(calls)),)) as pool:
        waiting = [pool.submit(function, *arguments) for function, arguments in calls]
        return [each.result(_TIMEOUT) for each in waiting]


def in_a_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Call a function of a module in a process that has seen nothing before."""
    with ProcessPoolExecutor(1, _context()) as pool:
        return pool.submit(function, *arguments).result(_TIMEOUT)


def _context() -> ForkServerContext:
    """Processes that share nothing with this one: not forked from it, but from a server that only imports."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.races.claimer", "tests.races.restarts", "google.cloud.firestore"])
    return context
