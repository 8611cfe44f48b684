"""The commands that act on a running Ebb: `ebb drain`, `release`, `pause`, `resume`, `status`, `history`."""

import os
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from functions.cli.input.options import ClusterProfile, Output, OutputAs, duration, use_profile

if TYPE_CHECKING:
    from rich.console import Console

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait and show progress, or only publish the order.")]


def drain(
    node: Annotated[str, typer.Argument(metavar="NODE", help="Full name of the node.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and change nothing.")] = False,
    wait: Wait = True,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Skip windows, budgets or gates, if the policy allows it. Repeatable."),
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="How long to wait.")] = "30m",
    cluster: ClusterProfile = None,
) -> None:
    """Drain one node, and show the progress.

    PodDisruptionBudgets, budgets, windows and the proof of placement apply.
    Waits for the end; with --no-wait it only prints the id of the order.

    Exit codes:
    0 drained, removed, or would be drained; with --no-wait: published
    1 refused, returned, overruled, or not done after --timeout
    2 wrong usage
    130 interrupted; the drain goes on

    Examples:
      ebb drain gke-prod-web-pool-1a2b3c4d-x9k2 --cluster prod --dry-run
      ebb drain gke-prod-web-pool-1a2b3c4d-x9k2 --cluster prod --ignore windows
      ebb drain gke-prod-web-pool-1a2b3c4d-x9k2 --cluster prod --no-wait
    """
    from functions.cli.drains.client import open_installation
    from functions.cli.drains.drain import DrainOptions, order_drain

    use_profile(cluster)
    options = DrainOptions(dry_run, tuple(ignore or ()), duration("--timeout", timeout))
    raise typer.Exit(order_drain(open_installation(os.environ), node, options, wait=wait))


def release(
    node: Annotated[str, typer.Argument(metavar="NODE|all", help="Full name of a node, or all that Ebb holds.")],
    *,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the nodes are uncordoned, or only publish the orders.")
    ] = True,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also find nodes with Ebb's taint but no claim.")
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="How long to wait.")] = "5m",
    cluster: ClusterProfile = None,
) -> None:
    """Return nodes that Ebb holds: uncordon them, remove the taint, end the claim. Never refused.

    Without --kubeconfig and EBB_KUBECONFIG the GKE API locates the cluster.
    Before terraform destroy: ebb pause, then ebb release all.

    Exit codes:
    0 all are free; with --no-wait: published
    1 one is not free in time, or unknown
    2 wrong usage
    130 interrupted; the releases stand

    Examples:
      ebb release gke-prod-web-pool-1a2b3c4d-x9k2 --cluster prod
      ebb release all --cluster prod --timeout 10m
    """
    from functions.cli.drains.client import open_installation
    from functions.cli.drains.release import order_release, read_nodes

    use_profile(cluster)
    patience, nodes = duration("--timeout", timeout), partial(read_nodes, os.environ, kubeconfig)
    raise typer.Exit(order_release(open_installation(os.environ), node, nodes, wait=wait, timeout=patience))


def status(
    *,
    output: OutputAs = Output.TABLE,
    week: Annotated[bool, typer.Option("--week", help="Show the summary of the last week instead.")] = False,
    cluster: ClusterProfile = None,
) -> None:
    """Show the state of a running Ebb: claims, marks, back-offs, breakers, the pause and the last results.

    Reads only the state. EBB_INTERVAL_SECONDS is the time between passes, 300
    by default; a much longer silence is a warning.

    Examples:
      ebb status --cluster prod
      ebb status --cluster prod --week
      ebb status --cluster prod --output json
    """
    from functions.cli.drains import status_table
    from functions.cli.drains import week as weekly
    from functions.cli.drains.client import open_state
    from functions.cli.drains.status import read_status
    from shared.core.records.week import as_message

    use_profile(cluster)
    settings, state = open_state(os.environ)

    if week:
        last = weekly.read_week(settings.cluster, state)
        _print(output, as_message(last), lambda console: weekly.show_week(console, last))
        return
    now = read_status(settings.cluster, state, timedelta(seconds=settings.interval_seconds))
    _print(output, status_table.document(now), lambda console: status_table.show(console, now))


def _print(output: Output, document: dict[str, Any], show: "Callable[[Console], None]") -> None:
    from functions.cli.output.answers import print_document
    from functions.cli.output.terminal import printing

    if output is not Output.TABLE:
        print_document(document, output)
        return
    with printing() as console:
        show(console)


def history(
    *,
    output: OutputAs = Output.TABLE,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Show the last N drains.")] = 30,
    cluster: ClusterProfile = None,
) -> None:
    """Show drains of the last 30 days: node, reason, duration, result, what is still saved; and each month's promise.

    Reads only the state.

    Examples:
      ebb history --cluster prod
      ebb history --cluster prod --top 1000 -o json
    """
    from functions.cli.drains.client import open_state
    from functions.cli.drains.status import read_status
    from functions.cli.drains.status_table import history_document, show_history
    from functions.cli.drains.week import months_document, read_ledger, show_months

    use_profile(cluster)
    settings, state = open_state(os.environ)
    found, ledger = read_status(settings.cluster, state), read_ledger(state)

    def show(console: "Console") -> None:
        show_history(console, found, top)
        show_months(console, ledger)

    _print(output, {**history_document(found, top), "months": months_document(ledger)}, show)


def pause(
    *,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Reason, shown wherever the pause is shown.")
    ] = "",
    cluster: ClusterProfile = None,
) -> None:
    """Stop all draining now. No drain starts, and running drains return their nodes. Repairs go on.

    The pause lasts until ebb resume. It needs no terraform apply.

    Examples:
      ebb pause --cluster prod --reason "release weekend"
    """
    from functions.cli.drains.client import print_pause

    use_profile(cluster)
    print_pause(paused=True, reason=reason)


def resume(*, cluster: ClusterProfile = None) -> None:
    """End a pause.

    A policy with paused: true still applies.

    Examples:
      ebb resume --cluster prod
    """
    from functions.cli.drains.client import print_pause

    use_profile(cluster)
    print_pause(paused=False)
