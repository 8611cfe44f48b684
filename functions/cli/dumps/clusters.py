"""Which parts of a dump belong to one cluster; of several snapshots of one cluster the newer one counts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.files import file_names
from functions.cli.dumps.homes import Home
from shared.core.cluster.names import KUBE_SYSTEM
from shared.errors import BadDump

APART: Final = "print each cluster into a file or folder of its own"


@dataclass(frozen=True, order=True, slots=True)
class Print:
    """When pods were printed, and into which files."""

    time: datetime
    files: tuple[Path, ...]


def drop_outdated(stale: DumpContents, fresh: DumpContents) -> bool:
    """Drop of an older snapshot what a newer one of the same things holds; return whether its pods were others."""
    names = _namespaces(fresh)
    is_whole = _is_whole(names, _namespaces(stale))
    again = _is_newer_snapshot(fresh, stale, names, is_whole=is_whole)
    differ = again and _places(fresh) != _places(stale)
    if again or not fresh.nodes.keys().isdisjoint(stale.nodes):
        stale.doubted = (stale.doubted | stale.nodes.keys()) - fresh.nodes.keys()
    if again:
        for old, new in zip(stale.rows(), fresh.rows(), strict=True):
            if new and old is not stale.nodes:
                _drop_rows(old, names, is_whole=is_whole)
        if fresh.demand:
            stale.demand.clear()
    return differ


def drop_gone_nodes(contents: DumpContents) -> None:
    """Drop the nodes that only an older list has and no pod lies on: a node that is there has some."""
    used = {pod.node for pod in contents.pods.values()}
    for name in contents.doubted - used:
        contents.nodes.pop(name, None)


def _is_newer_snapshot(fresh: DumpContents, stale: DumpContents, names: set[str], *, is_whole: bool) -> bool:
    if not names or not (fresh.nodes or is_whole):
        return False
    share_nodes = not fresh.nodes.keys().isdisjoint(stale.nodes)
    return not fresh.pods.keys().isdisjoint(stale.pods) or (share_nodes and bool(names & _namespaces(stale)))


def _drop_rows(old: dict[str, Any], names: set[str], *, is_whole: bool) -> None:
    """Drop rows, of objects in namespaces only where the newer snapshot was printed: in those of its pods."""
    for key in list(old):
        namespace, is_in_one, _ = key.partition("/")
        if not is_in_one or is_whole or namespace in names:
            del old[key]


def _namespaces(contents: DumpContents) -> set[str]:
    return {pod.spec.namespace for pod in contents.pods.values()}


def _is_whole(names: set[str], before: set[str]) -> bool:
    """Whether pods of all namespaces were printed; some of those that an older snapshot has may be gone."""
    return KUBE_SYSTEM in names and len(names) > 1 and 2 * len(names & before) >= len(before)


def _places(contents: DumpContents) -> Mapping[str, tuple[str, str]]:
    return {key: (pod.uid, pod.node) for key, pod in contents.pods.items()}


@dataclass(slots=True)
class DumpPart:
    """What one run of kubectl printed, and the files where it stands."""

    files: list[Path]
    contents: DumpContents
    picture: Print | None = None
    """When the pods were printed that it holds; None without pods."""
    outdated: list[Print] = field(default_factory=list)
    """Older snapshots of the same things, which do not count."""

    def join(self, other: "DumpPart") -> None:
        """Take in another part of the cluster; of what both hold, the newer counts, or else what was there before."""
        older, newer = (self, other) if other.age > self.age else (other, self)
        if newer.age > older.age and drop_outdated(older.contents, newer.contents) and older.picture:
            self.outdated.append(older.picture)
        newer.contents.merge(older.contents)
        self.files += [file for file in other.files if file not in self.files]
        self.contents, self.picture = newer.contents, newer.picture or older.picture

    @property
    def age(self) -> datetime:
        """When it was printed, as far as two parts with pods are compared: their pods have it."""
        return self.picture.time if self.picture else self.contents.newest


def _kube_system(part: DumpPart) -> set[str]:
    return part.contents.kube_system


def _files(part: DumpPart) -> set[Path]:
    return set(part.files)


def _folders(part: DumpPart) -> set[Path]:
    return {file.parent for file in part.files}


_SIGNS: Final[tuple[tuple[Callable[[DumpPart], AbstractSet[Any]], Callable[[DumpPart], Iterable[Any]]], ...]] = (
    (_kube_system, _kube_system),
    (lambda part: {pod.node for pod in part.contents.pods.values() if pod.node}, lambda part: part.contents.nodes),
    (_files, _files),
    (_folders, _folders),
)
"""What a part without nodes and its cluster have in common, the surest first."""


def split_clusters(parts: Sequence[DumpPart]) -> list[DumpPart]:
    """Return one part a cluster.

    Raises:
        BadDump: a part holds nodes of several clusters, or it is not known whose it is.
    """
    for part in parts:
        _check_is_one(part)
        part.picture = Print(part.contents.newest, tuple(part.files)) if part.contents.pods else None
    found: list[DumpPart] = []
    for part in parts:
        if part.contents.nodes:
            _join_clusters(
                found, part, [known for known in found if known.contents.signs.are_of_one(part.contents.signs)]
            )
    for part in parts:
        if not part.contents.nodes:
            _add_to_cluster(found, part)
    for part in found:
        drop_gone_nodes(part.contents)
    return found


def _check_is_one(part: DumpPart) -> None:
    contents, names = part.contents, file_names(part.files)
    homes = sorted(contents.homes)
    other = next((home for home in homes if not home.may_be(homes[0])), None)
    if other is not None:
        raise BadDump(f"{names}: holds nodes of two clusters, {homes[0]} and {other}, in one list; {APART}.")
    if len(contents.kube_system) > 1:
        raise BadDump(f"{names}: holds the namespace kube-system of two clusters in one list; {APART}.")


def _join_clusters(found: list[DumpPart], part: DumpPart, same: list[DumpPart]) -> None:
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
        found[0].contents.merge(part.contents)
        return
    candidates = found
    for of_part, of_cluster in _SIGNS:
        wanted = of_part(part)
        candidates = [known for known in candidates if not wanted.isdisjoint(of_cluster(known))] or candidates
    if len(candidates) > 1:
        raise BadDump(f"{file_names(part.files)}: may be of any of {len(found)} clusters; {APART}.")
    if candidates:
        candidates[0].join(part)
    else:
        found.append(part)


def home_of_cluster(contents: DumpContents) -> Home:
    """Return what is known of a cluster's home: the longest name that its nodes have."""
    return max(contents.homes, key=lambda home: (len(home.name), home), default=Home())
