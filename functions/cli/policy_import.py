"""`ebb policy import`: the policy on stdout, what it cannot say on stderr.

Must not convert: `policy_document.importing` does.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import typer

from shared.core.policy_document.importing import Imported
from shared.errors import BadInput

STDIN = Path("-")


def run(path: Path, convert: Callable[[bytes], Imported]) -> None:
    """Print the converted policy.

    Raises:
        BadInput: the file cannot be read.
        BadPolicy: with every fault.
    """
    found = convert(_read(path))
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(found.document, nl=False)


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from error
