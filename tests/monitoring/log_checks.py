"""Holds lines to the table of events: only declared events, labels and fields, each of its declared type."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from infra.monitoring.events import BY_NAME, Event, Field, Type
from tests.monitoring.entries import Entry


def faults(entries: Iterable[Entry]) -> list[str]:
    """Return what the entries hold that the table does not declare, and what they lack."""
    return sorted({fault for entry in entries for fault in _faults(entry)})


def _faults(entry: Entry) -> Iterable[str]:
    labels = entry["labels"]
    event = BY_NAME.get(labels.get("event", ""))
    if event is None:
        yield f"event {labels.get('event')!r} is not declared: {entry['jsonPayload'].get('message')}"
        return
    yield from (f"{event.name}: {fault}" for fault in (*_labels(event, labels), *_fields(event, entry["jsonPayload"])))


def _labels(event: Event, labels: Mapping[str, str]) -> Iterable[str]:
    always = {"cluster", "event", *event.labels}
    yield from (f"label {name} is missing" for name in always - labels.keys())
    yield from (f"label {name} is not declared" for name in labels.keys() - always - set(event.other_labels))
    yield from (f"label {name} is no text" for name, value in labels.items() if not isinstance(value, str))


def _fields(event: Event, payload: Mapping[str, Any]) -> Iterable[str]:
    declared = {field.name: field for field in event.fields}
    if not isinstance(payload.get("message"), str) or not payload["message"]:
        yield "there is no message"
    yield from (f"field {name} is not declared" for name in payload.keys() - declared.keys() - {"message"})
    for name, field in declared.items():
        if payload.get(name) is None and not field.sometimes:
            yield f"field {name} is missing"
        elif payload.get(name) is not None and not _is(field, payload[name]):
            yield f"field {name} is no {field.type.value}: {payload[name]!r}"


def _is(field: Field, value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return {
        Type.INTEGER: whole,
        Type.NUMBER: whole or isinstance(value, float),
        Type.TEXT: isinstance(value, str),
        Type.FLAG: isinstance(value, bool),
        Type.TIME: isinstance(value, str) and _is_time(value),
        Type.COUNTS: isinstance(value, dict) and all(isinstance(count, int) for count in value.values()),
        Type.TEXTS: isinstance(value, list) and all(isinstance(row, str) for row in value),
        Type.ROWS: isinstance(value, list) and all(isinstance(row, dict) for row in value),
    }[field.type]


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


__all__: Final = ("faults",)
