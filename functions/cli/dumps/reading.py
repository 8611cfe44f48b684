"""The snapshots that the files of a dump hold, one a cluster, and the time of each: its newest timestamp.

Files, folders of them and `.gz`; lists of all kinds, typed lists, single objects, several documents in one file.
Whatever is malformed is named with file and item; no other failure leaves here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from functions.cli.dumps.clusters import APART, DumpPart, Print, home_of_cluster, split_clusters
from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.files import MAKE_ONE, ReadBytes, file_names, files_of, name_of, pieces, remedy, what_it_is
from functions.cli.dumps.homes import ClusterSigns, Home
from functions.cli.dumps.objects import Document, Found, NoList, NotJson, Values, documents
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.errors import BadDump, BadInput
from shared.port_types import ClusterReading

_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)


class _Refused(BadInput):
    """The API server's answer in place of an object."""


class KindOnly(wire.Partial, frozen=True):
    """An item's kind; a typed list leaves it to the list."""

    kind: str = ""


class RefusalDocument(wire.Partial, frozen=True):
    """What the API server answers in place of objects."""

    message: str = ""


_status: Final = msgspec.json.Decoder(RefusalDocument)
_kind: Final = msgspec.json.Decoder(KindOnly)


@dataclass(frozen=True, slots=True)
class DumpedCluster:
    """One cluster of a dump. `kinds` were printed; `clouds` are the words before its nodes' providerIDs."""

    files: tuple[Path, ...]
    home: Home
    signs: ClusterSigns
    reading: ClusterReading
    newest: datetime
    kinds: frozenset[str]
    clouds: frozenset[str]
    demand: tuple[tuple[str, bytes], ...] = ()
    """Objects that no plan reads and simulated days do, each with its kind."""
    prints: tuple[Print, ...] = ()
    """Where it was printed more than once: when, the one that counts last."""
    future: tuple[str, ...] = ()
    """Objects with a time in the future, each by kind and name."""


def read_dump(paths: Sequence[Path], progress: ReadBytes = lambda _: None) -> tuple[ClusterReading, datetime]:
    """Return the snapshot that the files hold together, and its time. An object printed twice counts once.

    Raises:
        BadDump: as `read_dumps`, or the files are of several clusters.
    """
    one, *others = read_dumps(paths, progress)
    if others:
        names = ", ".join(str(cluster.home) or "unknown" for cluster in (one, *others))
        raise BadDump(f"{file_names(paths)}: of {len(others) + 1} clusters ({names}); {APART}.")
    return one.reading, one.newest


def read_dumps(
    paths: Sequence[Path], progress: ReadBytes = lambda _: None, now: datetime | None = None
) -> tuple[DumpedCluster, ...]:
    """Return the clusters that the files hold, in the order in which they were found; `now` is the time here.

    Raises:
        BadDump: a file cannot be read, an item is malformed, there are no nodes, or parts cannot be separated.
    """
    folder = PodDecoder()
    parts = [part for file in files_of(paths) for part in _parts(file, lambda: DumpContents(folder, now), progress)]
    found = split_clusters(parts)
    if not any(part.contents.nodes for part in found):
        raise BadDump(_no_nodes(paths, found))
    return tuple(map(_cluster, found))


def _cluster(part: DumpPart) -> DumpedCluster:
    contents = part.contents
    return DumpedCluster(
        tuple(part.files),
        home_of_cluster(contents),
        contents.signs,
        contents.to_reading(),
        contents.newest,
        frozenset(contents.kinds),
        frozenset(contents.clouds),
        tuple((kind, raw) for raw, kind in contents.demand.items()),
        (*sorted(part.outdated), part.picture) if part.outdated and part.picture else (),
        contents.future,
    )


