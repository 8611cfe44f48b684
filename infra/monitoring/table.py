"""The forms of the table: an event with its labels and fields, and a metric that is made of its lines.

Must not hold any row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from infra.monitoring.query import OURS, Term, label


class Type(StrEnum):
    """What a payload field is in JSON."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    FLAG = "true or false"
    TIME = "time"
    COUNTS = "counts by word"
    TEXTS = "list of texts"
    ROWS = "list of objects"


@dataclass(frozen=True)
class Field:
    """One field of the payload. `sometimes`: it may be missing, or null."""

    name: str
    type: Type
    about: str
    sometimes: bool = False


@dataclass(frozen=True)
class Event:
    """One kind of line. Labels beside `cluster` and `event`; the message is in each line."""

    name: str
    about: str
    labels: tuple[str, ...]
    """Always there."""
    other_labels: tuple[str, ...] = ()
    """There where they are known."""
    fields: tuple[Field, ...] = ()


class Kind(StrEnum):
    """How the lines become a metric."""

    COUNTER = "counter"
    """How many lines there were."""
    GAUGE = "gauge"
    """A number as it stands; log-based metrics know none, so it is a distribution of which the mean is read."""
    AMOUNT = "amount"
    """Numbers that add up; the sum of a distribution is read (in PromQL)."""
    SPREAD = "spread"
    """Numbers whose percentiles matter."""


@dataclass(frozen=True)
class Metric:
    """One log-based metric, named `${name}/<name>`."""

    name: str
    kind: Kind
    event: str
    about: str
    unit: str = "1"
    value: str = ""
    """The payload field that holds the number; empty for a counter."""
    where: tuple[Term, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    """The metric's labels, and where in the entry each is found."""
    per_node: bool = False
    """Made only with EBB_DECISION_LOG=all: a series for each node costs money."""
    seed: str = ""
    """What estafette or node-refiner called it."""

    @property
    def filter(self) -> tuple[Term, ...]:
        event = (label("event", self.event),) if self.event else ()
        return (*OURS, *event, *self.where)

    @property
    def type(self) -> str:
        """The metric type in Cloud Monitoring."""
        return f"logging.googleapis.com/user/${{name}}/{self.name}"
