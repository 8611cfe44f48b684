"""The files of a dump, their documents and the objects in them; what is no dump is refused in one sentence.

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
ALLOWED: Final = f"log in, or ask for the right to list it (roles/container.viewer), then {MAKE_ONE}"
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


_MOST_QUOTED: Final = 200  # Bytes of the beginning that show what a file is.
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
        raise BadDump(f"{name_of(file)}: {_sentence(bytes(data[:_MOST_QUOTED]), fault)}; {MAKE_ONE}.") from fault


def _sentence(head: bytes, fault: Exception) -> str:
    """Return why a document is none, by how it begins: a table, a page and kubectl's own failure show themselves."""
    is_object = head.startswith(b"{")
    if is_object and str(fault) == _CUT_OFF:
        return "is cut off"
    found = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
    begins = head.decode(errors="replace").strip().partition("\n")[0].strip()
    return f"is not JSON ({found})" + ("" if is_object else f'; it begins "{begins}"')


def _with_kinds(rows: Iterable[DumpItem], document: Document, progress: ReadBytes) -> Iterator[DumpItem]:
    """Yield each object with its kind. Raises BadDump where something is none, or a refusal."""
    of_list = document.kind.removesuffix("List")
    for item in rows:
        with name_place(item):
            head = _head.decode(item.raw)
        if head.kind == "Status":
            raise BadDump(f"{item}: the cluster refused ({head.message}); {ALLOWED}.")
        yield item._replace(kind=head.kind or of_list)
        progress(memoryview(item.raw).nbytes)


@contextmanager
def name_place(item: DumpItem) -> Iterator[None]:
    """Let what is malformed begin with its place, and end with a remedy."""
    try:
        yield
    except (*UNREADABLE, BadInput) as fault:
        raise BadDump(f"{item}: {str(fault).rstrip('.')}; {MAKE_ONE}.") from fault
