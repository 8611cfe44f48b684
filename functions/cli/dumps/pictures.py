"""Two pictures of one cluster: of what both hold, the newer one counts; what was printed in pieces is put together.

A picture is what holds nodes and pods, or pods of the whole cluster. Two are of the same things where they share a pod,
or a node and a namespace of pods; pieces (a namespace, a kind or a pool each) share neither. Must not read files.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from functions.cli.dumps.contents import DumpContents
from shared.core.cluster.names import KUBE_SYSTEM


class Print(NamedTuple):
    """When pods were printed, and into which files."""

    time: datetime
    files: tuple[Path, ...]


def give_way(stale: DumpContents, fresh: DumpContents) -> bool:
    """Drop of an older picture what a newer one of the same things holds; return whether its pods were others."""
    names = _namespaces(fresh)
    is_whole = _is_whole(names, _namespaces(stale))
    again = _is_again(fresh, stale, names, is_whole=is_whole)
    differ = again and _places(fresh) != _places(stale)
    if again or not fresh.nodes.keys().isdisjoint(stale.nodes):
        stale.doubted = (stale.doubted | stale.nodes.keys()) - fresh.nodes.keys()
    if again:
        for old, new in zip(stale.rows(), fresh.rows(), strict=True):
            if new and old is not stale.nodes:
                _drop(old, names, is_whole=is_whole)
        if fresh.demand:
            stale.demand.clear()
    return differ


def drop_what_is_gone(contents: DumpContents) -> None:
    """Drop the nodes that only an older list has and no pod lies on: a node that is there has some."""
    used = {pod.node for pod in contents.pods.values()}
    for name in contents.doubted - used:
        contents.nodes.pop(name, None)


def _is_again(fresh: DumpContents, stale: DumpContents, names: set[str], *, is_whole: bool) -> bool:
    if not names or not (fresh.nodes or is_whole):
        return False
    share_nodes = not fresh.nodes.keys().isdisjoint(stale.nodes)
    return not fresh.pods.keys().isdisjoint(stale.pods) or (share_nodes and bool(names & _namespaces(stale)))


def _drop(old: dict[str, Any], names: set[str], *, is_whole: bool) -> None:
    """Drop rows, of objects in namespaces only where the newer picture was printed: in those of its pods."""
    for key in list(old):
        namespace, is_in_one, _ = key.partition("/")
        if not is_in_one or is_whole or namespace in names:
            del old[key]


def _namespaces(contents: DumpContents) -> set[str]:
    return {pod.spec.namespace for pod in contents.pods.values()}


def _is_whole(names: set[str], before: set[str]) -> bool:
    """Whether pods of all namespaces were printed; some of those that an older picture has may be gone."""
    return KUBE_SYSTEM in names and len(names) > 1 and 2 * len(names & before) >= len(before)


def _places(contents: DumpContents) -> Mapping[str, tuple[str, str]]:
    return {key: (pod.uid, pod.node) for key, pod in contents.pods.items()}
