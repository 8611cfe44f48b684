"""`ebb simulate`: gather, let the core play the days, print. Each run is by itself, in a process of its own."""

import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Delays
from functions.cli.input.files import read_policy
from functions.cli.input.inputs import EVERY_POOL, NO_MARKS, NO_POLICY, gather
from functions.cli.input.options import AnswerFormat, Sources, duration
from functions.cli.output.answers import print_answer
from functions.cli.output.format import count
from functions.cli.output.progress import reading_line
from functions.cli.simulate.demand import Hours, demand_of
from functions.cli.simulate.view import DaysView, document, parts
from shared.core.policy import Policy
from shared.core.policy.values import NO_COMMITMENTS
from shared.errors import BadInput

ALONE: Final = "autoscaler alone"
DEFAULTS: Final = "Ebb, default policy"
AS_IF: Final = "A policy in dry run or paused is played as if it were at work."
COSTS_MORE: Final = (
    "{name}: these days cost more than with the autoscaler alone. ebb plan sees one moment; "
    "an expensive node that stays is paid for until it goes."
)
_SMALL: Final = 2_000  # Nodes and pods of a cluster and a day that are played sooner than a process is started.


@dataclass(frozen=True, slots=True)
class SimulateRequest:
    sources: Sources
    policies: tuple[Path, ...]
    days: int
    hours: Hours
    boot: str


def show_days(request: SimulateRequest, output: AnswerFormat) -> None:
    """Play the days and print their totals: for people with the notes, for tools with these on stderr."""
    view = run_simulation(request)
    print_answer(output, lambda width: (parts(view, width),), lambda: document(view), view.notes)


def run_simulation(request: SimulateRequest) -> DaysView:
    """Gather the inputs and play the days; raise BadInput where not all of the cluster is known."""
    inputs = gather(request.sources, EVERY_POOL)
    if inputs.partial:
        raise BadInput(f"simulate: the dump is partial ({inputs.partial}); a day needs all nodes and pods.")
    delays = Delays(boot=duration("--boot", request.boot))
    named = {str(path): read_policy(path) for path in request.policies} or {DEFAULTS: EVERY_POOL}
    policies = {name: inputs.committed_under(policy) for name, policy in named.items()}
    lasts = timedelta(days=request.days)
    demand, about = demand_of(request.hours, inputs.snapshot, lasts)
    commitments = next((policy.commitments for policy in policies.values() if policy.commitments), NO_COMMITMENTS)
    days = Days(inputs.snapshot, inputs.prices, demand, lasts, delays, commitments)
    what = f"{count(request.days, 'day')} of {count(len(inputs.snapshot.nodes), 'node')}"
    with reading_line(what, doing="Playing"):
        outcomes = _play_days(days, (None, *policies.values()))
    runs = dict(zip((ALONE, *policies), outcomes, strict=True))
    view = DaysView(inputs.snapshot.cluster, inputs.snapshot.taken_at, request.days, runs, ())
    costing = (name for name, run in zip(view.names, runs.values(), strict=True) if view.saving_of(run) < 0)
    rests_on = (AS_IF,) if request.policies else (AS_IF, NO_POLICY)
    own = (note for note in inputs.notes if note != NO_MARKS)
    return replace(view, notes=(*(COSTS_MORE.format(name=name) for name in costing), *about, *rests_on, *own))


def _play_days(days: Days, policies: Sequence[Policy | None]) -> list[PlayedTotals]:
    size = (len(days.snapshot.nodes) + len(days.snapshot.pods)) * (days.lasts // timedelta(days=1))
    if size < _SMALL or (os.cpu_count() or 1) == 1 or "fork" not in multiprocessing.get_all_start_methods():
        return [simulate(days, policy) for policy in policies]
    sys.stdout.flush()
    fork = multiprocessing.get_context("fork")  # the children inherit the snapshot: it need not be written and read
    workers = min(len(policies), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, fork, initializer=_inherited.append, initargs=((days, policies),)) as pool:
        return list(pool.map(_play, range(len(policies))))


_inherited: list[tuple[Days, Sequence[Policy | None]]] = []  # In a child: what all of them play.


def _play(place: int) -> PlayedTotals:
    days, policies = _inherited[-1]
    return simulate(days, policies[place])
