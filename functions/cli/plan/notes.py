"""What a plan rests on, below what it says, and what is odd above it. Must not word a note: `inputs` does."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from functions.cli.inputs import WARNING

RESTS_ON: Final = "What this rests on"


def show_odd(console: Console, notes: Sequence[str]) -> None:
    """Print the warnings among the notes: whoever reads on has to know them."""
    odd = tuple(filter(_is_odd, notes))
    if odd:
        show_notes(console, odd)


def show_rests_on(console: Console, notes: Sequence[str]) -> None:
    """Print all other notes under their heading."""
    rests_on = tuple(note for note in notes if not _is_odd(note))
    if rests_on:
        console.print(RESTS_ON, style="bold")
        show_notes(console, rests_on)


def _is_odd(note: str) -> bool:
    return note.startswith(WARNING)


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print the notes and an empty line."""
    for note in notes:
        console.print(note, style="yellow" if _is_odd(note) else "italic")
    console.print()
