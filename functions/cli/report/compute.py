"""`ebb report`: one HTML file with its data inside, or the data as JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from functions.cli.input.files import write_text
from functions.cli.input.inputs import Inputs, gather
from functions.cli.input.options import ReportOutput, Sources
from functions.cli.output.format import WARNING, moment
from functions.cli.output.pages import write_page
from functions.cli.output.terminal import print_sentence
from functions.cli.output.visible import visible_values
from functions.cli.plan import as_json
from functions.cli.plan.compute import PlanOptions, timed_view
from functions.cli.report import cluster_section, money_section
from functions.cli.report.extras import glossary, owners, promise, requests, week
from functions.cli.report.report_input import ReportInput
from shared import VERSION

SCHEMA: Final = 1


def document(report_input: ReportInput) -> dict[str, Any]:
    report = _report(report_input)
    lists = {"nodes", "pods", "workloads", "order", "fill", "zones"}
    shown = {name: value for name, value in report.items() if name not in lists}
    return {**as_json.document(report_input.view), "report": {**report, "glossary": glossary(shown)}}


def _report(report_input: ReportInput) -> dict[str, Any]:
    view = report_input.view
    return {
        "schema": SCHEMA,
        "made_by": f"ebb {VERSION}",
        "seen_at": moment(view.plan.taken_at),
        "whose": view.whose,
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
        "extras": [*promise(report_input), *owners(report_input), *requests(report_input)],
        "notes": list(view.notes),
    }


SCRIPTS: Final = ("elements.js", "cluster.js", "details.js", "page.js")
"""In the order in which they stand in the page; they draw what can be chosen, searched and opened."""


def draw_report(document: Mapping[str, Any]) -> str:
    plan = visible_values(dict(document))
    report = plan["report"]
    values = {
        **{name: report[name] for name in ("title", "headline", "figures")},
        "plan": plan,
        "report": report,
        "warning": WARNING,
        "extras": [(f"extra-{number}", extra["title"]) for number, extra in enumerate(report["extras"])],
        "columns_of": lambda titles: [(title, at, "number" if at else "head") for at, title in enumerate(titles)],
        "order": _order(plan["nodes"], report),
        "most": max(tenth[key] for part in report["fill"] for tenth in part["bins"] for key in ("now", "at_rest")),
    }
    return write_page("report.html", values, SCRIPTS)


def _order(nodes: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> list[dict[str, Any]]:
    going = (dict(zip(report["order"]["columns"], row, strict=True)) for row in report["order"]["rows"])
    zone = report["nodes"]["columns"].index("zone")
    return [
        {
            **row,
            "number": number,
            "name": nodes[row["node"]]["name"],
            "pool": nodes[row["node"]]["pool"] or "-",
            "zone": report["nodes"]["rows"][row["node"]][zone] or "-",
        }
        for number, row in enumerate(going, start=1)
    ]


PAGE: Final = Path("ebb-report.html")
STDOUT: Final = Path("-")


def write_report(sources: Sources, out: Path | None, output: ReportOutput, options: PlanOptions) -> None:
    """Write the page or its data, and print its path; data is printed where no file was named.

    Raises BadInput as `gather`, and if the page cannot be written.
    """
    report_input = input_of(gather(sources), options)
    report, as_json = document(report_input), output is ReportOutput.JSON
    text = f"{json.dumps(report, indent=2, ensure_ascii=False)}\n" if as_json else draw_report(report)
    file = out or (STDOUT if as_json else PAGE)
    if file == STDOUT:
        typer.echo(text, nl=False)
        return
    write_text(file, text, "--out")
    print_sentence(report_input.view.summary)
    print_sentence(f"{file}: {len(text.encode()) // 1024 + 1:,} KiB, with the names of nodes and pods in it.")


def input_of(inputs: Inputs, options: PlanOptions) -> ReportInput:
    return ReportInput(timed_view(inputs, options), inputs.snapshot, inputs.policy)
