"""`ebb dump`: prints or runs the kubectl command for a dump, and writes its output, with other names where asked."""

import gzip
import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Final

import typer

from functions.cli.dumps.contents import OPTIONAL, kubectl_get
from functions.cli.dumps.files import PIECE, STDIN
from functions.cli.input.files import DUMP_OR_CLUSTER, check_dumps_exist
from functions.cli.output.progress import count_bytes
from functions.cli.output.terminal import print_warning
from shared.errors import BadInput, Terminal

_TIMEOUT: Final = "--request-timeout=120s"  # Of one page of one list.
_ASKING: Final = 150.0  # Seconds for a question that is answered in one word.
_MOST_SAID: Final = 300


class Kubectl:
    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        self._options = (
            *(("--kubeconfig", str(kubeconfig)) if kubeconfig else ()),
            *(("--context", context) if context else ()),
        )

    def command_line(self) -> str:
        return f"{shlex.join(kubectl_get(self._options))} > dump.json"

    def pieces(self) -> Iterator[bytes]:
        """Run it, and yield what it prints. Raises Terminal: it failed, and what was printed is no whole dump."""
        words = kubectl_get((*self._options, _TIMEOUT), self._optional())
        with TemporaryFile() as stderr:
            try:
                running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stderr)  # noqa: S603 - no shell reads them
            except OSError as fault:
                raise Terminal(
                    "kubectl", f"cannot be run ({fault.strerror}); install it, or run it elsewhere"
                ) from fault
            with running:
                try:
                    yield from _read_pieces(running.stdout)
                except BaseException:
                    running.kill()
                    raise
            if running.returncode:
                raise Terminal("kubectl", _last_words(stderr))

    def _optional(self) -> Iterator[str]:
        """Yield the kinds of only some clusters that are here and may be listed; an API that is silent has none."""
        there = self._run("api-resources", "--verbs=list", "-o", "name").stdout.decode(errors="replace").split()
        for name in OPTIONAL.values():
            if name in there and self._run("auth", "can-i", "list", name, "--all-namespaces").returncode == 0:
                yield name

    def _run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run kubectl to its end; one that cannot be run has printed nothing."""
        command = ["kubectl", *self._options, _TIMEOUT, *words]
        try:
            return subprocess.run(command, capture_output=True, check=False, timeout=_ASKING)  # noqa: S603 - as above
        except (OSError, subprocess.TimeoutExpired):
            return subprocess.CompletedProcess(command, 1, b"", b"")


def _read_pieces(stream: IO[bytes] | None) -> Iterator[bytes]:
    while stream and (piece := stream.read(PIECE)):
        yield piece


def _last_words(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:_MOST_SAID] if lines else "failed without a word"


def write_pieces(path: Path | None, pieces: Iterable[bytes]) -> None:
    """Write a file, packed if its name asks for it, or stdout. Raises BadInput: it cannot be written."""
    if path is None:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with gzip.open(unfinished, "wb") if path.suffix == ".gz" else unfinished.open("wb") as file:
            file.writelines(pieces)
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}).") from error
    finally:
        unfinished.unlink(missing_ok=True)


HOLDS: Final = "it holds all fields of your pods, environment variables too: --anonymize leaves them out."


@dataclass(frozen=True, slots=True)
class DumpRequest:
    """What was asked for: without `out` and other names only the command is printed."""

    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    out: Path | None = None
    anonymous: bool = False
    names: Path | None = None


def make_dump(request: DumpRequest) -> None:
    """Print the command, or run it and write what it prints. Raises BadInput, and Terminal if kubectl fails."""
    _check(request)
    kubectl = Kubectl(request.kubeconfig, request.context)
    if request.anonymous:
        _write_anonymous(request, kubectl)
    elif request.out is None:
        typer.echo(kubectl.command_line())
        print_warning(f"where the cluster has them, add {', '.join(OPTIONAL.values())}; --out looks by itself.")
    else:
        write_pieces(request.out, kubectl.pieces())
        print_warning(f"wrote {request.out}; {HOLDS}")


def _check(request: DumpRequest) -> None:
    if request.dumps and not request.anonymous:
        raise BadInput("--dump: names what --anonymize reads; add --anonymize, or leave it out.")
    if request.dumps and (request.kubeconfig or request.context):
        raise BadInput(DUMP_OR_CLUSTER)
    if request.names and not request.anonymous:
        raise BadInput("--names: is written by --anonymize only.")
    if request.anonymous and request.out is None and sys.stdout.isatty():
        raise BadInput("--anonymize: name a file with --out, or send stdout into one.")


def _write_anonymous(request: DumpRequest, kubectl: Kubectl) -> None:
    from functions.cli.dumps.anonymize.objects import anonymize_dump
    from functions.cli.dumps.reading import read_dump

    with TemporaryDirectory(prefix="ebb-dump-") as folder:
        paths = _keep_files(request, kubectl, Path(folder))
        with count_bytes("the dump three times") as line:
            read_dump(paths, line.add)
            found = anonymize_dump(paths, line.add)
            write_pieces(request.out, found.pieces)
    if request.names:
        write_pieces(request.names, [json.dumps(found.table, indent=1, sort_keys=True).encode()])
        request.names.chmod(0o600)  # for nobody else's eyes


def _keep_files(request: DumpRequest, kubectl: Kubectl, folder: Path) -> tuple[Path, ...]:
    """Return files that can be read several times: what comes from a pipe or from kubectl is kept for as long."""
    if request.dumps and STDIN not in request.dumps:
        check_dumps_exist(request.dumps)
        return request.dumps
    kept = folder / "dump.json"
    write_pieces(kept, _read_pieces(sys.stdin.buffer) if request.dumps else kubectl.pieces())
    return (*(path for path in request.dumps if path != STDIN), kept)
