"""`ebb report`: one HTML file with its data inside, or the data as JSON; its calendar, owners and glossary."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from yaml import safe_load

from functions.cli.input.files import write_text
from functions.cli.input.inputs import Inputs, gather
from functions.cli.input.options import ReportOutput, Sources
from functions.cli.output.format import WARNING, moment
from functions.cli.output.pages import asset, write_page
from functions.cli.output.terminal import print_sentence
from functions.cli.output.visible import visible_values
from functions.cli.plan import as_json
from functions.cli.plan.compute import PlanOptions, timed_view
from functions.cli.plan.tables import OWNERS, REMEDY, blocked_table, sum_of_owners
from functions.cli.policy import calendar
from functions.cli.report import cluster_section, money_section
from functions.cli.report.cluster_section import ReportInput, table
from shared import VERSION
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.fields import POOL_FIELDS

SCHEMA: Final = 1


def document(report_input: ReportInput) -> dict[str, Any]:
    report = _report(report_input)
    lists = {"nodes", "pods", "workloads", "order", "zones"}
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
        "blockers": money_section.blockers(view.legend),
        "reasons": money_section.reasons(report_input),
        "calendar": week(report_input),
        "order": cluster_section.order(report_input),
        "extras": owners(report_input),
        "notes": list(view.notes),
    }


DAYS: Final = 7


def week(report_input: ReportInput) -> dict[str, Any]:
    """Return a week from the snapshot's day on, for each set of pools with equal days."""
    policy, now = report_input.policy, report_input.now
    sizes = calendar.Sizes({name: len(nodes) for name, nodes in now.nodes_by_pool.items()}, len(now.nodes))
    zone = calendar.zone_to_show(policy)
    question = calendar.CalendarQuestion(policy, sizes, zone, now.taken_at.astimezone(zone).date(), DAYS)
    named = [name for name in now.nodes_by_pool if name]
    on = [name for name in named if policy.pool(name).enabled]
    off = [name for name in named if name not in on]
    return calendar.document(question, on, off)


_MOST: Final = 10


def owners(report_input: ReportInput) -> list[dict[str, Any]]:
    """Return a section on who keeps nodes; none where nobody does, or where that is not known."""
    blocked = report_input.view.blocked
    if blocked is None or not blocked.rows:
        return []
    shown = blocked_table(blocked, _MOST).without_columns({REMEDY})  # the section before has it
    titles = tuple(column.title for column in shown.columns)
    more = [f"These are the first {_MOST}; ebb plan --by {blocked.by} shows all."] if len(blocked.rows) > _MOST else []
    sentences = [sum_of_owners(blocked), *more]
    return [{"title": OWNERS.format(by=blocked.by), "sentences": sentences, "table": table(titles, shown.rows)}]


_TEXTS: Final[Mapping[str, Mapping[str, str]]] = safe_load(asset("glossary.yaml"))
GLOSSARY: Final = _TEXTS["always"]
KUBERNETES: Final = _TEXTS["rare"]
_FIELDS: Final = (*POOL_FIELDS.values(), *CLUSTER_FIELDS.values(), *DRAIN_FIELDS.values())
SETTINGS: Final = {
    field.name: f"A setting of the policy. {field.description.partition(' Default ')[0]}"
    for field in _FIELDS
    if not field.name.islower()
}
"""Fields of the policy whose names are no plain words, with its sentences; docs/policy.md has the defaults."""


def glossary(shown: Any) -> list[dict[str, str]]:
    """Return the words of a page with their meanings; `shown` are the JSON values that it shows."""
    text, known = json.dumps(shown), {**KUBERNETES, **SETTINGS}
    rare = ((word, meaning) for word, meaning in known.items() if _pattern(word).search(text))
    rows = (*GLOSSARY.items(), *sorted(rare, key=lambda row: row[0].lower()))
    return [{"word": word, "meaning": meaning} for word, meaning in rows]


def _pattern(words: str) -> re.Pattern[str]:
    """Return what finds any of the words, also in the plural."""
    any_of = "|".join(re.escape(word) for word in words.split(", "))
    return re.compile(rf"\b(?:{any_of})(?:s|es|d|ed)?\b", re.IGNORECASE)


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
