"""What answers are made of: a page is a row of parts, drawn on a terminal and as markdown from the same values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import typer
from rich.console import Console
from rich.text import Text

from functions.cli.output.documents import code, print_document, text
from functions.cli.output.format import WARNING, group
from functions.cli.output.tables import BOLD, Table, as_markdown, draw
from functions.cli.output.terminal import IN_A_FILE, facts, printing
from shared.core.reasons import Blocker, Unremovable

Fact = tuple[str, str | Text]


@dataclass(frozen=True)
class Title:
    name: str


@dataclass(frozen=True)
class Heading:
    words: str
    level: int = 2


@dataclass(frozen=True)
class Facts:
    rows: tuple[Fact, ...]


@dataclass(frozen=True)
class Causes:
    found: tuple[Blocker, ...]


PagePart = Title | Heading | Facts | Causes | Table | str


def show(console: Console, parts: Iterable[PagePart]) -> None:
    """Print a page; a sentence begins a paragraph unless a table or the title stands before it."""
    before: PagePart = Table(())
    for part in parts:
        if isinstance(part, str) and not isinstance(before, Title | Heading | Table):
            console.print()
        _show_part(console, part)
        before = part


def _show_part(console: Console, part: PagePart) -> None:
    match part:
        case Title(words) | Heading(words):
            console.print(Text(words, style=BOLD))
        case Facts(rows):
            console.print(facts(rows))
        case Causes():
            console.print(facts(_number_causes(part)))
        case Table():
            draw(console, part)
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
    """Print pages with their notes: for people, as markdown, or as a document for a tool."""
    if output == _MARKDOWN:
        typer.echo(write_markdown(pages, notes, title))
    elif output in _FOR_PEOPLE:
        with printing() as console:
            _show_answer(console, pages, notes, partial=partial)
    else:
        print_document(document(), output, notes)


def _show_answer(console: Console, pages: Pages, notes: Sequence[str], *, partial: bool) -> None:
    """Print the notes of a partial answer first: then the whole has to be known before."""
    (show_notes if partial else show_odd)(console, notes)
    for number, parts in enumerate(pages(console.width)):
        if number:
            console.print()
        show(console, parts)
    if not partial:
        console.print()
        show_rests_on(console, notes)


RESTS_ON: Final = "What this rests on"


def show_odd(console: Console, notes: Sequence[str]) -> None:
    """Print the warnings among the notes: a reader has to know them first."""
    show_notes(console, tuple(filter(is_odd, notes)))


def show_rests_on(console: Console, notes: Sequence[str]) -> None:
    rests_on = tuple(note for note in notes if not is_odd(note))
    if rests_on:
        console.print(RESTS_ON, style="bold")
        show_notes(console, rests_on)


def is_odd(note: str) -> bool:
    return note.startswith(WARNING)


def show_notes(console: Console, notes: Sequence[str]) -> None:
    for note in notes:
        console.print(note, style="yellow" if is_odd(note) else "italic")
    if notes:
        console.print()


def write_markdown(pages: Pages, notes: Sequence[str], title: str = "") -> str:
    heads = (f"# {text(title)}",) if title else ()
    bodies = ("\n\n".join(map(_write_part, parts)) for parts in pages(IN_A_FILE))
    return "\n\n".join((*heads, *bodies, *(f"> {text(note)}" for note in notes)))


def _write_part(part: PagePart) -> str:
    match part:
        case Title(name):
            return f"# {code(name)}"
        case Heading(words, level):
            return f"{'#' * level} {text(words)}"
        case Facts(rows):
            return "\n".join(f"- {word}: {text(str(value))}" for word, value in rows)
        case Causes(found):
            return "\n".join(line for word, own in by_reason(found).items() for line in _cause(word, own))
        case Table():
            return as_markdown(part)
    return text(part)


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
