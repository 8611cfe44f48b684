"""What a person typed for `ebb dump`, turned into one call. Must not hold rules."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from functions.cli.dumping.kubectl import Kubectl
from functions.cli.dumps.kinds import OPTIONAL
from functions.cli.files import STDIN
from functions.cli.reading_bar import reading_bar, size_of
from functions.cli.terminal import print_warning
from shared.errors import BadInput

HOLDS: Final = "it holds what your pods say, environment variables too: --anonymize leaves them out."


@dataclass(frozen=True, slots=True)
class DumpRequest:
    """What was asked for: without `out` and other names only the command is printed."""

    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    out: Path | None = None
    anonymous: bool = False
    names: Path | None = None


def make_dump(asked: DumpRequest) -> None:
    """Print the command, or run it and write what it prints.

    Raises:
        BadInput: the options do not go together, or a file cannot be written.
        Terminal: kubectl is not there, or failed.
    """
    _check(asked)
    kubectl = Kubectl(asked.kubeconfig, asked.context)
    if asked.anonymous:
        _write_anonymous(asked, kubectl)
    elif asked.out is None:
        typer.echo(kubectl.command_line())
        print_warning(f"where the cluster has them, add {', '.join(OPTIONAL.values())}; --out looks by itself.")
    else:
        from functions.cli.dumping.writing import write_pieces

        write_pieces(asked.out, kubectl.pieces())
        print_warning(f"wrote {asked.out}; {HOLDS}")


def _check(asked: DumpRequest) -> None:
    if asked.dumps and not asked.anonymous:
        raise BadInput("--dump: names what --anonymize reads; add --anonymize, or leave it out.")
    if asked.dumps and (asked.kubeconfig or asked.context):
        raise BadInput("--dump: a dump takes the place of the cluster; leave out --kubeconfig and --context.")
    if asked.names and not asked.anonymous:
        raise BadInput("--names: is written by --anonymize only.")
    if asked.anonymous and asked.out is None and sys.stdout.isatty():
        raise BadInput("--anonymize: name a file with --out, or send stdout into one.")


def _write_anonymous(asked: DumpRequest, kubectl: Kubectl) -> None:
    from functions.cli.dumping.writing import folder_of_its_own, write_pieces, write_table
    from functions.cli.dumps import read_dump
    from functions.cli.dumps.anonymize.files import anonymized

    with folder_of_its_own() as folder:
        paths = _at_hand(asked, kubectl, folder)
        with reading_bar("the dump", 3 * size_of(paths)) as bar:
            read_dump(paths, bar.add)
            found = anonymized(paths, bar.add)
            write_pieces(asked.out, found.pieces)
    if asked.names:
        write_table(asked.names, found.table)


def _at_hand(asked: DumpRequest, kubectl: Kubectl, folder: Path) -> tuple[Path, ...]:
    """Return files that can be read several times: what comes from a pipe or from kubectl is kept for as long."""
    from functions.cli.dumping.writing import write_pieces

    if asked.dumps and STDIN not in asked.dumps:
        missing = [str(path) for path in asked.dumps if not path.exists()]
        if missing:
            raise BadInput(f"--dump: {', '.join(missing)} does not exist.")
        return asked.dumps
    kept = folder / "dump.json"
    write_pieces(kept, iter(lambda: sys.stdin.buffer.read(1 << 20), b"") if asked.dumps else kubectl.pieces())
    return (*(path for path in asked.dumps if path != STDIN), kept)
