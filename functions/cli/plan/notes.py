"""What a plan rests on, said before anything else. Must not word a note: `inputs` does."""

from collections.abc import Sequence

from rich.console import Console

from functions.cli.inputs import WARNING


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print the notes and an empty line."""
    for note in notes:
        console.print(note, style="yellow" if note.startswith(WARNING) else "italic")
    console.print()
