"""The files of a dump, their documents and the objects in them; and what a file is that is no dump.

A file is held whole, and each object is a view of its bytes.
"""

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from shared.adapters.kubernetes import wire
from shared.errors import BadDump, BadInput

STDIN: Final = Path("-")
PIECE: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SUFFIXES: Final = (".json", ".json.gz")
MAKE_ONE: Final = "run: ebb dump"  # It shows the command, and runs it with --out.
ReadBytes = Callable[[int], None]  # Gets the number of bytes of a file that were read.


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


MOST_HEAD: Final = 1_000  # Bytes of the beginning that show what a file is.
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


UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)


class Document(wire.Partial, frozen=True):
    """One document of a file: a list of objects, or without `items` one object."""

    kind: str = ""
    items: list[msgspec.Raw] | None = None


class ItemHead(wire.Partial, frozen=True):
    """An item's kind, which a typed list leaves to the list; and what the API server answers in place of objects."""

    kind: str = ""
    message: str | None = None


class DumpItem(NamedTuple):
    """One object; `place` is its number in the list, and -1 where it stands by itself."""

    file: Path
    place: int
    raw: bytes | msgspec.Raw
    kind: str = ""

    def __str__(self) -> str:
        """Return where it stands and, as far as a malformed one shows it, its name: `a.json: items[1] (Pod web)`."""
        place = f"{name_of(self.file)}: items[{self.place}]" if self.place >= 0 else name_of(self.file)
        try:
            item: Any = msgspec.json.decode(self.raw)
        except UNREADABLE:
            return place
        meta = item.get("metadata") if isinstance(item, dict) else None
        parts = (meta.get("namespace"), meta.get("name")) if isinstance(meta, dict) else ()
        name = "/".join(str(part) for part in parts if part)
        return f"{place} ({item.get('kind') or 'object'} {name})" if name else place


_BLANK: Final = re.compile(rb"\s*")
_AFTER_IT: Final = re.compile(r"trailing characters \(byte (\d+)\)")
"""The decoder's words; it counts the first byte that is too many as read."""
_CUT_OFF: Final = "Input data was truncated"
_document: Final = msgspec.json.Decoder(Document)
_head: Final = msgspec.json.Decoder(ItemHead)


def documents_of(file: Path, progress: ReadBytes) -> Iterator[tuple[bool, Iterator[DumpItem]]]:
    """Yield of each document whether it is a list, and its objects; BadDump where it cannot be read, or is no dump."""
    data, size = read_file(file)
    at = _after_blanks(data, 0)
    if at == len(data):
        raise BadDump(f"{name_of(file)}: is empty; {MAKE_ONE}.")
    while at < len(data):
        document, end = _first_document(file, memoryview(data)[at:])
        is_list = document.items is not None
        rows = enumerate(document.items or ()) if is_list else [(-1, data[at : at + end])]
        items = starmap(partial(DumpItem, file), rows)
        yield is_list, _with_kinds(items, document, lambda done: progress(done * size // len(data)))
        at = _after_blanks(data, at + end)


def _after_blanks(data: bytes, at: int) -> int:
    blank = _BLANK.match(data, at)
    return blank.end() if blank else at


def _first_document(file: Path, data: memoryview) -> tuple[Document, int]:
    """Return the document that data begin with, and its length; other documents may follow."""
    try:
        return _document.decode(data), len(data)
    except msgspec.ValidationError as fault:
        raise BadDump(f"{name_of(file)}: is no list of Kubernetes objects ({fault}); {MAKE_ONE}.") from fault
    except UNREADABLE as fault:
        if after := _AFTER_IT.search(str(fault)):
            return _first_document(file, data[: int(after[1]) - 1])
        head = bytes(data[:MOST_HEAD])
        is_cut_off = str(fault) == _CUT_OFF and head.startswith(b"{")
        found = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
        why = f"is cut off; {MAKE_ONE}" if is_cut_off else sentence_on_content(head, found)
        raise BadDump(f"{name_of(file)}: {why}.") from fault


def _with_kinds(rows: Iterable[DumpItem], document: Document, progress: ReadBytes) -> Iterator[DumpItem]:
    """Yield each object with its kind. Raises BadDump where something is none, or a refusal."""
    of_list = document.kind.removesuffix("List")
    for item in rows:
        with name_place(item):
            head = _head.decode(item.raw)
        if head.kind == "Status":
            raise BadDump(f"{item}: the cluster refused ({head.message}); {remedy(head.message or '', MAKE_ONE)}.")
        yield item._replace(kind=head.kind or of_list)
        progress(memoryview(item.raw).nbytes)


@contextmanager
def name_place(item: DumpItem) -> Iterator[None]:
    """Let what is malformed begin with its place, and end with a remedy."""
    try:
        yield
    except (*UNREADABLE, BadInput) as fault:
        raise BadDump(f"{item}: {str(fault).rstrip('.')}; {MAKE_ONE}.") from fault
