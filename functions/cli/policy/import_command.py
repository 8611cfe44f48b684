"""`ebb policy import`: the policy on stdout, what it cannot say on stderr.

Must not convert: `importing` does.
"""

from collections.abc import Callable
from pathlib import Path

import typer

from functions.cli.inputs import faults_of, read_bytes
from functions.cli.policy.importing import Imported


def run(path: Path, convert: Callable[[bytes], Imported]) -> None:
    """Print the converted policy.

    Raises:
        BadInput: the file cannot be read.
        BadPolicy: with every fault.
    """
    with faults_of(path):
        found = convert(read_bytes(path))
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(found.document, nl=False)
