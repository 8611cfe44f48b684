"""How a document for tools is written: JSON, or the same as YAML. Must not know what it says."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

import typer

from functions.cli.visible import visible_lines

_YAML: Final = "yaml"
_WIDE: Final = 1000
"""Wider than any value: a line is broken nowhere, so that grep finds it."""


def print_document(document: dict[str, Any], output: StrEnum, notes: Sequence[str] = ()) -> None:
    """Print a document on stdout as the output asks, and what a person should know of it on stderr."""
    if notes:
        typer.echo("\n".join(map(visible_lines, notes)), err=True)
    typer.echo(written(document, output))


def written(document: dict[str, Any], output: StrEnum) -> str:
    """Return the document as text, without a line's end."""
    if output != _YAML:
        return json.dumps(document, indent=2, ensure_ascii=False)
    from yaml import safe_dump

    return str(safe_dump(document, sort_keys=False, allow_unicode=True, width=_WIDE)).rstrip()
