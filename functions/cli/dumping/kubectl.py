"""kubectl, asked for all that a plan reads. Must not know what it prints."""

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from functions.cli.dumps.kinds import OPTIONAL, kubectl_get
from shared.errors import Terminal

_TIMEOUT: Final = "--request-timeout=120s"
"""Of one page of one list."""
_ASKING: Final = 150.0
"""Seconds for a question that is answered in one word."""
_PIECE: Final = 1 << 20
_MOST_SAID: Final = 300


class Kubectl:
    """The command for one cluster."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None, program: str = "kubectl") -> None:
        self._program = program
        self._options = (
            *(("--kubeconfig", str(kubeconfig)) if kubeconfig else ()),
            *(("--context", context) if context else ()),
        )

    def command_line(self) -> str:
        """Return what a person types."""
        return f"{shlex.join(kubectl_get(self._options))} > dump.json"

    def pieces(self) -> Iterator[bytes]:
        """Run it, and yield what it prints.

        Raises:
            Terminal: it is not there, or it failed; what was printed until then is no whole dump.
        """
        _, *arguments = kubectl_get((*self._options, _TIMEOUT), self._optional())
        with TemporaryFile() as said:
            try:
                words = [self._program, *arguments]
                running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said)  # noqa: S603 - no shell reads them
            except OSError as fault:
                raise Terminal(
                    "kubectl", f"cannot be run ({fault.strerror}); install it, or run it elsewhere"
                ) from fault
            with running:
                try:
                    yield from _read(running.stdout)
                except BaseException:
                    running.kill()
                    raise
            if running.returncode:
                raise Terminal("kubectl", _last_words(said))

    def _optional(self) -> Iterator[str]:
        """Yield which of the kinds that only some clusters have are there, as far as this person may list them.

        Some API of the cluster may not answer, and kubectl fails then; what it printed still holds.
        """
        there = self._said("api-resources", "--verbs=list", "-o", "name").stdout.decode(errors="replace").split()
        for name in OPTIONAL.values():
            if name in there and self._said("auth", "can-i", "list", name, "--all-namespaces").returncode == 0:
                yield name

    def _said(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run kubectl to its end; one that cannot be run has said nothing."""
        asked = [self._program, *self._options, _TIMEOUT, *words]
        try:
            return subprocess.run(asked, capture_output=True, check=False, timeout=_ASKING)  # noqa: S603 - as above
        except (OSError, subprocess.TimeoutExpired):
            return subprocess.CompletedProcess(asked, 1, b"", b"")


def _read(stream: IO[bytes] | None) -> Iterator[bytes]:
    while stream and (piece := stream.read(_PIECE)):
        yield piece


def _last_words(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:_MOST_SAID] if lines else "failed without a word"
