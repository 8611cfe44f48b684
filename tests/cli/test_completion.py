"""The shell completes commands, options and their values; a start imports what it needs alone."""

import os
import sys
from functools import cache

import pytest

from tests.cli.running import ROOT, run_program
from tests.depth import cases

PROGRAM = "import sys; sys.argv = ['ebb']; from functions.cli.main import main; main()"


def completing(shell: str, **more: str) -> str:
    environment = {**os.environ, "_EBB_COMPLETE": shell, **more}
    shown = run_program(sys.executable, "-c", PROGRAM, cwd=ROOT, env=environment)
    assert "Traceback" not in shown.stderr
    return shown.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str) -> None:
    assert "_EBB_COMPLETE=complete_" in completing(f"source_{shell}")


@cases(
    "expected, typed",
    ("a command", "policy", "ebb po"),
    ("a command of a group", "calendar", "ebb policy ca"),
    ("an option", "--anonymize", "ebb dump --an"),
    ("the value of an option", "markdown", "ebb plan --output m"),
    ("what a fleet is sorted by", "saved", "ebb fleet --sort s"),
    ("how a change of policy is printed", "markdown", "ebb policy diff --output m"),
)
def test_what_is_begun_is_completed(expected: str, typed: str) -> None:
    found = completing("complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1))
    assert expected in found.split()


IMPORTED = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "


@cache
def started_with() -> frozenset[str]:
    """What the interpreter itself imports: files of the environment put packages of one namespace together."""
    return frozenset(run_program(sys.executable, "-c", IMPORTED).stderr.split())


@cases(
    "typed, environment",
    ("the version", "--version", {}),
    ("help", "--help", {}),
    ("help of a command", "plan --help", {}),
    ("completion", "", {"_EBB_COMPLETE": "complete_bash", "COMP_WORDS": "ebb pl", "COMP_CWORD": "1"}),
)
def test_a_start_imports_the_command_line_alone(typed: str, environment: dict[str, str]) -> None:
    program = f"{IMPORTED}sys.argv = ['ebb', *{typed.split()}]; from functions.cli.main import main; main()"
    shown = run_program(sys.executable, "-c", program, cwd=ROOT, env={**os.environ, **environment})
    loaded = set(shown.stderr.split()) - started_with()
    ours = {name for name in loaded if name.startswith(("functions.", "shared."))}

    assert {"typer", "functions.cli.main"} <= loaded
    assert loaded & {"numpy", "msgspec", "yaml", "urllib3", "google", "requests"} == set()
    assert {name for name in ours if not name.startswith(("functions.", "shared.core.reasons"))} <= {
        "shared.core",
        "shared.errors",
    }
