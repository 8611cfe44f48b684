"""The command `ebb`. Command modules import what they need when called: help and completion import nothing else."""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

import functions
from functions.cli.errors import Commands, EbbGroup
from functions.cli.input.options import ClusterProfile, use_profile
from functions.cli.output.visible import replace_unwritable
from shared import VERSION
from shared.errors import BadInput

_ROOT: Final = Path(functions.__file__ or "").resolve().parent.parent

_LOOK: Final = "Look at a cluster or a dump"
_DECIDE: Final = "Decide on a policy"
_OPERATE: Final = "Operate an installation"
_COMMANDS: Final = {
    "plan": ("questions", _LOOK),
    "explain": ("questions", _LOOK),
    "why-not": ("questions", _LOOK),
    "shapes": ("questions", _LOOK),
    "report": ("questions", _LOOK),
    "fleet": ("questions", _LOOK),
    "dump": ("questions", _LOOK),
    "demo": ("main", _LOOK),
    "simulate": ("questions", _DECIDE),
    "policy": ("policy.commands", _DECIDE),
    "status": ("drains.commands", _OPERATE),
    "history": ("drains.commands", _OPERATE),
    "drain": ("drains.commands", _OPERATE),
    "release": ("drains.commands", _OPERATE),
    "pause": ("drains.commands", _OPERATE),
    "resume": ("drains.commands", _OPERATE),
    "doctor": ("main", _OPERATE),
}
"""Each command with its module and its group in the help."""
GONE: Final[Mapping[tuple[str, ...], str]] = {
    ("version",): "--version shows it, ebb doctor also that of the installation",
    ("top",): "ebb plan shows nodes and money, ebb status the drains",
    ("policy", "windows"): "ebb policy calendar shows the same",
}
"""Commands of the last version that this one lacks, with what to use instead. The next version forgets them."""


class _WhenAsked(Mapping[str, Any]):
    """The commands; each is imported and made when it is asked for."""

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)

    def __getitem__(self, name: str) -> Any:
        return _make(name, *_COMMANDS[name])


@cache
def _make(name: str, module: str, panel: str) -> Any:
    found = getattr(import_module(f"functions.cli.{module}"), name.replace("-", "_"))
    if not isinstance(found, Commands):
        alone = Commands()
        alone.command(name, rich_help_panel=panel)(found)
        return get_command(alone)
    made: Any = get_command(found)
    made.name, made.rich_help_panel = name, panel
    return made


class _Root(EbbGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = _WhenAsked()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for words, instead in GONE.items():
            if tuple(args[: len(words)]) == words:
                raise BadInput(f"ebb {' '.join(words)} is gone; {instead}.")
        return super().parse_args(ctx, args)


app = Commands(name="ebb", cls=_Root, add_completion=True, context_settings={"help_option_names": ["-h", "--help"]})


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ebb {VERSION}")
        raise typer.Exit


@app.callback()
def ebb(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Show which nodes of a GKE cluster could be removed, what that saves, and why the others stay.

    Exit codes: 0 done, 1 something is wrong with the policy or the cluster,
    2 wrong usage.

    Examples:
      ebb dump --out cluster.json
      ebb plan cluster.json
      ebb policy init cluster.json > policy.yaml
      ebb plan cluster.json --policy policy.yaml
    """


def demo(
    *,
    logs: Annotated[
        Path | None, typer.Option("--logs", metavar="FOLDER", help="Keep the output of all processes in this folder.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave everything running until Ctrl-C, to try status, drain and pause.")
    ] = False,
) -> None:
    """Watch the whole loop on a simulated GKE on this machine, in about a minute. Changes nothing else.

    Exit code 1 if a promise was broken, or a process could not be started.

    Examples:
      ebb demo
      ebb demo --logs demo-logs
    """
    for needed in ("flask", "pydantic"):
        if find_spec(needed) is None:
            raise ModuleNotFoundError(name=needed)
    kept = [*([] if logs is None else ["--logs", str(logs)]), *(["--keep"] if keep else [])]
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    # The folder that a person stands in is kept off the path (`-P`): it may well have an `infra` of its own.
    command = [sys.executable, "-P", "-m", "infra.local.demo", *kept]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": path})  # noqa: S606 - our own module


def doctor(*, cluster: ClusterProfile = None) -> None:
    """Validate an installation after an apply: identity, APIs, rights, state, topics, policy and the last pass.

    Changes nothing. Exit code 1 if something keeps Ebb from working.

    Examples:
      ebb doctor --cluster prod
    """
    from functions.cli.doctor.checks import show
    from functions.cli.doctor.installation import installation_parts

    use_profile(cluster)
    show(installation_parts(os.environ))


def main() -> None:
    replace_unwritable()
    app(prog_name="ebb")


if __name__ == "__main__":
    main()
