"""`ebb fleet`: reads all sources in processes of their own, shows progress, prints one view."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeVar

import typer

from functions.cli.errors import WRONG
from functions.cli.fleet import prints
from functions.cli.fleet.cluster_reading import (
    SourceResult,
    be_quiet,
    drop_older_readings,
    read_source,
    share_commitments,
)
from functions.cli.fleet.installations import InstallationResult, read_installations
from functions.cli.fleet.sources import ClusterSource, FleetPlanning, FleetRequest, check, clusters_of, installations_of
from functions.cli.fleet.view import FleetView, view_of
from functions.cli.input.commitments import read_commitments
from functions.cli.input.files import read_policy, write_text
from functions.cli.input.options import AnswerFormat, FleetSort
from functions.cli.input.pricing import load_prices
from functions.cli.output.answers import print_pages
from functions.cli.output.progress import LineOfProgress

ReadResult = TypeVar("ReadResult", SourceResult, InstallationResult)
Read = Callable[[ClusterSource], SourceResult]
ENDED: Final = "Its process was ended while it was read: most often the machine's memory ran out; try --jobs 1."
UNEXPECTED: Final = "It could not be planned ({fault}): a fault of Ebb; ebb plan on it alone shows where."
MOST_JOBS: Final = 8  # More at once would rather fill the memory than be faster.


def read_all(sources: Sequence[ClusterSource], read: Read, jobs: int) -> Iterator[SourceResult]:
    left: list[ClusterSource] = []
    for result in _round(sources, read, min(jobs, max(len(sources), 1))):
        if result.faults == (ENDED,):
            left.append(result.source)
        else:
            yield result
    # Which cluster ended a process is unknown: those that were not done are read again, each in its own process.
    for source in left:
        yield from _round((source,), read, 1)


def new_processes(jobs: int) -> Executor:
    """Return so many processes, each started afresh: a forked one would inherit locks and consoles."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=be_quiet)


def _round(sources: Sequence[ClusterSource], read: Read, jobs: int) -> Iterator[SourceResult]:
    with new_processes(jobs) as processes:
        try:
            under_way = {processes.submit(partial(read, source)): source for source in sources}
            for future in as_completed(under_way):
                yield _result(under_way[future], future)
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            raise


def _result(source: ClusterSource, future: Future[SourceResult]) -> SourceResult:
    fault = future.exception()
    if fault is None:
        return future.result()
    if isinstance(fault, BrokenProcessPool):
        return SourceResult(source, faults=(ENDED,))
    return SourceResult(source, faults=(UNEXPECTED.format(fault=f"{type(fault).__name__}: {fault}"),))


def show(view: FleetView, output: AnswerFormat, top: int | None) -> None:
    """Print the fleet; `top` chooses among the rows, and all sums stay those of the whole."""
    print_pages(output, lambda width: (prints.parts(view, top, width),), lambda: prints.document(view, top), view.notes)


DEFAULT_JOBS: Final = max(1, min(MOST_JOBS, os.cpu_count() or 1))


def show_fleet(view: FleetView, output: AnswerFormat, top: int | None, out: Path | None = None) -> None:
    """Print one row a cluster, and write the page where one was asked for; exit with 1 if one could not be read."""
    if out:
        text = prints.draw_fleet(view)
        write_text(out, text, "--out")
        size = f"{len(text.encode()) // 1024 + 1:,} KiB"
        typer.echo(f"{out}: {size}, with the names of clusters and pools in it.", err=True)
    show(view, output, top)
    if view.not_read:
        raise typer.Exit(WRONG)


def read_fleet(request: FleetRequest, jobs: int, sort: FleetSort) -> FleetView:
    """Read and plan all that was named. BadInput: nothing was named, or what is not there; BadPolicy."""
    check(request)
    load_prices(request.prices)
    planning = _planning(request)
    installations = installations_of(request, os.environ)
    sources = clusters_of(request, installations, os.environ)
    of = len(installations) + len(sources)
    with LineOfProgress(lambda done, last: f"Reading the fleet  {done} of {of}  {last}".rstrip(), after=0) as progress:
        progress.draw()
        states = list(_count_results(progress, read_installations(installations)))
        known = {state.source.cluster: state.health.policy for state in states if state.health}
        planning = replace(planning, by_cluster={name: policy for name, policy in known.items() if policy})
        results = list(_count_results(progress, read_all(sources, partial(read_source, planning=planning), jobs)))
        results = _plan_shares(results, planning, jobs)
    return view_of(results, states, sort)


def _count_results(progress: LineOfProgress, results: Iterable[ReadResult]) -> Iterator[ReadResult]:
    for result in results:
        progress.add(note=f"{result.source.name}{' (not read)' if result.faults else ''}")
        yield result


def _planning(request: FleetRequest) -> FleetPlanning:
    policy = read_policy(request.policy) if request.policy else None
    committed = read_commitments(request.commitments) if request.commitments else None
    return FleetPlanning(request.prices, request.assume_marked, policy, committed=committed)


def _plan_shares(results: Sequence[SourceResult], planning: FleetPlanning, jobs: int) -> list[SourceResult]:
    """Plan those clusters once more that share commitments, each with its part."""
    clusters, _ = drop_older_readings(results)
    found = share_commitments({cluster.view.plan.cluster: cluster.use for cluster in clusters if cluster.use})
    again = [
        result.source for result in results if any(planned.view.plan.cluster in found for planned in result.clusters)
    ]
    others = [result for result in results if result.source not in again]
    return [*others, *read_all(again, partial(read_source, planning=replace(planning, shares=found)), jobs)]
