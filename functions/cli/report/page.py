"""The report's page: one HTML file with its data inside; the script draws what can be chosen, searched and opened."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from functions.cli.input.inputs import WARNING
from functions.cli.output.pages import write_page
from functions.cli.output.visible import visible_values

SCRIPTS: Final = ("elements.js", "cluster.js", "details.js", "page.js")
"""In the order in which they stand in the page."""


def draw_report(document: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    plan = visible_values(dict(document))
    report = plan["report"]
    values = {
        **{name: report[name] for name in ("title", "headline", "figures")},
        "plan": plan,
        "report": report,
        "warning": WARNING,
        "extras": [(f"extra-{number}", extra["title"]) for number, extra in enumerate(report["extras"])],
        "columns_of": _columns,
        "order": _order(plan["nodes"], report),
        "most": max(tenth[key] for part in report["fill"] for tenth in part["bins"] for key in ("now", "at_rest")),
    }
    return write_page("report.html", values, SCRIPTS)


def _columns(titles: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return the columns of an extra section's table: names first, then figures."""
    return [(title, at, "number" if at else "head") for at, title in enumerate(titles)]


def _order(nodes: Sequence[Mapping[str, Any]], report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the order of the plan with what is known of each node."""
    known, going = (
        [dict(zip(report[name]["columns"], row, strict=True)) for row in report[name]["rows"]]
        for name in ("nodes", "order")
    )
    return [
        {
            **row,
            "number": number,
            "name": nodes[row["node"]]["name"],
            "pool": nodes[row["node"]]["pool"] or "-",
            "zone": known[row["node"]]["zone"] or "-",
        }
        for number, row in enumerate(going, start=1)
    ]
