"""The events that docs/events.md declares, with labels and fields, to be held to the lines that Ebb writes."""

import re
from dataclasses import dataclass
from typing import Final

from tests.pages import DOCS

PAGE: Final = (DOCS / "events.md").read_text(encoding="utf-8")
_INDEX: Final = re.compile(r"^\| \[`(\w+)`\]\(#\w+\) \| .* \| (.*) \|$", re.MULTILINE)
_LABEL: Final = re.compile(r"`(\w+)`(\*?)")
_FIELD: Final = re.compile(r"^\| `(\w+)`(\*?) \| (.+?) \| ", re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """One field of the payload, with its type in words. `sometimes`: it may be missing, or null."""

    name: str
    type: str
    sometimes: bool


@dataclass(frozen=True)
class Event:
    """One kind of line. Labels besides `cluster` and `event`; the message is in each line."""

    name: str
    labels: tuple[str, ...]
    """Always there."""
    other_labels: tuple[str, ...]
    """There where they are known."""
    fields: tuple[Field, ...]


def section(name: str) -> str:
    """Return what the page has under the heading of an event."""
    return PAGE.partition(f"\n## `{name}`\n\n")[2].partition("\n## ")[0]


def _event(name: str, labels: str) -> Event:
    starred = {star: tuple(label for label, its in _LABEL.findall(labels) if its == star) for star in ("", "*")}
    fields = (Field(field, words, bool(star)) for field, star, words in _FIELD.findall(section(name)))
    return Event(name, starred[""], starred["*"], tuple(fields))


EVENTS: Final = tuple(_event(*row) for row in _INDEX.findall(PAGE))
BY_NAME: Final = {event.name: event for event in EVENTS}
