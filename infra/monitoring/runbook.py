"""The runbook: what each alert means and asks for, and the saved queries. The alert itself carries its section."""

from typing import Final

from infra.monitoring.alerts import ALERTS, Alert
from infra.monitoring.queries import QUERIES, Query
from infra.monitoring.query import paragraph

_WORDS: Final = {
    "${cluster}": "CLUSTER",
    "${name}": "NAME",
    "${missed_passes}": "three",
    "${dead_letters_subscription}": "NAME-dead-letters",
}
"""What the tokens read like where Terraform has not filled them in."""
_OPENING: Final = """\
This part is written by `make monitoring` from the tables in `infra/monitoring`. Each alert carries its own section.
`CLUSTER` is `projects/P/locations/L/clusters/C`, `NAME` is Terraform's output `name`.

Three things to know first. Ebb gives back what it holds by itself. `ebb pause --reason TEXT` stops new drains and gives
running ones back at once. `ebb release all` frees every node, also when nothing else works.
"""


def section(alert: Alert) -> str:
    """Return what an alert says: its meaning, where to look, what to do."""
    looks, does = (_bullets(rows) for rows in (alert.look, alert.do))
    return f"**What it means.** {alert.means}\n\n**Look at**\n\n{looks}\n\n**Do**\n\n{does}\n"


def runbook() -> str:
    alerts = "\n".join(f"#### Ebb: {alert.title}\n\n{section(alert)}" for alert in ALERTS)
    queries = "\n".join(map(_query, QUERIES))
    return f"{_OPENING}\n### Queries for Cloud Logging\n\n{queries}\n### Alerts\n\n{_spelled(alerts)}"


def _query(query: Query) -> str:
    return f"#### {query.question}\n\n{query.hint}\n\n```\n{_spelled(paragraph(query.terms))}\n```\n"


def _bullets(rows: tuple[str, ...]) -> str:
    return "\n".join(f"- {row}" for row in rows)


def _spelled(text: str) -> str:
    for token, word in _WORDS.items():
        text = text.replace(token, word)
    return text
