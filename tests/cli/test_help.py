"""What `--help` prints of each command in a terminal of 80 columns, with examples that are understood as they stand."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from functions.cli.main import app
from tests.cli.running import ebb

COLUMNS = 80
TEXT = COLUMNS - 2
"""A blank stands on either side."""


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *path, name)


ALL = [pytest.param(path, command, id=" ".join(("ebb", *path))) for path, command in commands(get_command(app))]


def shown(*path: str) -> str:
    return ebb(*path, "--help", COLUMNS=str(COLUMNS)).output


@pytest.mark.parametrize(("path", "command"), ALL)
def test_no_flag_shows_its_type_and_nothing_is_cut_off(path: tuple[str, ...], command: Any) -> None:
    del command
    text = shown(*path)
    assert "--help" in text
    assert "<bool>" not in text
    assert "list[" not in text
    assert "range>" not in text
    assert [line for line in text.splitlines() if line.rstrip("│ ").endswith("…")] == []


@pytest.mark.parametrize(("path", "command"), ALL)
def test_what_keeps_its_lines_fits_into_them(path: tuple[str, ...], command: Any) -> None:
    """The first paragraph is wrapped as the terminal asks, the others keep the lines that they were written in."""
    del path
    _, *others = (command.help or "").split("\n\n")
    assert [line for text in others for line in text.splitlines() if len(line.strip()) > TEXT] == []


@pytest.mark.parametrize("path", ["drain", "release", "pause", "resume", "status", "history"])
def test_who_acts_on_a_running_ebb_reads_which_variables_and_where_they_come_from(path: str) -> None:
    text = " ".join(shown(path).replace("│", "").split())
    assert [
        name for name in ("EBB_CLUSTER", "EBB_STATE", "EBB_FIRESTORE_DATABASE", "EBB_TOPIC") if name not in text
    ] == []
    assert 'eval "$(terraform output -raw cli)"' in text


@pytest.mark.parametrize(("path", "command"), ALL)
def test_examples_stand_under_their_word_with_the_same_indentation(path: tuple[str, ...], command: Any) -> None:
    del command
    _, _, below = shown(*path).partition("Examples:")
    lines = below.split("╭")[0].splitlines()[1:]
    assert {len(line) - len(line.lstrip()) for line in lines if line.strip()} == {3}


def examples(command: Any) -> list[str]:
    _, _, below = (command.help or "").partition("Examples:")
    return [line.strip() for line in below.splitlines() if line.strip()]


def words_of_ebb(example: str) -> list[str]:
    """Return the part of a pipeline that is ours, without where its output goes."""
    ours = next(part for part in example.split(" | ") if part.startswith("ebb "))
    return shlex.split(ours.partition(" > ")[0])[1:]


def leaf(typed: list[str]) -> tuple[Any, list[str]]:
    command: Any = get_command(app)
    while typed and typed[0] in getattr(command, "commands", {}):
        command, typed = command.commands[typed[0]], typed[1:]
    return command, typed


@pytest.mark.parametrize(("path", "command"), ALL)
def test_every_help_has_examples_of_its_own_command(path: tuple[str, ...], command: Any) -> None:
    shown = examples(command)
    assert shown
    assert [example for example in shown if " ".join(("ebb", *path)) not in example] == []
    assert [example for example in shown if len(example) + 4 > COLUMNS] == []


@pytest.mark.parametrize(("path", "command"), ALL)
def test_every_example_is_understood(path: tuple[str, ...], command: Any) -> None:
    del path
    for example in examples(command):
        meant, typed = leaf(words_of_ebb(example))
        assert not hasattr(meant, "commands"), example
        meant.make_context("ebb", typed, resilient_parsing=False)
