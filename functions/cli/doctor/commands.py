"""The command `ebb doctor`: a line for each finding, and the exit code."""

import os

import typer

from functions.cli.doctor.checks import examine
from functions.cli.doctor.installation import CheckResult, Grade, InstallationParts, parts_of
from functions.cli.errors import WRONG

_MARKS = {Grade.OK: "ok  ", Grade.WARN: "warn", Grade.FAIL: "FAIL", Grade.SKIP: "skip"}


def examine_installation() -> None:
    """Check the installation that the environment names, and print what was found.

    Raises:
        BadSettings: a variable is missing or wrong.
    """
    show(parts_of(os.environ))


def show(parts: InstallationParts) -> None:
    """Print each finding as it is made; exit with 1 if one of them keeps Ebb from working."""
    grades = [_print(each) for each in examine(parts)]
    warned, failed = grades.count(Grade.WARN), grades.count(Grade.FAIL)
    typer.echo(f"\n{len(grades) - grades.count(Grade.SKIP)} findings: {failed} to fix, {warned} to look at.")
    if failed:
        raise typer.Exit(WRONG)


def _print(finding: CheckResult) -> Grade:
    typer.echo(f"{_MARKS[finding.grade]}  {finding.check}: {finding.sentence}")
    if finding.remedy:
        typer.echo(f"      {finding.remedy}")
    return finding.grade
