"""A policy as YAML with a comment behind each value, checked by the reader that will read it.

Must not know where the values come from.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from functions.cli.visible import visible
from shared.core.policy.parsing import parse

SAFE_DEFAULT: Final = "Ebb's safe default; write false once the plans convince you"
"""Why every policy that was converted begins with dryRun: true."""

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*|[0-9]{1,9}%|(?:[0-9]{1,9}[dhms])+", re.ASCII)
_WORDS: Final = frozenset({"null", "true", "false", "y", "n", "yes", "no", "on", "off"})
"""Read as something else than text by one YAML or another."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A policy document as YAML, and what of the old configuration it cannot say."""

    document: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Noted:
    """A value, and where it comes from."""

    value: Any
    because: str


def imported(head: str, policy: Mapping[str, Any], notes: list[str]) -> Imported:
    """Write the policy down.

    Raises:
        BadPolicy: what was converted is no valid policy; each fault with its path in the policy.
    """
    text = "\n".join([f"# {head}", *_lines(policy, "")]) + "\n"
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
            yield from (f"{indent}  - {_inline(each)}" for each in value)
        else:
            yield f"{name} {_inline(value)}{comment}"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(str(key))}: {_inline(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _text(value) if isinstance(value, str) else str(value)


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(map(_letter, value))}"'


def _letter(letter: str) -> str:
    """Write what is not plainly printable as YAML's escape for any character."""
    plain = letter.isascii() and letter.isprintable() and letter not in '"\\'
    return letter if plain else f"\\U{ord(letter):08x}"
