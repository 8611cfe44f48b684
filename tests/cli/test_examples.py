"""Every help has examples, and each of them is understood as it stands."""

import shlex
from typing import Any

import pytest
from typer.main import get_command

from functions.cli.errors import spread_dumps
from functions.cli.main import app
from tests.cli.test_help import ALL, COLUMNS

ROOT = get_command(app)


def examples(command: Any) -> list[str]:
    """Return the lines below `Examples:`."""
    _, _, below = (command.help or "").partition("Examples:")
    return [line.strip() for line in below.splitlines() if line.strip()]


def words_of_ebb(example: str) -> list[str]:
    """Return the part of a pipeline that is ours, without where its output goes."""
    ours = next(part for part in example.split(" | ") if part.startswith("ebb "))
    return shlex.split(ours.partition(" > ")[0])[1:]


def leaf(typed: list[str]) -> tuple[Any, list[str]]:
    """Return the command that is typed, and what stands behind it."""
    command: Any = ROOT
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
        meant.make_context("ebb", spread_dumps(typed), resilient_parsing=False)
