"""The command lines of the pages, word by word, and what each program is known to take."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from functions.cli.main import app
from tests.pages import blocks, pages

SEPARATORS: Final = {"|", "&&", "||", ";"}
SHELL: Final = {"while", "done", "do", "cd", "eval", "mkdir", "mv", "sort", "test", "true", "read", "uniq"}
FOREIGN: Final = {"gcloud", "kubectl", "terraform", "git", "pipx", "sed", "uv"}


@dataclass(frozen=True)
class Line:
    page: Path
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2]


def lines() -> list[Line]:
    """Return every command in the sh blocks, and every one behind a `$` in the console blocks."""
    return [Line(page, words) for page in pages() for words in _commands(page.read_text(encoding="utf-8"))]


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    typed = (line for block in blocks(text, "sh") for line in block.splitlines())
    shown = (line[2:] for block in blocks(text, "console") for line in block.splitlines() if line.startswith("$ "))
    for line in (*typed, *shown):
        words: list[str] = []
        for word in (*shlex.split(line, comments=True), ";"):
            if word not in SEPARATORS:
                words.append(word)
            elif words:
                yield tuple(words)
                words = []


def unknown_to_ebb(words: tuple[str, ...]) -> list[str]:
    """Return the words of an `ebb` command that the CLI does not know: commands and options."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while rest and rest[0] in _commands_of(command):
        command, rest = _commands_of(command)[rest[0]], rest[1:]
    known = {option for param in command.params for option in param.opts} | {"--help"}
    asked = rest if _commands_of(command) else [word.partition("=")[0] for word in rest if word.startswith("-")]
    return [word for word in asked if word not in known]


def _commands_of(command: Any) -> Mapping[str, Any]:
    return getattr(command, "commands", {})
