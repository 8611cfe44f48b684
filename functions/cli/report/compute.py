"""`ebb report`: plans, simulates where asked, and writes the page and its embedded JSON document."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import typer

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.input.files import write_text
from functions.cli.input.inputs import Inputs, gather
from functions.cli.input.options import ReportOutput, Sources
from functions.cli.output.format import moment
from functions.cli.output.terminal import print_sentence
from functions.cli.plan import as_json
from functions.cli.plan.compute import PlanOptions, timed_view
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from functions.cli.report import cluster_section, money_section
from functions.cli.report.extras import requests, section, week
from functions.cli.report.glossary import glossary
from functions.cli.report.page import draw_report
from functions.cli.report.report_input import ReportInput
from shared.errors import BadInput

SCHEMA: Final = 1


def document(report_input: ReportInput, extras: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return the report as JSON values; `extras` are sections of other commands."""
    report = _report(report_input, extras)
    lists = {"nodes", "pods", "workloads", "order", "fill", "zones"}
    shown = {name: value for name, value in report.items() if name not in lists}
    return {**as_json.document(report_input.view), "report": {**report, "glossary": glossary(shown)}}


def _report(report_input: ReportInput, extras: Sequence[dict[str, Any]]) -> dict[str, Any]:
    view = report_input.view
    return {
        "schema": SCHEMA,
        "made_by": f"ebb {version('ebb')}",
        "seen_at": moment(view.plan.taken_at),
        "whose": report_input.whose,
        "has_rest": report_input.scenarios is not None,
        "has_money": view.plan.cost > 0,
        "title": money_section.title(report_input),
        "headline": view.summary,
        "figures": money_section.figures(report_input),
        "added": money_section.added_row(report_input),
        "ladder": money_section.scenario_rows(report_input),
        "sentences": money_section.sentences(report_input),
        "pools": money_section.pools(report_input),
        "zones": cluster_section.zones(report_input),
        "nodes": cluster_section.nodes(report_input),
        **cluster_section.workloads_and_pods(report_input),
        "fill": cluster_section.fill(report_input),
        "blockers": money_section.blockers(view.legend),
        "reasons": money_section.reasons(report_input),
        "calendar": week(report_input),
        "order": cluster_section.order(report_input),
        "extras": [*requests(report_input), *extras],
        "notes": list(view.notes),
    }


PAGE: Final = Path("ebb-report.html")
STDOUT: Final = Path("-")


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a person asked for; `days` None plays none."""

    sources: Sources
    out: Path | None
    output: ReportOutput
    assume_marked: bool = False
    days: int | None = None
    compared: tuple[Path, ...] = ()
    demand: Path | None = None


def write_report(request: ReportRequest) -> None:
    """Write the page or its data, and print its path; data is printed where no file was named.

    Raises:
        BadInput: as `gather`, an option has no effect, or the page cannot be written.
    """
    if request.days is None and (request.compared or request.demand):
        raise BadInput(f"{'--compare' if request.compared else '--demand'}: name with --days how many to simulate.")
    inputs = gather(request.sources)
    report_input = input_of(inputs, POLICY if inputs.own_policy else DEFAULTS, assume_marked=request.assume_marked)
    report = document(report_input, _extras(request, inputs, report_input.scenarios))
    as_json, out = request.output is ReportOutput.JSON, request.out
    text = f"{json.dumps(report, indent=2, ensure_ascii=False)}\n" if as_json else draw_report(report)
    file = out or (STDOUT if as_json else PAGE)
    if file == STDOUT:
        typer.echo(text, nl=False)
        return
    write_text(file, text, "--out")
    print_sentence(report_input.view.summary)
    print_sentence(f"{file}: {len(text.encode()) // 1024 + 1:,} KiB, with the names of nodes and pods in it.")


def _extras(request: ReportRequest, inputs: Inputs, scenarios: Scenarios | None) -> tuple[dict[str, Any], ...]:
    if request.days is None:
        return ()
    from functions.cli.simulate.commands import BOOT, JOB_MINUTES, WEEKEND
    from functions.cli.simulate.compute import AS_IF, SimulateRequest, run_simulation

    own = (request.sources.policy,) if request.sources.policy else ()
    same = scenarios if own or not request.compared else None
    wanted = SimulateRequest(
        request.sources, (*own, *request.compared), request.days, None, 0, request.demand, None, WEEKEND, "UTC", BOOT,
        JOB_MINUTES,
    )  # fmt: skip
    return (section(run_simulation(wanted, replace(inputs, notes=(AS_IF,))), same),)


def input_of(inputs: Inputs, whose: str, *, assume_marked: bool = False) -> ReportInput:
    """Return what a report of one cluster is drawn from."""
    view = timed_view(inputs, PlanOptions(assume_marked=assume_marked), whose)
    return ReportInput(view, inputs.snapshot, inputs.policy, whose)
