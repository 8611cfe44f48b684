"""The snapshots that the files of a dump hold, one a cluster, and the time of each: its newest timestamp.

Files, folders of them and `.gz`; lists of all kinds, typed lists, single objects, several documents in one file.
Whatever is malformed is named with file and item; no other failure leaves here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from functions.cli.dumps.clusters import APART, DumpPart, home_of_cluster, split_clusters
from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.files import MAKE_ONE, ReadBytes, file_names, files_of, remedy
from functions.cli.dumps.homes import ClusterSigns, Home
from functions.cli.dumps.objects import Item, documents_of, name_place
from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.errors import BadDump
from shared.port_types import ClusterReading


class RefusalDocument(wire.Partial, frozen=True):
    """What the API server answers in place of objects."""

    message: str = ""


_status: Final = msgspec.json.Decoder(RefusalDocument)


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
    future: tuple[str, ...] = ()
    """Objects with a time in the future, each by kind and name."""


def read_dump(paths: Sequence[Path], progress: ReadBytes = lambda _: None) -> tuple[ClusterReading, datetime]:
    """Return the snapshot that the files hold together, and its time. Raises as `read_dumps`."""
    one, *others = read_dumps(paths, progress)
    if others:
        names = ", ".join(str(cluster.home) or "unknown" for cluster in (one, *others))
        raise BadDump(f"{file_names(paths)}: of {len(others) + 1} clusters ({names}); {APART}.")
    return one.reading, one.newest


def read_dumps(
    paths: Sequence[Path], progress: ReadBytes = lambda _: None, now: datetime | None = None
) -> tuple[DumpedCluster, ...]:
    """Return the clusters that the files hold, as they were found; `now` is the time here. Raises BadDump."""
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
    for is_list, items in documents_of(file, progress):
        part = DumpPart([file], empty()) if is_list else alone
        for item in items:
            _add_object(part.contents, item)
        if is_list:
            yield part
    yield alone


def _add_object(contents: DumpContents, item: Item) -> None:
    with name_place(item):
        if item.kind != "Status":
            contents.add(item.kind, item.raw)
            return
        message = _status.decode(item.raw).message
    raise BadDump(f"{item}: the cluster refused ({message}); {remedy(message, MAKE_ONE)}.")
