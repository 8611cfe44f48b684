"""Filters in Cloud Logging's query language, built from terms: a small subset, so that tests can evaluate it.

Source: cloud.google.com/logging/docs/view/logging-query-language. `${…}` are Terraform's, filled in by templatefile.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Is:
    """The field has one of these values."""

    path: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        quoted = [f'"{value}"' for value in self.values]
        return f"{self.path}={quoted[0]}" if len(quoted) == 1 else f"{self.path}=({' OR '.join(quoted)})"


@dataclass(frozen=True)
class AtLeast:
    """The number or the severity is at least this."""

    path: str
    value: str

    def __str__(self) -> str:
        return f"{self.path}>={self.value}"


@dataclass(frozen=True)
class Has:
    """The field is there."""

    path: str

    def __str__(self) -> str:
        return f"{self.path}:*"


Term = Is | AtLeast | Has


def field(name: str, *values: str) -> Is:
    """A payload field."""
    return Is(f"jsonPayload.{name}", values)


def label(name: str, *values: str) -> Is:
    return Is(f"labels.{name}", values)


OURS: Final[tuple[Term, ...]] = (Is("resource.type", ("cloud_run_revision",)), label("cluster", "${cluster}"))
"""Lines of this cluster's functions: both log as Cloud Run services (2nd generation)."""


def text(terms: Iterable[Term]) -> str:
    """Return the filter on one line."""
    return " AND ".join(map(str, terms))


def series(terms: Iterable[Is]) -> str:
    """Return a filter of Cloud Monitoring, whose language writes alternatives in its own way."""
    return " AND ".join(map(_one_of, terms))


def _one_of(term: Is) -> str:
    quoted = [f'"{value}"' for value in term.values]
    return str(term) if len(quoted) == 1 else f"{term.path}=one_of({', '.join(quoted)})"


def paragraph(terms: Iterable[Term]) -> str:
    """Return the filter with a term a line, as people paste it; a line break means AND."""
    return "\n".join(map(str, terms))
