"""What answers are made of: a page is a row of parts, drawn on a terminal and as markdown from the same values."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text

from functions.cli.output.format import WARNING, group
from functions.cli.output.tables import BOLD, Table, as_markdown, draw
from functions.cli.output.terminal import IN_A_FILE, facts, printing
from functions.cli.output.visible import code, text, visible_lines
from shared.core.reasons import Blocker, Unremovable

Fact = tuple[str, str | Text]


@dataclass(frozen=True)
class Heading:
    words: str
    level: int = 2
    code: bool = False
    """The name of a thing, which markdown shows as code."""


@dataclass(frozen=True)
class Facts:
    rows: tuple[Fact, ...]


@dataclass(frozen=True)
class Causes:
    found: tuple[Blocker, ...]


@dataclass(frozen=True)
class Lines:
    """Sentences one below another, right below what stands before them; where they are bold, markdown is, too."""

    sentences: tuple[str, ...]
    style: str = ""


@dataclass(frozen=True)
class Notes:
    sentences: tuple[str, ...]
    title: str = ""


PagePart = Heading | Facts | Causes | Table | Lines | Notes | str


def show(console: Console, parts: Iterable[PagePart]) -> None:
    """Print a page, with an empty line where a paragraph begins."""
    before: PagePart | None = None
    for part in parts:
        if before is not None and _is_apart(part, before):
            console.print()
        _show_part(console, part)
        before = part


def _is_apart(part: PagePart, before: PagePart) -> bool:
    match part:
        case str():
            return not isinstance(before, Heading | Table | Notes)
        case Table():
            return isinstance(before, Facts | Lines | Table)
        case Facts() | Heading() | Notes():
            return not isinstance(before, Heading | Notes)
    return False


def _show_part(console: Console, part: PagePart) -> None:
    match part:
        case Heading(words):
            console.print(Text(words, style=BOLD))
        case Facts(rows):
            console.print(facts(rows))
        case Causes():
            console.print(facts(_number_causes(part)))
        case Table():
            draw(console, part)
        case Lines(sentences, style):
            for sentence in sentences:
                console.print(sentence, style=style)
        case Notes(sentences, title):
            if title and sentences:
                console.print(title, style=BOLD)
            show_notes(console, sentences)
        case _:
            console.print(part)


_MARKDOWN: Final = "markdown"
_FOR_PEOPLE: Final = ("table", "wide")
Pages = Callable[[int], Iterable[Iterable[PagePart]]]
"""The pages of an answer for a width, which is `IN_A_FILE` where nothing has to be cut."""


def print_answer(
    output: StrEnum,
    pages: Pages,
    document: Callable[[], dict[str, Any]],
    notes: Sequence[str],
    title: str = "",
    *,
    partial: bool = False,
) -> None:
    """Print pages with their notes: for people, as markdown, or as a document for a tool.

    The notes of a partial answer come first: then the whole has to be known before.
    """

    def with_notes(width: int) -> Iterator[Iterable[PagePart]]:
        first, *others = pages(width)
        yield chain(first_notes(notes, all_first=partial), first)
        yield from others
        if not partial:
            yield last_notes(notes)

    print_pages(output, with_notes, document, notes, title)


def print_pages(
    output: StrEnum, pages: Pages, document: Callable[[], dict[str, Any]], notes: Sequence[str], title: str = ""
) -> None:
    """Print pages that have their notes; a tool gets the document, and the notes on stderr. Markdown has the title."""
    if output == _MARKDOWN:
        typer.echo(write_markdown(pages, title))
    elif output in _FOR_PEOPLE:
        with printing() as console:
            for number, parts in enumerate(pages(console.width)):
                if number:
                    console.print()
                show(console, parts)
    else:
        print_document(document(), output, notes)


RESTS_ON: Final = "What this rests on"


def first_notes(notes: Sequence[str], *, all_first: bool) -> Iterator[Notes]:
    """Yield the warnings among the notes, or all: a reader has to know them first."""
    first = tuple(note for note in notes if all_first or is_odd(note))
    if first:
        yield Notes(first)


def last_notes(notes: Sequence[str]) -> Iterator[Notes]:
    yield Notes(tuple(note for note in notes if not is_odd(note)), RESTS_ON)


def is_odd(note: str) -> bool:
    return note.startswith(WARNING)


def show_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        console.print(note, style="yellow" if is_odd(note) else "italic")
    if notes:
        console.print()


def write_markdown(pages: Pages, title: str = "") -> str:
    heads = (f"# {text(title)}",) if title else ()
    written = (_write_part(part) for parts in pages(IN_A_FILE) for part in parts)
    return "\n\n".join(filter(None, (*heads, *written)))


def _write_part(part: PagePart) -> str:
    match part:
        case Heading(words, level):
            return f"{'#' * level} {code(words) if part.code else text(words)}"
        case Facts(rows):
            return "\n".join(f"- {word}: {text(str(value))}" for word, value in rows)
        case Causes(found):
            return "\n".join(line for word, own in by_reason(found).items() for line in _cause(word, own))
        case Table():
            return as_markdown(part)
        case Lines() | Notes():
            return _write_sentences(part)
    return text(part)


def _write_sentences(part: Lines | Notes) -> str:
    if isinstance(part, Notes):
        return "\n\n".join(f"> {text(note)}" for note in part.sentences)
    lines = text(" ".join(filter(None, part.sentences)))
    return f"**{lines}**" if part.style == BOLD else lines


def _cause(word: str, own: Sequence[Blocker]) -> Iterator[str]:
    yield f"1. {code(word)}"
    yield from (f"   - {text(line)}" for line in describe_reason(own))


def _number_causes(causes: Causes) -> Iterator[Fact]:
    for number, (reason, own) in enumerate(by_reason(causes.found).items(), start=1):
        yield f"{number}.", Text(reason, style=BOLD)
        yield from (("", line) for line in describe_reason(own))


_MOST: Final = 6
"""Pods of one reason that are named; all of them stand in the list of pods."""


def by_reason(found: Iterable[Blocker]) -> dict[str, list[Blocker]]:
    """Return what was found by its reason; `blocked_by_pod` is left out if pods have reasons of their own."""
    rows = group((blocker.reason.value, blocker) for blocker in found)
    if len(rows) > 1:
        rows.pop(Unremovable.BLOCKED_BY_POD.value, None)
    return rows


def describe_reason(own: Sequence[Blocker]) -> Iterator[str]:
    first, rest = own[0].reason, len(own) - _MOST
    yield from filter(
        None, (" ".join(part for part in (blocker.object, blocker.detail) if part) for blocker in own[:_MOST])
    )
    if rest > 0:
        yield f"and {rest:,} more"
    yield first.sentence
    if first.message_id:
        yield f"The cluster autoscaler calls it {first.message_id}."
    yield first.remedy


_YAML: Final = "yaml"
_WIDE: Final = 1000
"""Wider than any value: a line is broken nowhere, so that grep finds it."""


def print_document(document: dict[str, Any], output: StrEnum, notes: Sequence[str] = ()) -> None:
    """Print a document on stdout as the output asks, and its notes for people on stderr."""
    print_notes(notes)
    if output != _YAML:
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from yaml import safe_dump

    typer.echo(safe_dump(document, sort_keys=False, allow_unicode=True, width=_WIDE).rstrip())


def print_notes(notes: Iterable[str]) -> None:
    """Print each note for people once, on stderr: stdout is for a tool."""
    for note in dict.fromkeys(notes):
        typer.echo(visible_lines(note), err=True)
