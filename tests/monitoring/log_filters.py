"""Filters of Cloud Logging, applied to lines; what each line has to hold."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final

import msgspec

from tests.monitoring.alarm import Entry
from tests.monitoring.events import BY_NAME, Event, Field

SEVERITIES: Final = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")
_TERM: Final = re.compile(r'(?P<path>[\w.]+)(?P<sign>=|>=|:)(?P<value>\*|"[^"]*"|\([^)]*\)|[A-Z]+|[\d.]+)')
_EXTRACT: Final = re.compile(r"EXTRACT\(([\w.]+)\)")


def at(entry: Any, path: str) -> Any:
    """Return what stands at a path, or None."""
    for name in path.split("."):
        entry = entry.get(name) if isinstance(entry, Mapping) else None
    return entry


def matches(query: str, entry: Entry) -> bool:
    """Return whether a filter matches an entry. Raises ValueError for what is outside the subset."""
    return all(_SIGNS[sign](at(entry, path), value, path) for path, sign, value in _terms(query))


@cache
def _terms(query: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(_term(text) for text in re.split(r" AND (?![^(]*\))|\n", query))


def _term(text: str) -> tuple[str, str, str]:
    match = _TERM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is outside the subset")
    return match["path"], match["sign"], match["value"]


def _equal(found: Any, value: str, path: str) -> bool:
    del path
    return isinstance(found, str) and found in re.findall(r'"([^"]*)"', value)


def _at_least(found: Any, value: str, path: str) -> bool:
    if path == "severity":
        return SEVERITIES.index(found) >= SEVERITIES.index(value)
    return isinstance(found, int | float) and found >= float(value)


def _there(found: Any, value: str, path: str) -> bool:
    del path
    if value != "*":
        raise ValueError(f"{value!r} is outside the subset")
    return found is not None


_SIGNS: Final[dict[str, Callable[[Any, str, str], bool]]] = {"=": _equal, ">=": _at_least, ":": _there}


def extracted(extractor: str, entry: Entry) -> Any:
    match = _EXTRACT.fullmatch(extractor)
    if match is None:
        raise ValueError(f"{extractor!r} is outside the subset")
    return at(entry, match[1])


Series = dict[tuple[tuple[str, str], ...], list[float]]


def series(metric: Mapping[str, Any], entries: Iterable[Entry]) -> Series:
    """Return what a log-based metric makes of entries: values by labels; a counter's are ones.

    As Cloud Logging does it: no value, or one that is no number, is no sample; a label that is not there is empty.
    """
    found: Series = defaultdict(list)
    for entry in entries:
        if not matches(metric["filter"], entry):
            continue
        value = extracted(metric["value"], entry) if metric["value"] else 1
        if isinstance(value, int | float) and not isinstance(value, bool):
            labels = tuple(sorted((name, str(extracted(at_, entry) or "")) for name, at_ in metric["labels"].items()))
            found[labels].append(value)
    return dict(found)


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
            yield f"field {name} is no {field.type}: {payload[name]!r}"


_TYPES: Final[Mapping[str, Any]] = {
    "integer": int,
    "number": float,
    "text": str,
    "true or false": bool,
    "time": Annotated[datetime, msgspec.Meta(tz=True)],
    "counts by word": dict[str, int],
    "list of texts": list[str],
    "list of objects": list[dict[str, Any]],
}


def _is(field: Field, value: Any) -> bool:
    try:
        msgspec.convert(value, _TYPES[field.type])
    except msgspec.ValidationError:
        return False
    return True
