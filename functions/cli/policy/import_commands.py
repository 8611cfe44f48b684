"""The commands under `ebb policy import`, one for each consolidator whose configuration is converted into a policy.

Modules are imported when their command is called, so that help and refusals come at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from functions.cli.errors import Commands, PlainGroup
from functions.cli.input.files import faults_of, read_bytes
from functions.cli.output.visible import visible

if TYPE_CHECKING:
    from functions.cli.policy.importing import Imported

_IMPORTS = """Convert the configuration of another consolidator into a policy.

Prints the policy; what has no equivalent is said in its comments.

Examples:
  kubectl get nodepools -o yaml | ebb policy import karpenter -
  ebb policy import estafette configmap.yaml > policy.yaml
"""
imports = Commands(cls=PlainGroup, no_args_is_help=True, help=_IMPORTS)
Given = Annotated[Path, typer.Argument(metavar="FILE", help="YAML or JSON, as kubectl prints it; - is stdin.")]


@imports.command()
def estafette(
    file: Given,
    *,
    marked: Annotated[
        int | None,
        typer.Option(
            "--needed-marked-time",
            metavar="SECONDS",
            min=0,
            envvar="NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS",
            show_envvar=False,
            help="How long the process wanted a node to be marked.",
        ),
    ] = None,
    age: Annotated[
        int | None,
        typer.Option(
            "--minimum-node-age",
            metavar="SECONDS",
            min=0,
            envvar="MINIMUM_NODE_AGE_SECONDS",
            show_envvar=False,
            help="How old the process wanted a node to be.",
        ),
    ] = None,
) -> None:
    """Convert estafette-k8s-node-compactor: its ConfigMap, the JSON in it, or its Helm chart's values or output.

    The two times are also read from the process's own variables,
    NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS and MINIMUM_NODE_AGE_SECONDS.

    Examples:
      ebb policy import estafette configmap.yaml > policy.yaml
      kubectl get configmap -n compactor -o yaml | ebb policy import estafette -
    """
    from functions.cli.policy.importing import from_estafette

    _print_imported(file, lambda data: from_estafette(data, marked, age))


@imports.command("node-refiner")
def node_refiner(
    file: Given,
    *,
    pool: Annotated[
        list[str] | None,
        typer.Option("--pool", metavar="NAME", help="A pool that Ebb may drain; node-refiner knew no pools."),
    ] = None,
) -> None:
    """Convert the ConfigMap node-refiner-cm of SAP node-refiner.

    Prints the policy; what has no equivalent is said in its comments.

    Examples:
      ebb policy import node-refiner configmap.yaml --pool web-pool
    """
    from functions.cli.policy.importing import from_node_refiner

    _print_imported(file, lambda data: from_node_refiner(data, tuple(pool or ())))


@imports.command()
def karpenter(file: Given) -> None:
    """Convert Karpenter's NodePools (v1, v1beta1), one or many: their disruption block and what belongs to it.

    Prints the policy; what has no equivalent is said in its comments.

    Examples:
      kubectl get nodepools -o yaml | ebb policy import karpenter -
    """
    from functions.cli.policy.importing import from_karpenter

    _print_imported(file, from_karpenter)


def _print_imported(path: Path, convert: "Callable[[bytes], Imported]") -> None:
    """Print the converted policy.

    Raises:
        BadInput: the file cannot be read.
        BadPolicy: with every fault.
    """
    with faults_of(path):
        found = convert(read_bytes(path))
    for note in found.notes:
        typer.echo(f"note: {visible(note)}", err=True)
    typer.echo(found.document, nl=False)
