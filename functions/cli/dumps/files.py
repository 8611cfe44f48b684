"""The files of a dump, and what a file is that is no dump."""

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from shared.errors import BadDump

STDIN: Final = Path("-")
PIECE: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SUFFIXES: Final = (".json", ".json.gz")
MAKE_ONE: Final = "run: ebb dump"
"""It shows the command, and runs it with --out."""
ReadBytes = Callable[[int], None]
"""Gets the number of bytes of a file that were read."""


def name_of(file: Path) -> str:
    return "stdin" if file == STDIN else str(file)


def file_names(files: Iterable[Path]) -> str:
    return ", ".join(map(name_of, files)) or "no file"


def short_names(files: Iterable[Path]) -> str:
    return ", ".join("stdin" if file == STDIN else file.name for file in files)


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that paths name; a folder stands for the dumps in it, and one without any is a BadDump."""
    for path in paths:
        inside = _files_in(path)
        if not inside:
            raise BadDump(f"{path}: holds no {' or '.join(_SUFFIXES)} file; {MAKE_ONE}.")
        yield from inside


def _files_in(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            return [path]
        return sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIXES) and file.is_file())
    except OSError as fault:
        raise BadDump(f"{path}: cannot be read ({fault}).") from fault


def read_file(file: Path) -> tuple[bytes, int]:
    """Return what a file holds, unpacked and as UTF-8, and its size; BadDump where it cannot be read."""
    try:
        given = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
        plain = gzip.decompress(given) if given.startswith(_GZIP) else given
        if plain.startswith(_UTF_16):  # as PowerShell's `>` writes it
            return plain.decode("utf-16").encode(), len(given)
    except (OSError, EOFError, zlib.error, ValueError) as fault:
        raise BadDump(f"{name_of(file)}: cannot be read ({fault}); {MAKE_ONE}.") from fault
    return plain.removeprefix(codecs.BOM_UTF8), len(given)


MOST_HEAD: Final = 1_000
"""Bytes of the beginning that show what a file is."""
_MOST_SAID: Final = 200
_SIGNS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (
        re.compile(rb"\s*<(!DOCTYPE|html|head|\?xml)", re.IGNORECASE),
        "this is a web page, as a proxy or a login sends it",
    ),
    (re.compile(rb"\s*No resources found"), "kubectl found nothing there"),
    (re.compile(rb"\s*(NAMESPACE +)?NAME +[A-Z]"), "this is kubectl's table: use -o json"),
    (re.compile(rb"\s*Name: +\S"), "this is what kubectl describe prints: use kubectl get and -o json"),
    (re.compile(rb"\s*(node|pod|namespace|deployment\.apps)/\S+\s*\n"), "these are names only: use -o json"),
    (re.compile(rb"(\s|---|#[^\n]*\n)*(apiVersion|items|kind|metadata):"), "this is YAML: use -o json"),
)
_KUBECTL_FAILED: Final = re.compile(
    rb"\s*(Error from server|error: |Error: |Unable to connect|The connection to the server|ERROR: |[EF]\d{4} "
    rb"|Unauthorized\b)"
)
_CREDENTIALS: Final = "`gcloud container clusters get-credentials NAME --location LOCATION`"


def _helps() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what helps where the same command would be refused again."""
    from shared.adapters.kubernetes.kubeconfig import INSTALL_GKE, LOG_IN

    return (
        (re.compile(r"gke-gcloud-auth-plugin\S* not found"), INSTALL_GKE),
        (
            re.compile(r"Unauthorized|must be logged in|provide credentials|getting credentials"),
            f"{LOG_IN} and {_CREDENTIALS}",
        ),
        (re.compile(r"[Ff]orbidden"), "ask for rights to list it (roles/container.viewer)"),
        (re.compile(r"localhost:8080"), f"name the cluster with {_CREDENTIALS}"),
    )


def sentence_on_content(head: bytes, fault: str) -> str:
    """Return what the file holds instead of JSON, and what to do."""
    for sign, text in _SIGNS:
        if sign.match(head):
            return f"{text}; {MAKE_ONE}"
    if _KUBECTL_FAILED.match(head):
        words = head.decode(errors="replace")
        return f"kubectl failed ({words.strip().split(chr(10), 1)[0].strip()[:_MOST_SAID]}); {remedy(words, MAKE_ONE)}"
    return f"is not JSON ({fault}); {MAKE_ONE}"


def remedy(refusal: str, other: str) -> str:
    """Return what helps where the cluster refused; something else where these words do not show the cause."""
    helps = next((helps for sign, helps in _helps() if sign.search(refusal)), None)
    return f"{helps}, then print it again" if helps else other
