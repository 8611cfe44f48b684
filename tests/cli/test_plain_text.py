"""No command breaks off where the terminal or the pipe cannot write a character."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from functions.cli.main import app
from functions.cli.output.visible import replace_unwritable
from tests.cli import dumps
from tests.cli.running import start_ebb

POLICY = "nodePools: {default-pool: {enabled: true, disruption: {budgets: [{nodes: 1, reasons: []}]}}}\n"
COMMANDS = (
    "plan --dump night.json --potential",
    f"explain {dumps.name_of(3)} --dump night.json",
    "policy calendar policy.yaml",
    "policy check umläut-…-policy.yaml",
    "plan --help",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("work")
    dumps.write(found / "night.json", 12)
    (found / "policy.yaml").write_text(POLICY)
    (found / "umläut-…-policy.yaml").write_text(POLICY)
    return found


def printed(command: str, folder: Path, encoding: str) -> str:
    """Return what the command writes where nothing but this encoding is read."""
    into = io.TextIOWrapper(io.BytesIO(), encoding)
    with chdir(folder), redirect_stdout(into), redirect_stderr(io.StringIO()):
        replace_unwritable()
        with pytest.raises(SystemExit, match=r"^0$"):
            app(command.split())
        into.seek(0)
        return into.read()


@cache
def whole(command: str, folder: Path) -> str:
    return printed(command, folder, "utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_answer_comes_whole_in_every_encoding(command: str, encoding: str, folder: Path) -> None:
    lines = printed(command, folder, encoding).splitlines()
    assert [*map(len, lines)] == [*map(len, whole(command, folder).splitlines())]


def test_a_process_writes_every_answer_whole(folder: Path) -> None:
    shown = start_ebb(*COMMANDS[0].split(), cwd=folder, PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == whole(COMMANDS[0], folder).encode("ascii", "replace").decode()
