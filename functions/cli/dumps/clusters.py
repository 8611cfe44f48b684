"""Which parts of a dump belong to one cluster; two snapshots of one cluster are refused."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.files import file_names
from functions.cli.dumps.homes import Home
from functions.cli.output.format import some
from shared.errors import BadDump

APART: Final = "print each cluster into a file or folder of its own"


@dataclass(slots=True)
class DumpPart:
    """What one run of kubectl printed, and the files where it stands."""

    files: list[Path]
    contents: DumpContents

    def join(self, other: "DumpPart") -> None:
        """Take in another part of the cluster; what was there first is kept. Raises BadDump: it is another snapshot."""
        if again := _printed_again(self.contents, other.contents):
            raise BadDump(
                f"{file_names((*self.files, *other.files))}: hold two snapshots of {again}; name one of them."
            )
        self.contents.merge(other.contents)
        self.files += [file for file in other.files if file not in self.files]


def _printed_again(one: DumpContents, other: DumpContents) -> str:
    """Return which namespaces two lists hold with different pods; lists without a common node or pod may be pieces."""
    shared = _namespaces(one) & _namespaces(other)
    mine, theirs = ({key: row for key, row in _places(of).items() if row[0] in shared} for of in (one, other))
    is_again = not mine.keys().isdisjoint(theirs) or (one.nodes and other.nodes)
    return f"the pods of {some(sorted(shared))}" if is_again and mine != theirs else ""


def _namespaces(contents: DumpContents) -> set[str]:
    return {pod.spec.namespace for pod in contents.pods.values()}


def _places(contents: DumpContents) -> Mapping[str, tuple[str, str, str]]:
    return {key: (pod.spec.namespace, pod.uid, pod.node) for key, pod in contents.pods.items()}


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
    """Return one part a cluster. Raises BadDump: a part is of several, it is not known of which, or counts twice."""
    for part in parts:
        _check_is_one(part)
    found: list[DumpPart] = []
    for part in parts:
        if part.contents.nodes:
            _join_clusters(
                found, part, [known for known in found if known.contents.signs.are_of_one(part.contents.signs)]
            )
    for part in parts:
        if not part.contents.nodes:
            _add_to_cluster(found, part)
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
