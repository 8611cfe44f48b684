"""The command `ebb top`."""

import sys
from typing import Annotated

import typer

from functions.cli.input.options import Dumps, Sources, duration, with_sources


@with_sources("node_pools", "at", dump=Dumps)
def top(
    *,
    sources: Sources,
    every: Annotated[str, typer.Option(metavar="DURATION", help="Time between two reads of the cluster.")] = "15s",
) -> None:
    """Watch a cluster: nodes as bars, drains in progress, what Ebb would remove next, and the money.

    A kubeconfig is enough. With --cluster it also shows the marks and drains of
    the installation. q quits, j and k scroll. Without a terminal it prints one
    view. Changes nothing.

    Examples:
      ebb top --context gke_shop_europe-west4_prod
      ebb top --cluster prod --every 1m
    """
    from functions.cli.top.live import Watcher, print_once, watch

    watcher, pause = Watcher(sources), duration("--every", every)
    if sys.stdout.isatty() and sys.stdin.isatty():
        watch(watcher.look, pause.total_seconds())
    else:
        print_once(watcher.look())
