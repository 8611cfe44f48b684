"""The command `ebb plan`."""

from typing import Annotated

import typer

from functions.cli.input.options import AssumeMarked, By, Dumps, Only, PlanFormat, Sort, Sources, with_sources

_LISTED = "Which nodes are listed; without these they are summed up"


@with_sources(dump=Dumps)
def plan(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    output: Annotated[
        PlanFormat,
        typer.Option("--output", "-o", help="Output format; wide is a table with every node, csv has who keeps nodes."),
    ] = PlanFormat.TABLE,
    potential: Annotated[
        bool, typer.Option("--potential", help="Also show how many nodes could go if only safety rules applied.")
    ] = False,
    no_forecast: Annotated[
        bool, typer.Option("--no-forecast", help="Leave the table of scenarios out, which is faster.")
    ] = False,
    assume_marked: AssumeMarked = False,
    by: By = None,
    nodes: Annotated[
        bool, typer.Option("--nodes", rich_help_panel=_LISTED, help="List every node, as -o wide.")
    ] = False,
    pool: Annotated[
        list[str] | None,
        typer.Option("--pool", metavar="NAME", rich_help_panel=_LISTED, help="List nodes of this pool. Repeatable."),
    ] = None,
    only: Annotated[
        list[Only] | None,
        typer.Option("--only", rich_help_panel=_LISTED, help="List nodes with this verdict. Repeatable."),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option("--sort", rich_help_panel=_LISTED, help="Sort nodes; cost is highest first, cpu lowest first."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", metavar="N", min=1, rich_help_panel=_LISTED, help="List the first N of each verdict."),
    ] = None,
) -> None:
    """Show possible savings (autoscaler alone, and with Ebb), what the next pass would do, and why nodes are kept.

    Changes nothing, and needs nothing installed in the cluster. Without a FILE
    the cluster of the kubeconfig is read.

    Examples:
      ebb plan cluster.json --potential
      ebb plan cluster.json --only keep --sort cost --top 20
      ebb plan cluster.json --by team -o csv > who.csv
      ebb plan --policy policy.yaml --pool web-pool -o markdown
    """
    from functions.cli.plan.compute import PlanOptions, show_plan
    from functions.cli.plan.view import AskedNodes

    asked = AskedNodes(nodes or output is PlanFormat.WIDE, tuple(pool or ()), tuple(only or ()), sort, top, bool(by))
    show_plan(sources, output, asked, PlanOptions(potential, assume_marked, not no_forecast, by or ""))
