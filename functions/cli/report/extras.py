"""What the report adds to the plan: the policy's calendar, promise and outcome, who keeps nodes, and the glossary."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from yaml import safe_load

from functions.cli.drains.week import MONTHS, PROMISE, month_rows
from functions.cli.output.pages import asset
from functions.cli.plan.tables import OWNERS, REMEDY, blocked_table, sum_of_owners
from functions.cli.policy.calendar import CalendarQuestion, Sizes, document, zone_to_show
from functions.cli.report.report_input import ReportInput, table
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.fields import POOL_FIELDS

DAYS: Final = 7


def week(report_input: ReportInput) -> dict[str, Any]:
    """Return a week from the snapshot's day on, for each set of pools with equal days."""
    policy, now = report_input.policy, report_input.now
    sizes = Sizes({name: len(nodes) for name, nodes in now.nodes_by_pool.items()}, len(now.nodes))
    zone = zone_to_show(policy)
    question = CalendarQuestion(policy, sizes, zone, now.taken_at.astimezone(zone).date(), DAYS)
    named = [name for name in now.nodes_by_pool if name]
    on = [name for name in named if policy.pool(name).enabled]
    off = [name for name in named if name not in on]
    return document(question, on, off)


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


_PROMISED: Final = (
    "Promised is what the policy could remove in its first day, on average; saved is a low estimate.",
    "Older removals are nodes that have not come back, and that saved counts no more.",
)


def promise(report_input: ReportInput) -> list[dict[str, Any]]:
    """Return a section on what each month promised and brought; none without an installation in reach."""
    ledger = report_input.view.ledger
    if ledger is None or not ledger.months:
        return []
    return [{"title": PROMISE, "sentences": [*_PROMISED], "table": table(MONTHS, month_rows(ledger))}]


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
