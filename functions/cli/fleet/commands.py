"""What a person may type to ask about many clusters at once: `ebb fleet`."""

from pathlib import Path
from typing import Annotated, Final

import typer

from functions.cli.input.options import (
    AssumeMarked,
    Currency,
    Discounts,
    Files,
    FleetSort,
    Format,
    PolicyFile,
    PriceOptions,
    PriceTable,
)

_WHICH: Final = "Which clusters; all of them may be given together"


def fleet(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: Annotated[
        list[Path] | None,
        typer.Option(
            "--dump",
            metavar="FOLDER|FILE",
            rich_help_panel=_WHICH,
            help="Dumps: of a folder each file, and each folder in it, is read by itself; repeatable.",
        ),
    ] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", rich_help_panel=_WHICH, help="The kubeconfig of the contexts.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="NAME",
            rich_help_panel=_WHICH,
            help="A context of the kubeconfig, or a pattern such as 'gke_shop_*'; repeatable.",
        ),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            rich_help_panel=_WHICH,
            help="An installation, by the variables of ~/.config/ebb/NAME.env or of a file; repeatable.",
        ),
    ] = None,
    installations: Annotated[
        bool, typer.Option("--installations", rich_help_panel=_WHICH, help="All installations of ~/.config/ebb.")
    ] = False,
    state_only: Annotated[
        bool,
        typer.Option(
            "--state-only",
            rich_help_panel=_WHICH,
            help="Of installations read state and policy, not the cluster: seconds, and no way into it is needed.",
        ),
    ] = False,
    policy: PolicyFile = None,
    assume_marked: AssumeMarked = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", metavar="N", min=1, max=64, help="Read so many at once; else one a processor, 8 at most."
        ),
    ] = None,
    output: Annotated[
        Format,
        typer.Option(
            "--output", "-o", help="A table for people, markdown to send on, JSON, YAML or OpenMetrics for tools."
        ),
    ] = Format.TABLE,
    sort: Annotated[
        FleetSort, typer.Option("--sort", help="saved, cost: most first; state: what is amiss first; or name.")
    ] = FleetSort.SAVED,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=1, help="List the first N, and what could not be read; sums stay whole."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write one page to send on, HTML that asks nobody."),
    ] = None,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
) -> None:
    """Say of many clusters what each comes to, what holds most money in all of them, and which installations fail.

    Each cluster is planned by itself, under --policy, else under the policy of
    its installation, else with default settings. Changes nothing. What cannot
    be read is a row with its sentence, and the others are read all the same.

    Exit codes: 0 all were read, 1 one could not be read (all others are
    printed), 2 wrong usage. An installation that fails is no error here.

    Examples:
      ebb fleet --dump dumps/ --out fleet.html
      ebb fleet --context 'gke_shop_*' --policy policy.yaml --sort cost
      ebb fleet --installations --state-only --sort state
      ebb fleet --installations --output openmetrics > ebb.prom
    """
    from functions.cli.fleet.compute import DEFAULT_JOBS, read_fleet, show_fleet
    from functions.cli.fleet.sources import FleetRequest

    request = FleetRequest(
        dumps=(*(files or ()), *(dump or ())),
        kubeconfig=kubeconfig,
        contexts=tuple(context or ()),
        installations=tuple(cluster or ()),
        every_installation=installations,
        state_only=state_only,
        policy=policy,
        prices=PriceOptions(prices, tuple(discount or ()), currency),
        assume_marked=assume_marked,
    )
    show_fleet(read_fleet(request, jobs or DEFAULT_JOBS, sort), output, top, out)
