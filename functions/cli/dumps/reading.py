"""The snapshots that the files of a dump hold, one a cluster, and the time of each: its newest timestamp.

Files, folders of them and `.gz`; lists of all kinds, typed lists, single objects, several documents in one file.
Whatever is malformed is named with file and item; no other failure leaves here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.files import MAKE_ONE, DumpItem, ReadBytes, documents_of, file_names, files_of, name_place
from functions.cli.dumps.homes import ClusterSigns, Home
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.errors import BadDump
from shared.ports import ClusterReading

APART: Final = "print each cluster into a file or folder of its own"


@dataclass(slots=True)
class DumpPart:
    """What one run of kubectl printed, and the files where it stands."""

    files: list[Path]
    contents: DumpContents
    items: list[DumpItem] = field(default_factory=list)
    older: list["DumpPart"] = field(default_factory=list)
    """What was printed of the same pods or nodes earlier: the newer counts."""

    def add(self, item: DumpItem) -> None:
        with name_place(item):
            self.contents.add(item.kind, item.raw)
        self.items.append(item)

    def join(self, other: "DumpPart") -> None:
        """Take in another part of the cluster, each object once; an older snapshot of the same is left out.

        Raises BadDump: a newer one has pods alone, so that it is not known which nodes were there.
        """
        earlier = {name for part in self.older for name in part.contents.nodes}
        again = _printed_again(self.contents, other.contents, earlier)
        if again and other.contents.newest != self.contents.newest:
            if other.contents.newest > self.contents.newest:
                files = file_names((*self.files, *other.files))
                raise BadDump(f"{files}: hold two snapshots of {again}, the newer one without nodes; name one of them.")
            self.older.append(other)
            return
        self.older += other.older
        if len(other.items) > len(self.items):  # what joins is decoded once more: the smaller one
            self.contents, self.items, other.items = other.contents, other.items, self.items
        for item in other.items:
            self.add(item)
        self.files += [file for file in other.files if file not in self.files]


@dataclass(frozen=True, slots=True)
class DumpedCluster:
    """One cluster of a dump. `kinds` were printed."""

    files: tuple[Path, ...]
    home: Home
    signs: ClusterSigns
    reading: ClusterReading
    newest: datetime
    kinds: frozenset[str]
    older: tuple[tuple[datetime, tuple[Path, ...]], ...] = ()
    """Snapshots of the same that were left out: their times and files."""


def read_dump(paths: Sequence[Path], progress: ReadBytes = lambda _: None) -> tuple[ClusterReading, datetime]:
    """Return the snapshot that the files hold together, and its time. Raises as `read_dumps`."""
    one, *others = read_dumps(paths, progress)
    if others:
        names = ", ".join(str(cluster.home) or "unknown" for cluster in (one, *others))
        raise BadDump(f"{file_names(paths)}: of {len(others) + 1} clusters ({names}); {APART}.")
    return one.reading, one.newest


def read_dumps(paths: Sequence[Path], progress: ReadBytes = lambda _: None) -> tuple[DumpedCluster, ...]:
    """Return the clusters that the files hold, as they were found. Raises BadDump."""
    folder = PodDecoder()
    parts = [part for file in files_of(paths) for part in _parts(file, folder, progress)]
    found = split_clusters(parts)
    if not any(part.contents.nodes for part in found):
        raise BadDump(_no_nodes(paths, found))
    return tuple(map(_cluster, found))


def _cluster(part: DumpPart) -> DumpedCluster:
    contents = part.contents
    return DumpedCluster(
        tuple(part.files),
        max(contents.homes, key=lambda home: (len(home.name), home), default=Home()),  # the longest name is least cut
        contents.signs,
        contents.to_reading(),
        contents.newest,
        frozenset(contents.kinds),
        tuple((one.contents.newest, tuple(one.files)) for one in part.older),
    )


def _no_nodes(paths: Sequence[Path], parts: Sequence[DumpPart]) -> str:
    kinds = sum((part.contents.kinds + part.contents.ignored for part in parts), Counter[str]())
    instead = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{file_names(paths)}: holds no nodes{f' (but {instead})' if instead else ''}; {MAKE_ONE}."


def _parts(file: Path, folder: PodDecoder, progress: ReadBytes) -> Iterator[DumpPart]:
    """Yield each list of a file as a part of its own, and all objects that stand by themselves as one."""
    alone = DumpPart([file], DumpContents(folder))
    for is_list, items in documents_of(file, progress):
        part = DumpPart([file], DumpContents(folder)) if is_list else alone
        for item in items:
            part.add(item)
        if is_list:
            yield part
    yield alone


def _printed_again(one: DumpContents, other: DumpContents, earlier: AbstractSet[str]) -> str:
    """Return what two lists hold differently: nodes, or pods of namespaces; lists that share nothing may be pieces."""
    if one.nodes.keys() != other.nodes.keys() and not one.nodes.keys().isdisjoint(other.nodes):
        return "the nodes"
    # Pods on a node that only an earlier list has are as old as that one; a node that no list has went between pieces.
    gone = earlier - one.nodes.keys()
    if one.pods and any(pod.node in gone for pod in other.pods.values()):
        return "the pods"
    shared = _namespaces(one) & _namespaces(other)
    mine, theirs = ({key: row for key, row in _places(of).items() if row[0] in shared} for of in (one, other))
    is_again = not mine.keys().isdisjoint(theirs) or (one.nodes and other.nodes)
    return f"the pods of {', '.join(sorted(shared)[:3])}" if is_again and mine != theirs else ""


def _namespaces(contents: DumpContents) -> set[str]:
    return {pod.spec.namespace for pod in contents.pods.values()}


def _places(contents: DumpContents) -> Mapping[str, tuple[str, str, str]]:
    return {key: (pod.spec.namespace, pod.uid, pod.node) for key, pod in contents.pods.items()}


def _signs(part: DumpPart) -> Iterator[AbstractSet[Any]]:
    """Yield what a part and the rest of its cluster have in common, the surest first."""
    yield part.contents.kube_system
    yield part.contents.nodes.keys() or {pod.node for pod in part.contents.pods.values() if pod.node}
    yield set(part.files)
    yield {file.parent for file in part.files}


def split_clusters(parts: Sequence[DumpPart]) -> list[DumpPart]:
    """Return one part a cluster, as they were found. Raises BadDump: a part is of several, or may be of several."""
    for part in parts:
        _check_is_one(part)
    found: list[DumpPart] = []
    newest_first = sorted(parts, key=lambda part: part.contents.newest, reverse=True)
    for part in newest_first:
        if part.contents.nodes:
            _join_clusters(found, part)
    for part in newest_first:
        if not part.contents.nodes:
            _add_to_cluster(found, part)
    files = [file for part in parts for file in part.files]
    return sorted(found, key=lambda part: min(map(files.index, part.files)))


def _check_is_one(part: DumpPart) -> None:
    contents, names = part.contents, file_names(part.files)
    homes = sorted(contents.homes)
    other = next((home for home in homes if not home.may_be(homes[0])), None)
    if other is not None:
        raise BadDump(f"{names}: holds nodes of two clusters, {homes[0]} and {other}, in one list; {APART}.")
    if len(contents.kube_system) > 1:
        raise BadDump(f"{names}: holds the namespace kube-system of two clusters in one list; {APART}.")


def _join_clusters(found: list[DumpPart], part: DumpPart) -> None:
    same = [known for known in found if known.contents.signs.are_of_one(part.contents.signs)]
    if not same:
        found.append(part)
        return
    first, *others = same
    for other in (part, *others):
        first.join(other)
    found[:] = [known for known in found if not any(known is other for other in others)]


def _add_to_cluster(found: list[DumpPart], part: DumpPart) -> None:
    """Add what has no nodes of its own to its cluster; what no plan reads is only counted."""
    if found and not part.contents.kinds:
        for item in part.items:
            found[0].add(item)
        return
    candidates = found
    for place, wanted in enumerate(_signs(part)):
        shared = [known for known in candidates if not wanted.isdisjoint(tuple(_signs(known))[place])]
        candidates = shared or candidates
    if len(candidates) > 1:
        raise BadDump(f"{file_names(part.files)}: may be of any of {len(found)} clusters; {APART}.")
    if candidates:
        candidates[0].join(part)
    else:
        found.append(part)
