"""What `kubectl get … -o json` printed, read as if the cluster stood before us.

Files, folders of them and `.gz`; lists of all kinds, typed lists, single objects, several documents in one file. The
dump's time is its newest timestamp. Whatever is malformed is named with file and item; no other failure leaves here.
"""

import codecs
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.gathering import DumpContents
from shared.core.cluster.storage import LISTS
from shared.errors import BadDump, BadInput
from shared.ports import ClusterReading

COMMAND: Final = (
    "kubectl get nodes,pods,poddisruptionbudgets,namespaces,replicasets,deployments,statefulsets,"
    f"{','.join(LISTS)} -A -o json > dump.json"
)
STDIN: Final = Path("-")
_YAML: Final = re.compile(rb"(\s|---|#[^\n]*\n)*(apiVersion|items|kind|metadata):")
_KUBECTL_FAILED: Final = (b"Error from server", b"error: ", b"Unable to connect")
_MOST_SAID: Final = 200
_GZIP: Final = b"\x1f\x8b"
_SUFFIXES: Final = (".json", ".json.gz")
_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)


class DumpDocument(wire.Partial, frozen=True):
    """A list, typed or not, or a single object, which then has no items."""

    kind: str = ""
    items: list[msgspec.Raw] | None = None


class KindOnly(wire.Partial, frozen=True):
    """An item's kind; a typed list leaves it to the list."""

    kind: str = ""


_document: Final = msgspec.json.Decoder(DumpDocument)
_kind: Final = msgspec.json.Decoder(KindOnly)


def read_dump(paths: Sequence[Path]) -> tuple[ClusterReading, datetime]:
    """Return the picture that the files hold together, and its time. An object printed twice counts once.

    Raises:
        BadDump: a file cannot be read, an item is malformed, or there are no nodes.
    """
    contents = DumpContents()
    for file in _files(paths):
        for raw in _documents(file):
            _add_document(contents, file, raw)
    if not contents.nodes:
        raise BadDump(_no_nodes(paths, contents))
    return contents.read(), contents.newest


def _no_nodes(paths: Sequence[Path], contents: DumpContents) -> str:
    ignored = ", ".join(f"{count} {kind}" for kind, count in sorted(contents.ignored.items())) or "nothing"
    names = ", ".join(map(str, paths)) or "no file"
    return f"{names}: holds no nodes (left aside: {ignored}); make a dump with `{COMMAND}`."


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        inside = _files_in(path)
        if not inside:
            raise BadDump(f"{path}: holds no {' or '.join(_SUFFIXES)} file; make a dump with `{COMMAND}`.")
        yield from inside


def _files_in(path: Path) -> list[Path]:
    """Return the dumps in a folder; anything else stands for itself."""
    try:
        if not path.is_dir():
            return [path]
        return sorted(each for each in path.rglob("*") if each.name.endswith(_SUFFIXES) and each.is_file())
    except OSError as fault:
        raise BadDump(f"{path}: cannot be read ({fault}).") from fault


def _documents(file: Path) -> Iterator[bytes]:
    """Yield the JSON documents of a file, one after the other."""
    data = _content(file)
    try:
        _kind.decode(data)
    except _UNREADABLE:
        yield from _split_documents(file, data)
    else:
        yield data


def _content(file: Path) -> bytes:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
        return _utf8(gzip.decompress(data) if data.startswith(_GZIP) else data)
    except (OSError, EOFError, zlib.error, ValueError) as fault:
        raise BadDump(f"{file}: cannot be read ({fault}); make a dump with `{COMMAND}`.") from fault


def _utf8(data: bytes) -> bytes:
    """Return the content as UTF-8: PowerShell's `>` writes UTF-16, and some editors a byte order mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _split_documents(file: Path, data: bytes) -> Iterator[bytes]:
    """Cut apart what several runs of kubectl printed into one file."""
    decoder = json.JSONDecoder()
    try:
        rest = data.decode().lstrip()
        if not rest:
            raise BadDump(f"{file}: is empty; make a dump with `{COMMAND}`.")
        while rest:
            _, end = decoder.raw_decode(rest)
            yield rest[:end].encode()
            rest = rest[end:].lstrip()
    except _UNREADABLE as fault:
        raise BadDump(f"{file}: {_what_it_is(data, fault)}; make a dump with `{COMMAND}`.") from fault


def _what_it_is(data: bytes, fault: Exception) -> str:
    """Return what a file holds instead of JSON, as far as its beginning tells."""
    if _YAML.match(data):
        return "this is YAML: use -o json"
    if data.startswith(_KUBECTL_FAILED):
        return f"kubectl failed ({data.decode(errors='replace').splitlines()[0][:_MOST_SAID]})"
    return f"is not JSON ({fault})"


def _add_document(contents: DumpContents, file: Path, raw: bytes) -> None:
    try:
        document = _document.decode(raw)
    except _UNREADABLE as fault:
        raise BadDump(f"{file}: is no list of Kubernetes objects ({fault}); make a dump with `{COMMAND}`.") from fault
    if document.items is None:
        _add_object(contents, f"{file}", document.kind, raw)
        return
    for place, item in enumerate(document.items):
        _add_object(contents, f"{file}: items[{place}]", document.kind.removesuffix("List"), item)


def _add_object(contents: DumpContents, place: str, kind: str, raw: bytes | msgspec.Raw) -> None:
    try:
        contents.add(_kind.decode(raw).kind or kind, raw)
    except (*_UNREADABLE, BadInput) as fault:
        why = str(fault).rstrip(".")
        raise BadDump(f"{place}{_name_of(raw)}: {why}; print it again with `{COMMAND}`.") from fault


def _name_of(raw: bytes | msgspec.Raw) -> str:
    """Return ` (Pod default/web)` as far as a malformed item tells."""
    try:
        item: Any = msgspec.json.decode(raw)
    except _UNREADABLE:
        return ""
    meta = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(meta, dict):
        return ""
    return f" ({item.get('kind', 'object')} {meta.get('namespace', '')}/{meta.get('name', '')})".replace(" /", " ")
