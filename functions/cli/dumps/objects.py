"""The documents of a file, which is held whole, and the objects in them, each a view of its bytes."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from functions.cli.dumps.files import MAKE_ONE, MOST_HEAD, ReadBytes, name_of, read_file, remedy, sentence_on_content
from shared.adapters.kubernetes import wire
from shared.errors import BadDump, BadInput

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
