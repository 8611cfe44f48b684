"""The command `ebb top`."""

import sys
from typing import Annotated

import typer

from functions.cli.input.options import (
    ClusterProfile,
    Context,
    Currency,
    Discounts,
    Dumps,
    Files,
    Kubeconfig,
    PolicyFile,
    PriceOptions,
    PriceTable,
    Sources,
    duration,
)


def top(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: Dumps = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    cluster: ClusterProfile = None,
    policy: PolicyFile = None,
    every: Annotated[str, typer.Option(metavar="DURATION", help="Time between two reads of the cluster.")] = "15s",
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
) -> None:
    """Watch a cluster: nodes as bars, drains in progress, what Ebb would remove next, and the money.

    A kubeconfig is enough. With --cluster it also shows the marks and drains of
    the installation. q quits, j and k scroll. Without a terminal it prints one
    view. Changes nothing.

    Examples:
      ebb top --context gke_shop_europe-west4_prod
      ebb top --cluster prod --every 1m
    """
    from functions.cli.input.profiles import use_profile
    from functions.cli.top.live import Watcher, print_once, watch

    if cluster:
        use_profile(cluster, None)
    money = PriceOptions(prices, tuple(discount or ()), currency)
    sources = Sources.of(files, dump, kubeconfig, context, policy, None, money, bool(cluster))
    watcher, pause = Watcher(sources), duration("--every", every)
    if sys.stdout.isatty() and sys.stdin.isatty():
        watch(watcher.look, pause.total_seconds())
    else:
        print_once(watcher.look())
