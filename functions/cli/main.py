"""The command `ebb`: reads the command line, calls one function, prints its answer."""

import logging
import os
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

import functions
from functions.cli.drains.commands import drain, history, release, status
from functions.cli.errors import Commands, Sentences
from functions.cli.explain.commands import explain, plan, why_not
from functions.cli.fleet.commands import fleet
from functions.cli.input.options import ClusterContext, ClusterProfile, Context, Kubeconfig, OneDump
from functions.cli.input.profiles import use_profile
from functions.cli.output.visible import never_break_off
from functions.cli.policy.commands import policies
from functions.cli.report.commands import report
from functions.cli.simulate.commands import simulate

_ROOT: Final = Path(functions.__file__ or "").resolve().parent.parent


def become_the_demo(logs: Path | None, *, keep: bool = False) -> NoReturn:
    """Replace this process by the demo; `logs` is the folder in which it keeps what its processes wrote.

    With `keep` all of it stays up at the end, until Ctrl-C.

    The folder that a person stands in is kept off the path (`-P`): it may well have an `infra` of its own.
    """
    for needed in ("flask", "pydantic"):
        if find_spec(needed) is None:
            raise ModuleNotFoundError(name=needed)
    kept = [*([] if logs is None else ["--logs", str(logs)]), *(["--keep"] if keep else [])]
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-P", "-m", "infra.local.demo", *kept]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": path})  # noqa: S606 - our own module


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = Commands(
    name="ebb",
    cls=Sentences,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
app.add_typer(policies, name="policy")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ebb {version('ebb')}")
        raise typer.Exit


@app.callback()
def ebb(
    *,
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which nodes of a GKE cluster could go, why the others stay, and what it would save.

    Exit codes: 0 done, 1 something is wrong with the policy or the cluster,
    2 wrong usage.

    Examples:
      ebb dump --out cluster.json
      ebb plan --dump cluster.json
      ebb policy init --dump cluster.json > policy.yaml
      ebb plan --dump cluster.json --policy policy.yaml
    """


for question in (plan, report, explain, simulate):
    app.command()(question)
app.command(name="why-not")(why_not)
app.command()(fleet)


@app.command()
def demo(
    *,
    logs: Annotated[
        Path | None, typer.Option("--logs", metavar="FOLDER", help="Keep what the processes wrote in this folder.")
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Leave all of it up until Ctrl-C, to try status, drain and pause on."),
    ] = False,
) -> None:
    """Watch the whole loop on a simulated GKE on this machine, in under a minute. Changes nothing anywhere else.

    Exit code 1 if a promise was broken, or a process could not be started.

    Examples:
      ebb demo
      ebb demo --logs demo-logs
    """
    become_the_demo(logs, keep=keep)


@app.command()
def dump(
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Run kubectl and write what it prints; .gz packs it.")
    ] = None,
    anonymize: Annotated[
        bool,
        typer.Option("--anonymize", help="Write every name under another, and leave out what no rule reads."),
    ] = False,
    dump: OneDump = None,
    names: Annotated[
        Path | None,
        typer.Option("--names", metavar="FILE", help="Where to keep which name stands for which; for you alone."),
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """Print the kubectl command that prints a cluster for a plan, or run it; --anonymize makes it fit to be shared.

    An anonymous dump keeps every rule (labels, selectors, zones, machine
    types, disks, owners): its plan is that of the original, under other names.

    Examples:
      ebb dump
      ebb dump --context gke_shop_europe-west4_prod --out prod.json.gz
      ebb dump --anonymize --dump prod.json.gz --out to-share.json.gz
    """
    from functions.cli.input.dump_command import DumpRequest, make_dump

    make_dump(DumpRequest(tuple(dump or ()), kubeconfig, context, out, anonymize, names))


@app.command()
def pause(
    *,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why, for whoever asks why no node goes.")
    ] = "",
    cluster: ClusterProfile = None,
    context: ClusterContext = None,
) -> None:
    """Stop all draining now: no drain starts, and drains in flight are given back. Healing goes on.

    Needs EBB_CLUSTER, EBB_STATE and EBB_FIRESTORE_DATABASE, which Terraform's
    output cli names: eval "$(terraform output -raw cli)".

    Examples:
      ebb pause --cluster prod --reason "release weekend"
    """
    from functions.cli.drains.pause import set_pause

    use_profile(cluster, context)
    set_pause(reason)


@app.command()
def resume(*, cluster: ClusterProfile = None, context: ClusterContext = None) -> None:
    """End a pause. A policy that says paused: true still applies.

    Needs EBB_CLUSTER, EBB_STATE and EBB_FIRESTORE_DATABASE, which Terraform's
    output cli names: eval "$(terraform output -raw cli)".

    Examples:
      ebb resume --cluster prod
    """
    from functions.cli.drains.pause import end_pause

    use_profile(cluster, context)
    end_pause()


@app.command()
def doctor(*, cluster: ClusterProfile = None, context: ClusterContext = None) -> None:
    """Check an installation after an apply: identity, APIs, rights, state, topics, policy and the last pass.

    Changes nothing. Needs the functions' variables, which Terraform's output
    cli names: eval "$(terraform output -raw cli)". Exit code 1 if something
    keeps Ebb from working.

    Examples:
      ebb doctor --cluster prod
    """
    from functions.cli.doctor.commands import examine_installation

    use_profile(cluster, context)
    examine_installation()


for command in (status, history, drain, release):
    app.command()(command)


def main() -> None:
    """Run the command; what goes wrong is said by Ebb in a sentence, so libraries keep their own log lines."""
    never_break_off()
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    logging.captureWarnings(capture=True)
    logging.getLogger().addHandler(logging.NullHandler())
    app()
