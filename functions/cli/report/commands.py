"""What a person may type for a report."""

from pathlib import Path
from typing import Annotated

import typer

from functions.cli.input.options import (
    AssumeMarked,
    At,
    Context,
    Currency,
    Discounts,
    Files,
    Kubeconfig,
    OneDump,
    PolicyFile,
    PriceOptions,
    PriceTable,
    ReportOutput,
    Sources,
)

_DAYS = "The days to come"


def report(  # noqa: PLR0913 - each is something that a person may type
    files: Files = None,
    *,
    dump: OneDump = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    policy: PolicyFile = None,
    at: At = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to write it, else ebb-report.html here; - is stdout."),
    ] = None,
    output: Annotated[
        ReportOutput,
        typer.Option(
            "--output", "-o", help="A page for people, or its data as JSON for tools (on stdout without --out)."
        ),
    ] = ReportOutput.HTML,
    assume_marked: AssumeMarked = False,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=1, max=31, rich_help_panel=_DAYS, help="Also play so many days; 7 is a week."
        ),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(
            "--compare", metavar="FILE", rich_help_panel=_DAYS, help="Play them under this policy, too; repeatable."
        ),
    ] = None,
    demand: Annotated[
        Path | None,
        typer.Option(
            "--demand", metavar="FILE", rich_help_panel=_DAYS, help="What is wanted when, as ebb simulate reads it."
        ),
    ] = None,
    prices: PriceTable = None,
    discount: Discounts = None,
    currency: Currency = "",
) -> None:
    """Write one page to send on: what could be saved, the cluster before and after, what keeps nodes, who goes when.

    The page is one file that works offline, prints, and asks nothing of any
    server. Changes nothing, and needs nothing installed in the cluster.

    Examples:
      ebb report --dump cluster.json --out report.html
      ebb report --dump cluster.json --policy policy.yaml --discount 28%
      ebb report --dump cluster.json --policy policy.yaml --days 7
      ebb report --context prod -o json > report.json
    """
    from functions.cli.report.compute import ReportRequest, write_report

    money = PriceOptions(prices, tuple(discount or ()), currency)
    sources = Sources.of(files, dump, kubeconfig, context, policy, at, money)
    write_report(ReportRequest(sources, out, output, assume_marked, days, tuple(compare or ()), demand))
