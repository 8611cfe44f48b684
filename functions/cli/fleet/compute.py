"""`ebb fleet`: read all that was named at once, put it together, print it. Must not decide anything."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import typer

from functions.cli.errors import WRONG
from functions.cli.files import read_policy, write_text
from functions.cli.fleet import drawing
from functions.cli.fleet.asked import FleetRequest, check, clusters_of, installations_of
from functions.cli.fleet.cluster_reading import SourceResult, read_source
from functions.cli.fleet.installations import InstallationResult, ask_installation, read_installations
from functions.cli.fleet.page import page
from functions.cli.fleet.progress import FleetProgress
from functions.cli.fleet.sources import ClusterSource, FleetPlanning
from functions.cli.fleet.view import FleetView, view_of
from functions.cli.fleet.workers import MOST_JOBS, parts_of_clusters, read_all
from functions.cli.options import FleetSort, Format
from functions.cli.plan.compute import PlanOptions
from functions.cli.pricing import priced
from shared.core.policy import Policy

DEFAULT_JOBS: Final = max(1, min(MOST_JOBS, os.cpu_count() or 1))


def show_fleet(view: FleetView, output: Format, top: int | None, out: Path | None = None) -> None:
    """Print one row a cluster, and write the page where one was asked for; exit with 1 if one could not be read.

    Raises:
        BadInput: the page cannot be written.
    """
    if out:
        _write(out, page(view))
    drawing.show(view, output, top)
    if view.not_read:
        raise typer.Exit(WRONG)


def _write(out: Path, text: str) -> None:
    write_text(out, text, "--out")
    typer.echo(f"{out}: {len(text.encode()) // 1024 + 1:,} KiB, with the names of clusters and pools in it.", err=True)


def read_fleet(request: FleetRequest, jobs: int, sort: FleetSort) -> FleetView:
    """Read and plan all that was named.

    Raises:
        BadInput: nothing was named, or what is not there. BadPolicy: the policy has faults.
    """
    check(request)
    priced(request.prices)
    planning = _planning(request)
    installations = installations_of(request, os.environ)
    sources = clusters_of(request, installations, os.environ)
    with FleetProgress(len(installations) + len(sources), sys.stderr) as progress:
        told = [progress.done(each) for each in read_installations(installations, ask_installation)]
        results = _read(sources, replace(planning, by_cluster=_policies(told)), jobs, progress)
    return view_of(results, told, sort)


def _planning(request: FleetRequest) -> FleetPlanning:
    options = PlanOptions(assume_marked=request.assume_marked)
    return FleetPlanning(request.prices, options, read_policy(request.policy) if request.policy else None)


def _policies(installations: Iterable[InstallationResult]) -> Mapping[str, Policy]:
    return {each.source.cluster: each.health.policy for each in installations if each.health and each.health.policy}


def _read(
    sources: Sequence[ClusterSource], planning: FleetPlanning, jobs: int, progress: FleetProgress
) -> list[SourceResult]:
    """Read each source alone, and then together what may be parts of one cluster: a folder may hold a file a kind."""
    read = partial(read_source, planning=planning)
    results = [progress.done(each) for each in read_all(sources, read, jobs)]
    for joined in read_all(parts_of_clusters(results), read, jobs):
        if not joined.faults:
            results = [each for each in results if not set(each.source.dumps) <= set(joined.source.dumps)]
            results.append(joined)
    return results
