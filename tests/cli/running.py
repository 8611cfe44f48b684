"""The command as a person runs it: in this process, or in one of its own for what only a process can show."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

from rich.console import Console
from typer.testing import CliRunner, Result

from functions.cli.main import app

ROOT: Final = Path(__file__).resolve().parents[2]
SECONDS: Final = 300
"""Ample for a start of the command on a busy machine."""


def ebb(*args: str | Path, stdin: str | bytes | None = None, **environment: str) -> Result:
    """Run the command in this process, where it is and with its environment, and what is added to that."""
    return CliRunner().invoke(app, [str(word) for word in args], input=stdin, env=environment)


def read_json(*args: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ebb(*args, "-o", "json").stdout)
    return found


def on_terminal(show: Callable[[Console], object], width: int = 80, *, terminal: bool = True) -> list[str]:
    """Return the lines that are shown on a terminal of that width, or in a file."""
    pages = StringIO()
    show(Console(file=pages, width=width, force_terminal=terminal, color_system=None))
    return [line.rstrip() for line in pages.getvalue().splitlines()]


def run_ebb(*args: str | Path, stdin: str = "", cwd: str | Path = ROOT, **environment: str) -> CompletedProcess[str]:
    """Run the command in this process, without an installation of the environment; what it raises is raised here."""
    words = [str(argument) for argument in args]
    given = {**dict.fromkeys(_installation()), **environment}
    with chdir(cwd):
        shown = CliRunner().invoke(app, words, input=stdin, env=given, catch_exceptions=False)
    return CompletedProcess(words, shown.exit_code, shown.stdout, shown.stderr)


def start_ebb(*args: str | Path, cwd: str | Path = ROOT, **environment: str) -> CompletedProcess[str]:
    """Run the command as a process of its own: how it starts, writes to a pipe, and ends."""
    kept = {name: value for name, value in os.environ.items() if name not in _installation()}
    given = {**kept, "PYTHONPATH": str(ROOT), **environment}
    return run_program(sys.executable, "-m", "functions.cli.main", *args, cwd=cwd, env=given)


def run_program(*words: str | Path, seconds: float = SECONDS, **given: Any) -> CompletedProcess[str]:
    """Run any program to its end, whatever that is; its output is text."""
    command = [str(word) for word in words]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, **given)


def _installation() -> list[str]:
    return [name for name in os.environ if name.startswith("EBB_")]
