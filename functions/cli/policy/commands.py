"""The commands under `ebb policy`; modules are imported when their command is called, so that help comes at once."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from functions.cli.errors import Commands
from functions.cli.input.options import (
    AnswerAs,
    AnswerFormat,
    AssumeMarked,
    At,
    CommitmentPath,
    Context,
    Files,
    Kubeconfig,
    OneDump,
    Output,
    OutputAs,
    Sources,
    instant,
    option,
)

if TYPE_CHECKING:
    from functions.cli.policy.importing.writing import Imported

_POLICIES = """Create, validate, visualise, compare and import policies.

Changes nothing of a running Ebb: Terraform writes its policy.

Examples:
  ebb policy init --dump cluster.json > policy.yaml
  ebb policy check policy.yaml
  ebb policy calendar policy.yaml
"""
policy = Commands(help=_POLICIES)
PolicyPath = Annotated[Path, typer.Argument(metavar="FILE", help="Policy file, YAML or JSON; - for stdin.")]


@policy.command()
def check(file: PolicyPath, *, dump: OneDump = None, kubeconfig: Kubeconfig = None, context: Context = None) -> None:
    """Validate a policy file: list every fault with its line, or show the settings of each pool.

    With a dump or a kubeconfig it also warns about pools that do not exist,
    and counts expired nodes. Exit code 1 if the policy is not valid.

    Examples:
      ebb policy check policy.yaml
      ebb policy check policy.yaml --dump cluster.json
      terraform output -raw policy | ebb policy check -
    """
    from functions.cli.policy.check import print_check

    print_check(file, Sources(tuple(dump or ()), kubeconfig, context))


@policy.command("init")
def first(files: Files = None, *, dump: OneDump = None, kubeconfig: Kubeconfig = None, context: Context = None) -> None:
    """Write a first policy for the pools of a cluster or a dump: a commented dry run that drains at night.

    Comments show each pool's nodes, utilization and removable nodes. Nights
    are in the time zone of the nodes.

    Examples:
      ebb policy init cluster.json > policy.yaml
      ebb policy init --context gke_shop_europe-west4_prod > policy.yaml
    """
    from functions.cli.policy.init import print_starter

    print_starter(Sources((*(dump or ()), *(files or ())), kubeconfig, context))


@policy.command()
def calendar(
    file: PolicyPath,
    *,
    days: Annotated[int, option("--days", "N", "Days to draw.", min=1, max=31)] = 7,
    at: Annotated[
        datetime | None, option("--at", "TIME", "First day, such as 2026-03-27T00:00Z.", parser=instant)
    ] = None,
    pool: Annotated[str | None, option("--pool", "NAME", "Draw only this pool.")] = None,
    time_zone: Annotated[
        str | None, option("--time-zone", "NAME", "Time zone to draw in; else that of the schedules, or UTC.")
    ] = None,
    output: OutputAs = Output.TABLE,
) -> None:
    """Show when how many nodes may go: by the hour for each pool, and which budget, window, freeze or rate decides.

    Changes nothing, and reads no cluster: shares stay shares. ebb report has the
    same for a cluster, in numbers.

    Examples:
      ebb policy calendar policy.yaml
      ebb policy calendar policy.yaml --days 2 --at 2026-03-27T00:00Z
      ebb policy calendar policy.yaml --pool web-pool -o json
    """
    from functions.cli.policy.calendar import print_calendar

    print_calendar(file, days, at, pool, time_zone, output)


@policy.command()
def diff(  # noqa: PLR0913 - each is something that a person may type
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Current policy, YAML or JSON.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="New policy.")],
    *,
    dump: OneDump = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    at: At = None,
    commitments: CommitmentPath = None,
    assume_marked: AssumeMarked = False,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Compare two policies: real drains that start or stop, changed settings, and changed verdicts of nodes.

    The first line names the drains: how many nodes at most, and from when.
    Without a cluster, dump or kubeconfig, only the settings are compared.
    Markdown is for a pull request.

    Examples:
      ebb policy diff old.yaml new.yaml
      ebb policy diff old.yaml new.yaml --dump cluster.json --assume-marked
      ebb policy diff old.yaml new.yaml --dump cluster.json -o markdown
    """
    from functions.cli.policy.comparing import print_diff

    sources = Sources(tuple(dump or ()), kubeconfig, context, at=at, commitments=commitments)
    print_diff(old, new, sources, assume_marked=assume_marked, output=output)


_IMPORTS = """Convert the configuration of another consolidator into a policy.

Prints the policy. Comments list settings that have no equivalent.

Examples:
  kubectl get nodepools -o yaml | ebb policy import karpenter -
  ebb policy import estafette configmap.yaml > policy.yaml
"""
imports = Commands(help=_IMPORTS)
policy.add_typer(imports, name="import")
Given = Annotated[Path, typer.Argument(metavar="FILE", help="YAML or JSON, as kubectl prints it; - for stdin.")]


_timer: Final = partial(option, metavar="SECONDS", min=0, show_envvar=False)
_MARKED: Final = _timer(
    "--needed-marked-time", text="How long a node had to be marked.", envvar="NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS"
)
_AGE: Final = _timer("--minimum-node-age", text="How old a node had to be.", envvar="MINIMUM_NODE_AGE_SECONDS")


@imports.command()
def estafette(
    file: Given, *, marked: Annotated[int | None, _MARKED] = None, age: Annotated[int | None, _AGE] = None
) -> None:
    """Convert estafette-k8s-node-compactor: its ConfigMap, the JSON in it, or its Helm chart's values or output.

    The two times are those of the process's own variables, if they are set here:
    NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS and MINIMUM_NODE_AGE_SECONDS.

    Examples:
      ebb policy import estafette configmap.yaml > policy.yaml
      kubectl get configmap -n compactor -o yaml | ebb policy import estafette -
    """
    from functions.cli.policy.importing.estafette import from_estafette

    _print_imported(file, lambda data: from_estafette(data, marked, age))


@imports.command("node-refiner")
def node_refiner(
    file: Given,
    *,
    pool: Annotated[
        list[str] | None, option("--pool", "NAME", "Pool that Ebb may drain; node-refiner has no pools. Repeatable.")
    ] = None,
) -> None:
    """Convert the ConfigMap node-refiner-cm of SAP node-refiner.

    Prints the policy. Comments list settings that have no equivalent.

    Examples:
      ebb policy import node-refiner configmap.yaml --pool web-pool
    """
    from functions.cli.policy.importing.node_refiner import from_node_refiner

    _print_imported(file, lambda data: from_node_refiner(data, tuple(pool or ())))


@imports.command()
def karpenter(file: Given) -> None:
    """Convert Karpenter's NodePools (v1, v1beta1), one or many: their disruption block and what belongs to it.

    Prints the policy. Comments list settings that have no equivalent.

    Examples:
      kubectl get nodepools -o yaml | ebb policy import karpenter -
    """
    from functions.cli.policy.importing.karpenter import from_karpenter

    _print_imported(file, from_karpenter)


def _print_imported(path: Path, convert: "Callable[[bytes], Imported]") -> None:
    from functions.cli.input.files import faults_of, read_bytes
    from functions.cli.output.visible import visible

    with faults_of(path):
        found = convert(read_bytes(path))
    for note in found.notes:
        typer.echo(f"note: {visible(note)}", err=True)
    typer.echo(found.document, nl=False)
