"""The commands under `ebb policy`: what a person typed, turned into one call each.

Modules are imported when their command is called, so that help and refusals come at once.
"""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from functions.cli.errors import Commands, PlainGroup
from functions.cli.input.inputs import Sources
from functions.cli.input.options import At, Context, DiffFormat, Kubeconfig, OneDump, instant
from functions.cli.policy.import_commands import imports
from shared.core.reasons import DrainReason

_POLICIES = """Begin, check, draw, compare and convert policies.

Nothing of a running Ebb is changed: Terraform writes its policy.

Examples:
  ebb policy init --dump cluster.json > policy.yaml
  ebb policy check policy.yaml
  ebb policy windows policy.yaml
"""
policies = Commands(cls=PlainGroup, no_args_is_help=True, help=_POLICIES)
policies.add_typer(imports, name="import")
PolicyPaths = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Policies, YAML or JSON; - is stdin.", show_default=False)
]
PolicyPath = Annotated[Path, typer.Argument(metavar="FILE", help="The policy, YAML or JSON; - is stdin.")]


@policies.command()
def check(files: PolicyPaths, *, dump: OneDump = None, kubeconfig: Kubeconfig = None, context: Context = None) -> None:
    """Name every fault of policy files, each with file and line, or print the settings that hold for each pool.

    With a dump or a kubeconfig it also warns about pools that the cluster does
    not have, and says how many nodes have expired. Of several files it says of
    each whether it is valid. Exit code 1 if one is not.

    Examples:
      ebb policy check policy.yaml
      ebb policy check policies/*.yaml
      ebb policy check policy.yaml --dump cluster.json
      terraform output -raw policy | ebb policy check -
    """
    from functions.cli.policy.check import print_check

    print_check(files, Sources(tuple(dump or ()), kubeconfig, context))


@policies.command("init")
def first(*, dump: OneDump = None, kubeconfig: Kubeconfig = None, context: Context = None) -> None:
    """Print a first policy for the pools of a cluster or a dump: a dry run, commented, one night long enough.

    Each pool has how many nodes it has, how full they are and how many could
    go; the nights are those where the nodes stand.

    Examples:
      ebb policy init --dump cluster.json > policy.yaml
      ebb policy init --context gke_shop_europe-west4_prod > policy.yaml
    """
    from functions.cli.policy.init import print_starter

    print_starter(Sources(tuple(dump or ()), kubeconfig, context))


@policies.command()
def windows(
    file: PolicyPath,
    *,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=31, help="How many days to draw.")] = 7,
    at: Annotated[
        datetime | None,
        typer.Option(
            "--at", metavar="TIME", parser=instant, help="Begin with this day, for example 2026-03-27T00:00Z."
        ),
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option("--nodes", metavar="POOL=N,…", help="Sizes of pools, to see numbers instead of percentages."),
    ] = None,
    pool: Annotated[str | None, typer.Option("--pool", metavar="NAME", help="Draw this pool only.")] = None,
    time_zone: Annotated[
        str | None,
        typer.Option("--time-zone", metavar="NAME", help="Whose hours to draw; else those of the schedules, or UTC."),
    ] = None,
    reason: Annotated[
        DrainReason,
        typer.Option(
            "--reason",
            metavar="REASON",
            help=f"Why a node would go, {', '.join(DrainReason)}: some budgets bind one reason only.",
        ),
    ] = DrainReason.UNDERUTILIZED,
) -> None:
    """Draw how many nodes of each pool may go in each hour, and which budget, window, freeze or rate decides.

    Changes nothing, and reads no cluster.

    Examples:
      ebb policy windows policy.yaml
      ebb policy windows policy.yaml --days 2 --at 2026-03-27T00:00Z
      ebb policy windows policy.yaml --pool web-pool --nodes web-pool=40
    """
    from functions.cli.policy.windows import WindowsOptions, print_windows

    print_windows(file, WindowsOptions(days, at, tuple(nodes or ()), pool, time_zone, reason))


@policies.command()
def diff(  # noqa: PLR0913 - each is something that a person may type
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The policy in force, YAML or JSON.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The policy that is to take its place.")],
    *,
    dump: OneDump = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    at: At = None,
    assume_marked: Annotated[
        bool, typer.Option("--assume-marked", help="Count every node that could go as marked long ago.")
    ] = False,
    output: Annotated[
        DiffFormat,
        typer.Option(
            "--output", "-o", help="A table, or markdown for a pull request: also what each comes to at rest."
        ),
    ] = DiffFormat.TABLE,
) -> None:
    """Say which settings change from one policy to another, and which nodes' verdicts in a cluster or a dump.

    Where no cluster is named and there is no kubeconfig, only the settings are
    compared. Markdown also has the ladder before and after, and new reasons.

    Examples:
      ebb policy diff old.yaml new.yaml
      ebb policy diff old.yaml new.yaml --dump cluster.json --assume-marked
      ebb policy diff old.yaml new.yaml --dump cluster.json -o markdown
    """
    from functions.cli.policy.comparing import print_diff

    sources = Sources(tuple(dump or ()), kubeconfig, context, at=at)
    print_diff(old, new, sources, assume_marked=assume_marked, output=output)
