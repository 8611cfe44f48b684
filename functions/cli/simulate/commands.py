"""What a person may type for simulated days."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from functions.cli.input.options import AnswerAs, AnswerFormat, Dumps, Sources, with_sources

_DEMAND: Final = "What is wanted when"
WEEKEND = 30
BOOT = "90s"


def _demand(option: str, metavar: str, text: str, least: int | None = None, most: int | None = None) -> Any:
    """Return an option about what is wanted when."""
    return typer.Option(option, metavar=metavar, rich_help_panel=_DEMAND, help=text, min=least, max=most)


_FILE: Final = _demand("--demand", "FILE", "CSV of replicas by hour; else --night.")
_NIGHT: Final = _demand(
    "--night", "PERCENT", "Replicas that each Deployment keeps at night; 60 if demand is unknown.", 0, 100
)
_WEEKEND: Final = _demand("--weekend", "PERCENT", "Weekend demand, as a share of a workday's rise.", 0, 100)
_TIME_ZONE: Final = _demand("--time-zone", "ZONE", "Time zone of these hours.")


@with_sources("node_pools", "cluster", "policy", dump=Dumps)
def simulate(  # noqa: PLR0913 - each is something that a person may type
    *,
    sources: Sources,
    policy: Annotated[
        list[Path] | None,
        typer.Option("--policy", metavar="FILE", help="Policy file; repeat it to compare several. Else the defaults."),
    ] = None,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, max=31, help="Days to simulate; 7 is a week.")] = 1,
    demand: Annotated[Path | None, _FILE] = None,
    night: Annotated[int | None, _NIGHT] = None,
    weekend: Annotated[int, _WEEKEND] = WEEKEND,
    time_zone: Annotated[str, _TIME_ZONE] = "UTC",
    boot: Annotated[str, typer.Option("--boot", metavar="TIME", help="Time until pods start on a new node.")] = BOOT,
    output: AnswerAs = AnswerFormat.TABLE,
) -> None:
    """Simulate the coming days: the autoscaler alone, and with Ebb under each policy.

    Node-hours, money, evictions and pods that wait, side by side. A policy in
    dry run is played as if it were at work. Changes nothing.

    Examples:
      ebb simulate --dump cluster.json --policy policy.yaml
      ebb simulate --dump cluster.json --days 7 --policy a.yaml --policy b.yaml
      ebb simulate cluster.json --night 70 --time-zone Europe/Amsterdam
    """  # fmt: skip
    from functions.cli.simulate.compute import SimulateRequest, show_days

    hours = (demand, night, weekend, time_zone)
    request = SimulateRequest(sources, tuple(policy or ()), days, *hours, boot)
    show_days(request, output)
