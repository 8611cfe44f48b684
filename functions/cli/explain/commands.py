"""The commands `ebb explain` and `ebb why-not`."""

from dataclasses import replace
from typing import Annotated

import typer

from functions.cli.input.options import AnswerAs, AnswerFormat, By, Sources, with_sources


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
    by: By = None,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Rank single changes by harm, then by the money that they free: constraints, budgets, annotations, limits.

    Each is tried alone on the steady state that ebb plan shows, and followed to
    the next one. Changes nothing.

    Examples:
      ebb why-not --dump cluster.json --policy policy.yaml
      ebb why-not --context prod --top 30 --by team -o markdown
    """
    from functions.cli.explain.why_not import show_changes

    show_changes(sources, top, output, by or "")
