"""What `--help` prints of each command in a terminal of 80 columns."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from functions.cli.main import app

COLUMNS = 80
TEXT = COLUMNS - 2
"""A blank stands on either side."""


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every group and command with what a person types for it."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *path, name)


ALL = [pytest.param(path, command, id=" ".join(("ebb", *path))) for path, command in commands(get_command(app))]


def shown(*path: str) -> str:
    return CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": str(COLUMNS)}).output


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


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        pytest.param("drain", ("EBB_CLUSTER", "EBB_TOPIC", "EBB_STATE", "EBB_FIRESTORE_DATABASE"), id="drain"),
        pytest.param("release", ("EBB_CLUSTER", "EBB_TOPIC", "EBB_STATE", "EBB_FIRESTORE_DATABASE"), id="release"),
        pytest.param("pause", ("EBB_CLUSTER", "EBB_STATE", "EBB_FIRESTORE_DATABASE"), id="pause"),
        pytest.param("resume", ("EBB_CLUSTER", "EBB_STATE", "EBB_FIRESTORE_DATABASE"), id="resume"),
        pytest.param("status", ("EBB_CLUSTER", "EBB_STATE", "EBB_FIRESTORE_DATABASE"), id="status"),
    ],
)
def test_who_acts_on_a_running_ebb_reads_which_variables_and_where_they_come_from(
    path: str, needed: tuple[str, ...]
) -> None:
    text = shown(path)
    assert [name for name in needed if name not in text] == []
    assert 'eval "$(terraform output -raw cli)"' in text


@pytest.mark.parametrize(("path", "command"), ALL)
def test_examples_stand_under_their_word_with_the_same_indentation(path: tuple[str, ...], command: Any) -> None:
    del command
    _, _, below = shown(*path).partition("Examples:")
    lines = below.split("╭")[0].splitlines()[1:]
    assert {len(line) - len(line.lstrip()) for line in lines if line.strip()} == {3}
