"""The files of a dump, read twice: the first time for the names, the second time to write each object under another.

Must not know objects, and must not keep what it has written.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from functions.cli.dumps.anonymize.objects import KINDS
from functions.cli.dumps.anonymize.pseudonyms import Gathering, Namer, Pseudonyms
from functions.cli.dumps.files import Told, files_of
from functions.cli.dumps.reading import documents_of, place_of, typed
from shared.errors import BadDump

_ODD: Final = (AttributeError, KeyError, TypeError, ValueError, msgspec.MsgspecError)
Table = dict[str, dict[str, str]]
"""By sort and name: what stands for it."""


@dataclass(frozen=True)
class AnonymousDump:
    """A dump under other names, a piece at a time, and which name stands for which."""

    pieces: Iterator[bytes]
    table: Table


def anonymized(paths: Sequence[Path], told: Told = lambda _: None) -> AnonymousDump:
    """Return a dump as one list of the kinds that are read.

    Raises:
        BadDump: a file cannot be read, or an object is not of the API's shape; while the pieces are taken, too.
    """
    files, gathered = tuple(files_of(paths)), Gathering()
    for _ in _renamed(files, gathered, told):
        pass
    pseudonyms = Pseudonyms(gathered)
    return AnonymousDump(_list(_renamed(files, pseudonyms, told)), pseudonyms.table)


def _list(objects: Iterable[bytes]) -> Iterator[bytes]:
    before = b'{"apiVersion":"v1","kind":"List","items":[\n'
    for each in objects:
        yield before + each
        before = b",\n"
    yield b"\n]}\n"


def _renamed(files: Iterable[Path], namer: Namer, told: Told) -> Iterator[bytes]:
    for file in files:
        for document, found in documents_of(file, told):
            for kind, each in typed(file, document, found):
                if kind not in KINDS:
                    continue
                try:
                    renamed = _object(kind, each.raw, namer)
                except _ODD as fault:
                    raise BadDump(f"{place_of(file, each)}: is not of the API's shape ({fault}).") from fault
                yield renamed


def _object(kind: str, raw: bytes, namer: Namer) -> bytes:
    given: Any = msgspec.json.decode(raw)
    return msgspec.json.encode({"kind": kind, **KINDS[kind](namer, given)})
