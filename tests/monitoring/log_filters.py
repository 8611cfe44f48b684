"""Reads filters of Cloud Logging and extractors of log-based metrics, as far as the generated ones go.

Written from the language's page (cloud.google.com/logging/docs/view/logging-query-language), not from the code that
writes the filters. What it does not know it refuses.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final

from tests.monitoring.entries import Entry

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
    """Return what EXTRACT(path) finds."""
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
