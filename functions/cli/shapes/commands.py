"""The command `ebb shapes`."""

from typing import Annotated

import typer

from functions.cli.input.options import AnswerAs, AnswerFormat, Sources, with_sources

_MOST_WORTH = 10_000


@with_sources()
def shapes(
    *,
    sources: Sources,
    families: Annotated[
        str,
        typer.Option(
            "--families", metavar="NAMES", help="Other machine families that pools may change to, such as e2,n2d."
        ),
    ] = "",
    pod_worth: Annotated[
        float,
        typer.Option(
            "--pod-worth", metavar="DOLLARS", min=0, max=_MOST_WORTH, help="What each pod that moves must save a month."
        ),
    ] = 5,
    fill: Annotated[
        str, typer.Option("--fill", metavar="PERCENT", help="How full nodes may be made; the rest is for the day.")
    ] = "90%",
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Show which machine types the pools should have for the pods that are there, and what that saves.

    Advice only: it changes nothing. A dump of the night asks for too little:
    take it by day.

    Examples:
      ebb shapes cluster.json
      ebb shapes day.json --fill 85%
      ebb shapes cluster.json --families e2,n2d --pod-worth 10 -o json
    """
    from functions.cli.shapes.compute import read_request, show_shapes

    show_shapes(sources, read_request(families, pod_worth, fill), output)
