"""The data of a report: the plan's JSON as it is (docs/orders.md), and under `report` what the page shows besides.

Pure: values in, JSON out. Must not decide anything, nor know HTML.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from functions.cli.format import moment
from functions.cli.plan import as_json
from functions.cli.report import (
    calendar_section,
    cluster_section,
    extra,
    fill_section,
    money_section,
    order_section,
    zone_section,
)
from functions.cli.report.extra import ExtraSection
from functions.cli.report.glossary import GLOSSARY
from functions.cli.report.material import Material

SCHEMA: Final = 1


def document(material: Material, extras: Sequence[ExtraSection] = ()) -> dict[str, Any]:
    """Return the report as JSON values; `extras` are sections of other commands."""
    return {**as_json.document(material.view), "report": _report(material, extras)}


def _report(material: Material, extras: Sequence[ExtraSection]) -> dict[str, Any]:
    view = material.view
    return {
        "schema": SCHEMA,
        "made_by": f"ebb {version('ebb')}",
        "seen_at": moment(view.taken_at),
        "whose": material.whose,
        "has_rest": material.ladder is not None,
        "title": money_section.title(material),
        "headline": view.summary,
        "figures": money_section.key_figures(material),
        "ladder": money_section.ladder_rows(material),
        "sentences": list(view.ladder.sentences) if view.ladder else [],
        "pools": money_section.pools(material),
        "zones": zone_section.zones(material),
        "nodes": cluster_section.nodes(material),
        **cluster_section.workloads_and_pods(material),
        "fill": fill_section.fill(material),
        "blockers": money_section.blockers(material),
        "reasons": money_section.reasons(material),
        "calendar": calendar_section.week(material),
        "order": order_section.order(material),
        "extras": [extra.as_json(each) for each in extras],
        "notes": list(view.notes),
        "glossary": [{"word": word, "meaning": meaning} for word, meaning in GLOSSARY.items()],
    }
