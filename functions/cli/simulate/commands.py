"""What a person may type for simulated days."""

from pathlib import Path
from typing import Annotated

import typer

from functions.cli.input.options import AnswerAs, AnswerFormat, Dumps, Sources, with_sources

_DEMAND = "What is wanted when"
_MOST_NODES = 2000
JOB_MINUTES = 30
WEEKEND = 30
BOOT = "90s"
_A_DAY = 1440


@with_sources("node_pools", "cluster", "policy", dump=Dumps)
def simulate(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    synthetic: Annotated[
        int | None,
        typer.Option(
            "--synthetic", metavar="NODES", min=3, max=_MOST_NODES, help="Use a generated cluster with this many nodes."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", help="Seed of the generated cluster; it fixes the days."),
    ] = 1,
    policy: Annotated[
        list[Path] | None,
        typer.Option("--policy", metavar="FILE", help="Policy file; repeat it to compare several. Else the defaults."),
    ] = None,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=31, help="Days to simulate; 7 is a week.")] = 1,
    demand: Annotated[
        Path | None,
        typer.Option(
            "--demand",
            metavar="FILE",
            rich_help_panel=_DEMAND,
            help="CSV of replicas by hour, or cluster_state log lines; else HPA limits, else --night.",
        ),
    ] = None,
    night: Annotated[
        int | None,
        typer.Option(
            "--night",
            metavar="PERCENT",
            min=0,
            max=100,
            rich_help_panel=_DEMAND,
            help="Replicas that each Deployment keeps at night; 60 if demand is unknown.",
        ),
    ] = None,
    weekend: Annotated[
        int,
        typer.Option(
            "--weekend",
            metavar="PERCENT",
            min=0,
            max=100,
            rich_help_panel=_DEMAND,
            help="Weekend demand, as a share of a workday's rise.",
        ),
    ] = WEEKEND,
    time_zone: Annotated[
        str, typer.Option("--time-zone", metavar="ZONE", rich_help_panel=_DEMAND, help="Time zone of these hours.")
    ] = "UTC",
    job_minutes: Annotated[
        int,
        typer.Option(
            "--job-minutes",
            metavar="N",
            min=1,
            max=_A_DAY,
            rich_help_panel=_DEMAND,
            help="Minutes that each run of a CronJob takes, up to its activeDeadlineSeconds.",
        ),
    ] = JOB_MINUTES,
    boot: Annotated[str, typer.Option("--boot", metavar="TIME", help="Time until pods start on a new node.")] = BOOT,
    output: AnswerAs = AnswerFormat.TABLE,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE.svg", help="Also draw node counts over time.")
    ] = None,
) -> None:
    """Simulate the coming days: the autoscaler alone, and with Ebb under each policy.

    Node-hours, money, evictions and pods that wait, side by side. A policy in
    dry run is played as if it were at work. Changes nothing.

    Examples:
      ebb simulate --dump cluster.json --policy policy.yaml
      ebb simulate --dump cluster.json --days 7 --policy a.yaml --policy b.yaml
      ebb simulate --synthetic 60 --night 70 --time-zone Europe/Amsterdam
    """  # fmt: skip
    from functions.cli.simulate.compute import SimulateRequest, show_days

    hours = (demand, night, weekend, time_zone)
    request = SimulateRequest(sources, tuple(policy or ()), days, synthetic, seed, *hours, boot, picture, job_minutes)
    show_days(request, output)
