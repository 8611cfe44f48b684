"""Texts of metrics as parsers read them that are not ours: prometheus_client has no types for them."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

Parser = Callable[[str], Iterable[Any]]
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]
openmetrics_of: Final[Parser] = openmetrics.text_string_to_metric_families
prometheus_of: Final[Parser] = parser.text_string_to_metric_families


def series(text: str) -> Series:
    """Return the value of each series; the parser refuses a text in which one stands twice."""
    return {
        (each.name, frozenset(each.labels.items())): each.value
        for family in openmetrics_of(text)
        for each in family.samples
    }


def value(found: Series, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]
