"""The commands `ebb plan`, `ebb explain` and `ebb why-not`."""

from dataclasses import replace
from typing import Annotated

import typer

from functions.cli.input.options import (
    AnswerAs,
    AnswerFormat,
    AssumeMarked,
    Dumps,
    Only,
    PlanFormat,
    Sort,
    Sources,
    with_sources,
)

_LISTED = "Which nodes are listed; without these they are summed up"


@with_sources(dump=Dumps)
def plan(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    output: Annotated[
        PlanFormat,
        typer.Option(
            "--output",
            "-o",
            help="Output format; wide is a table with every node.",
        ),
    ] = PlanFormat.TABLE,
    potential: Annotated[
        bool, typer.Option("--potential", help="Also show how many nodes could go if only safety rules applied.")
    ] = False,
    no_forecast: Annotated[
        bool, typer.Option("--no-forecast", help="Leave the table of scenarios out, which is faster.")
    ] = False,
    assume_marked: AssumeMarked = False,
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
      ebb plan --policy policy.yaml --pool web-pool -o markdown
    """
    from functions.cli.plan.compute import PlanOptions, show_plan
    from functions.cli.plan.view import AskedNodes

    wide = output is PlanFormat.WIDE
    asked = AskedNodes(nodes or wide, tuple(pool or ()), tuple(only or ()), sort, top)
    show_plan(
        sources,
        AnswerFormat.TABLE if wide else AnswerFormat(output),
        asked,
        PlanOptions(potential, assume_marked, not no_forecast),
    )


@with_sources("files")
def explain(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NODE|POD|WORKLOAD", help="Full names, or any unambiguous suffix; and dump files."),
    ],
    *,
    sources: Sources,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Explain a node, pod or workload: what keeps it, what to do about it, and where its pods would go.

    Several names are explained in turn. An unknown or ambiguous name is
    reported at the end, with exit code 2.

    Examples:
      ebb explain gke-prod-web-pool-1a2b3c4d-x7z9 cluster.json
      ebb explain x7z9 shop/cart-0 --policy policy.yaml
      ebb explain shop/Deployment/cart -o json
    """
    from functions.cli.explain.compute import explain_all
    from functions.cli.explain.resolve import names_and_files

    words, files = names_and_files(names)
    explain_all(replace(sources, dumps=(*files, *sources.dumps)), words, output)


@with_sources()
def why_not(
    *,
    sources: Sources,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Try the N changes that hold most money.")] = 20,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Rank single changes by harm, then by the money that they free: constraints, budgets, annotations, limits.

    Each is tried alone on the steady state that ebb plan shows, and followed to
    the next one. Changes nothing.

    Examples:
      ebb why-not --dump cluster.json --policy policy.yaml
      ebb why-not --context prod --top 30 -o markdown
    """
    from functions.cli.explain.why_not import show_changes

    show_changes(sources, top, output)