def _no_nodes(paths: Sequence[Path], parts: Sequence[DumpPart]) -> str:
    kinds = sum((part.contents.kinds for part in parts), Counter[str]())
    unused = sum((part.contents.ignored for part in parts), Counter[str]())
    others = ", ".join(f"{count} {kind}" for kind, count in sorted(unused.items()))
    ignored = f" (ignored: {others})" if others else ""
    instead = "".join(f"{count} {kind}, " for kind, count in sorted(kinds.items()))
    return f"{file_names(paths)}: holds {instead}no nodes{ignored}; {MAKE_ONE}."


def _parts(file: Path, empty: Callable[[], DumpContents], progress: ReadBytes) -> Iterator[DumpPart]:
    """Yield each list of a file as a part of its own, and all objects that stand by themselves as one."""
    alone = DumpPart([file], empty())
    for document, found in documents_of(file, progress):
        part = DumpPart([file], empty())
        for kind, item in with_kinds(file, document, found):
            _add_object(part.contents if document.is_list else alone.contents, file, kind, item)
        yield part
    yield alone


def with_kinds(file: Path, document: Document, found: Iterator[Found]) -> Iterator[tuple[str, Found]]:
    """Yield each object with its kind: what leaves it to its list comes last, for kubectl prints that at the end.

    Raises:
        BadDump: something is no object.
    """
    untyped: list[Found] = []
    for item in found:
        with _name_place(file, item):
            kind = _kind.decode(item.raw).kind or document.kind.removesuffix("List")
        if kind:
            yield kind, item
        else:
            untyped.append(item)
    yield from ((document.kind.removesuffix("List"), item) for item in untyped)


def documents_of(file: Path, progress: ReadBytes) -> Iterator[tuple[Document, Iterator[Found]]]:
    """Yield the documents of a file, each with its objects.

    Raises:
        BadDump: it cannot be read, or is no dump.
    """
    values = Values(pieces(file, progress))
    if not values.next_byte():
        raise BadDump(f"{name_of(file)}: is empty; {MAKE_ONE}.")
    for document, found in documents(values):
        yield document, _name_faults(file, values, found)


def _name_faults(file: Path, values: Values, found: Iterator[Found]) -> Iterator[Found]:
    """Yield on, and name what is found in place of a dump."""
    seen = 0
    try:
        for item in found:
            yield item
            seen += 1
    except NotJson as fault:
        cut_off = fault.cut_off and values.head.startswith(b"{")
        why = f"is cut off after {seen:,} objects; {MAKE_ONE}" if cut_off else what_it_is(values.head, str(fault))
        raise BadDump(f"{name_of(file)}: {why}.") from fault
    except NoList as fault:
        text = f"is no list of Kubernetes objects ({fault})"
        raise BadDump(f"{name_of(file)}: {text}; {MAKE_ONE}.") from fault


def _add_object(contents: DumpContents, file: Path, kind: str, found: Found) -> None:
    with _name_place(file, found):
        if kind == "Status":
            raise _Refused(f"the cluster refused ({_status.decode(found.raw).message})")
        contents.add(kind, found.raw)


@contextmanager
def _name_place(file: Path, found: Found) -> Iterator[None]:
    """Name the place of what is malformed."""
    try:
        yield
    except (*_UNREADABLE, BadInput) as fault:
        text, again = str(fault).rstrip("."), MAKE_ONE
        helps = remedy(text, again) if isinstance(fault, _Refused) else again
        raise BadDump(f"{place_of(file, found)}: {text}; {helps}.") from fault


def place_of(file: Path, found: Found) -> str:
    """Return where an object stands and what it is called."""
    place = f"{name_of(file)}: items[{found.place}]" if found.place >= 0 else name_of(file)
    return f"{place}{_name_of(found.raw)}"


def _name_of(raw: bytes) -> str:
    """Return ` (Pod default/web)` as far as a malformed item has them."""
    try:
        item: Any = msgspec.json.decode(raw)
    except _UNREADABLE:
        return ""
    meta = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(meta, dict):
        return ""
    name = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return f" ({item.get('kind') or 'object'} {name})" if name else ""
