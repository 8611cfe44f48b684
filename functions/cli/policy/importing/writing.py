"""Reads the objects of another tool's configuration, and writes the policy that they become."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from functions.cli.output.visible import visible
from shared.core.policy.parsing import parse
from shared.core.policy.reading import read, read_each
from shared.errors import BadPolicy


def objects(data: bytes) -> list[dict[str, Any]]:
    """Return every mapping of the file, lists taken apart. BadPolicy: it cannot be read."""
    with _faults_at("file"):
        return [item for document in read_each(data) for item in _items(document)]


def configuration(text: object, where: str) -> dict[str, Any]:
    """Return the mapping that stands as text in another document. BadPolicy: it is no text, or cannot be read."""
    if not isinstance(text, str):
        raise BadPolicy(f"{where}: it is no text; give the ConfigMap as kubectl prints it.")
    with _faults_at(where):
        return read(text.encode("utf-8", "replace"))


@contextmanager
def _faults_at(where: str) -> Iterator[None]:
    """Let the reader's faults be about the file instead of the policy."""
    try:
        yield
    except BadPolicy as error:
        raise BadPolicy(*(f"{where}: {fault.removeprefix('policy: ')}" for fault in error.faults)) from error


def only_one(found: Sequence[dict[str, Any]], tool: str, remedy: str) -> dict[str, Any]:
    """Return the only configuration of a file. BadPolicy: there is none, or there are several."""
    if len(found) != 1:
        raise BadPolicy(f"file: it holds {len(found) or 'no'} configurations of {tool}; give {remedy}.")
    return found[0]


def part(value: Any, *path: str) -> dict[str, Any]:
    """Return the mapping at a path; an empty one where there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def others(found: Iterable[dict[str, Any]], about: str) -> Iterator[str]:
    kinds = sorted({str(thing.get("kind", "without a kind"))[:40] for thing in found})
    yield from (f"objects {kind!r}: they have nothing about {about} and are left out." for kind in kinds)


def _items(document: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(document, dict):
        return
    items, kind = document.get("items"), str(document.get("kind", ""))
    if not (kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    # In a list of one kind, as `kubectl get --raw` prints it, the items name neither kind nor version.
    version = {"apiVersion": document["apiVersion"]} if "apiVersion" in document else {}
    own = {} if kind == "List" else {"kind": kind.removesuffix("List"), **version}
    yield from ({**own, **item} for item in items if isinstance(item, dict))


SAFE_DEFAULT: Final = "Ebb's safe default; write false once the plans convince you"
"""Why every policy that is written begins with dryRun: true."""

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*|[0-9]{1,9}%|(?:[0-9]{1,9}[dhms])+", re.ASCII)
_NOT_PLAIN: Final = re.compile(r'[^ -~]|["\\]')
_WORDS: Final = frozenset({"null", "true", "false", "y", "n", "yes", "no", "on", "off"})
"""Read as something else than text by one YAML or another."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A policy document as YAML, and what of the old configuration has no equivalent."""

    document: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Noted:
    value: Any
    because: str


def write_imported(head: str, policy: Mapping[str, Any], notes: list[str]) -> Imported:
    """Write the policy down, a dry run first of all. BadPolicy: it is not valid; each fault with its path in it."""
    whole = {"dryRun": Noted(value=True, because=SAFE_DEFAULT), **policy}
    text = "\n".join([f"# {head}", *_lines(whole, "")]) + "\n"
    parse(text.encode())
    return Imported(text, tuple(notes))


def _lines(rows: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, row in rows.items():
        value, comment = (row.value, f"  # {visible(row.because)}") if isinstance(row, Noted) else (row, "")
        name = f"{indent}{_text(key)}:"
        if value and isinstance(value, Mapping):
            yield f"{name}{comment}"
            yield from _lines(value, f"{indent}  ")
        elif value and isinstance(value, list):
            yield f"{name}{comment}"
            yield from (f"{indent}  - {_inline(item)}" for item in value)
        else:
            yield f"{name} {_inline(value)}{comment}"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(str(key))}: {_inline(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    # What is not plainly printable is written as YAML's escape for any character.
    written = _NOT_PLAIN.sub(lambda found: f"\\U{ord(found[0]):08x}", value)
    return f'"{written}"'
