"""The command `ebb doctor`: a line for each check, and the exit code."""

import os
from typing import TYPE_CHECKING

import typer

from functions.cli.errors import WRONG
from functions.cli.input.options import ClusterContext, ClusterProfile
from functions.cli.input.profiles import use_profile

if TYPE_CHECKING:
    from functions.cli.doctor.installation import InstallationParts


def doctor(*, cluster: ClusterProfile = None, context: ClusterContext = None) -> None:
    """Validate an installation after an apply: identity, APIs, rights, state, topics, policy and the last pass.

    Changes nothing. Needs the functions' variables, which Terraform's output
    cli names: eval "$(terraform output -raw cli)". Exit code 1 if something
    keeps Ebb from working.

    Examples:
      ebb doctor --cluster prod
    """
    from functions.cli.doctor.installation import parts_of

    use_profile(cluster, context)
    show(parts_of(os.environ))


def show(parts: "InstallationParts") -> None:
    """Print each check as it is made; exit with 1 if one of them keeps Ebb from working."""
    from functions.cli.doctor.checks import examine
    from functions.cli.doctor.installation import Grade

    marks = {Grade.OK: "ok  ", Grade.WARN: "warn", Grade.FAIL: "FAIL", Grade.SKIP: "skip"}
    grades = []
    for found in examine(parts):
        typer.echo(f"{marks[found.grade]}  {found.check}: {found.sentence}")
        if found.remedy:
            typer.echo(f"      {found.remedy}")
        grades.append(found.grade)
    checked, failed = len(grades) - grades.count(Grade.SKIP), grades.count(Grade.FAIL)
    typer.echo(f"\n{checked} checks: {failed} failed, {grades.count(Grade.WARN)} warnings.")
    if failed:
        raise typer.Exit(WRONG)
