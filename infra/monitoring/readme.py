"""The README's tables of events and alerts, written from the table like everything else."""

from pathlib import Path
from typing import Final

from infra.monitoring.alerts import ALERTS
from infra.monitoring.events import EVENTS
from infra.monitoring.files import INFRA
from infra.monitoring.queries import LAST_NIGHT, WHY_HERE, Query
from infra.monitoring.query import paragraph

README: Final = INFRA.parent / "README.md"
START: Final = "<!-- events -->\n"
END: Final = "<!-- /events -->"


def written(text: str) -> str:
    """Return a README with the tables in it."""
    before, _, rest = text.partition(START)
    return before + START + _tables() + END + rest.partition(END)[2]


def write(path: Path = README) -> None:
    """Bring the README up to date."""
    path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


def _tables() -> str:
    events = "".join(
        f"| `{event.name}` | {event.about} | {_words((*event.labels, *event.other_labels))} |\n" for event in EVENTS
    )
    alerts = "".join(f"| {alert.title} | {'; '.join(each.title for each in alert.conditions)} |\n" for alert in ALERTS)
    return (
        f"{_query(WHY_HERE)}\n{_query(LAST_NIGHT)}\n"
        f"| event | what it tells | labels beside `cluster` and `event` |\n|---|---|---|\n{events}\n"
        f"| alert | when |\n|---|---|\n{alerts}"
    )


def _query(query: Query) -> str:
    text = paragraph(query.terms).replace("${cluster}", "projects/P/locations/L/clusters/C")
    return f"**{query.question}** {query.hint}\n\n```\n{text}\n```\n"


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
