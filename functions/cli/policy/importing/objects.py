"""The Kubernetes objects in a file: one or several documents, YAML or JSON, lists as `kubectl get` prints them.

Must not know what is looked for.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from shared.core.policy.reading import read, read_each
from shared.errors import BadPolicy


def objects(data: bytes) -> list[dict[str, Any]]:
    """Return every mapping of the file, lists taken apart.

    Raises:
        BadPolicy: the file cannot be read.
    """
    try:
        return [each for document in read_each(data) for each in _items(document)]
    except BadPolicy as error:
        raise _of("file", error) from error


def configuration(text: object, where: str) -> dict[str, Any]:
    """Return the mapping that stands as text in another document.

    Raises:
        BadPolicy: it is no text, or cannot be read.
    """
    if not isinstance(text, str):
        raise BadPolicy(f"{where}: it is no text; give the ConfigMap as kubectl prints it.")
    try:
        return read(text.encode("utf-8", "replace"))
    except BadPolicy as error:
        raise _of(where, error) from error


def part(value: Any, *path: str) -> dict[str, Any]:
    """Return the mapping at a path; an empty one where there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def others(found: Iterable[dict[str, Any]], about: str) -> Iterator[str]:
    """Say of objects that were not converted which they are."""
    kinds = sorted({str(each.get("kind", "without a kind"))[:40] for each in found})
    yield from (f"objects {kind!r}: they say nothing of {about} and are left out." for kind in kinds)


def _items(document: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(document, dict):
        return
    items, kind = document.get("items"), str(document.get("kind", ""))
    if kind.endswith("List") and isinstance(items, list):
        yield from (_typed(each, document, kind) for each in items if isinstance(each, dict))
    else:
        yield document


def _typed(item: dict[str, Any], listed: dict[str, Any], kind: str) -> dict[str, Any]:
    """In a list of one kind, as `kubectl get --raw` prints it, the items name neither kind nor version."""
    if kind == "List":
        return item
    version = {"apiVersion": listed["apiVersion"]} if "apiVersion" in listed else {}
    return {"kind": kind.removesuffix("List"), **version, **item}


def _of(where: str, error: BadPolicy) -> BadPolicy:
    """Say of the file what the reader says of the policy."""
    return BadPolicy(*(f"{where}: {fault.removeprefix('policy: ')}" for fault in error.faults))
