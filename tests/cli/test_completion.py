"""The shell completes commands, options and their values."""

import os
import subprocess
import sys

import pytest

from tests.cli.running import ROOT

PROGRAM = "import sys; sys.argv = ['ebb']; from functions.cli.main import main; main()"


def completing(shell: str, **more: str) -> str:
    environment = {**os.environ, "_EBB_COMPLETE": shell, **more}
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in shown.stderr
    return shown.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str) -> None:
    assert "_EBB_COMPLETE=complete_" in completing(f"source_{shell}")


@pytest.mark.parametrize(
    ("expected", "typed"),
    [
        pytest.param("policy", "ebb po", id="a command"),
        pytest.param("windows", "ebb policy w", id="a command of a group"),
        pytest.param("--anonymize", "ebb dump --an", id="an option"),
        pytest.param("markdown", "ebb plan --output m", id="the value of an option"),
        pytest.param("saved", "ebb fleet --sort s", id="what a fleet is sorted by"),
        pytest.param("markdown", "ebb policy diff --output m", id="how a change of policy is printed"),
    ],
)
def test_what_is_begun_is_completed(expected: str, typed: str) -> None:
    found = completing("complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1))
    assert expected in found.split()
