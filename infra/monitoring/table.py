"""The table of events: each event with its fields, written once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

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
    """One kind of line. Labels besides `cluster` and `event`; the message is in each line."""

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

    def filter(self, lines: tuple[Term, ...] = OURS) -> tuple[Term, ...]:
        """Return what it counts among these lines: of its cluster, or of any."""
        event = (label("event", self.event),) if self.event else ()
        return (*lines, *event, *self.where)

    @property
    def type(self) -> str:
        """The metric type in Cloud Monitoring."""
        return f"logging.googleapis.com/user/${{name}}/{self.name}"


POLICY_HASH: Final = Field("policy_hash", Type.TEXT, "the policy in force, empty without a valid one", sometimes=True)
GENERATION: Final = Field("generation", Type.INTEGER, "the number of the drain's step")
SIZES: Final = (
    Field("allocatable_cpu", Type.NUMBER, "cores that pods may request"),
    Field("allocatable_memory", Type.INTEGER, "bytes that pods may request"),
    Field("requested_cpu", Type.NUMBER, "cores that pods request"),
    Field("requested_memory", Type.INTEGER, "bytes that pods request"),
    Field("cpu_ratio", Type.NUMBER, "requested by allocatable CPU", sometimes=True),
    Field("memory_ratio", Type.NUMBER, "requested by allocatable memory", sometimes=True),
)
GAUGES: Final = (
    Field("nodes", Type.INTEGER, "all nodes"),
    Field("ready_nodes", Type.INTEGER, "nodes that are Ready"),
    Field("non_tainted_nodes", Type.INTEGER, "schedulable nodes without a taint that repels pods"),
    Field("unschedulable_nodes", Type.INTEGER, "all cordoned nodes"),
    Field("underutilized", Type.INTEGER, "nodes of enabled pools, old enough, below both ratio limits, not in flight"),
    Field("marked", Type.INTEGER, "nodes with a mark"),
    Field("in_flight", Type.INTEGER, "nodes that a drain holds"),
    Field("pods", Type.INTEGER, "pods; those of no node count for the cluster"),
    *SIZES,
    Field("excess_nodes", Type.NUMBER, "nodes to spare, in units of the least used one", sometimes=True),
    Field("cost_per_hour", Type.NUMBER, "dollars by the price table"),
    Field("saving_per_hour", Type.NUMBER, "dollars that this pass's orders save (in dry run: would save)"),
)
TOOK: Final = (
    Field("drain_seconds", Type.NUMBER, "from the cordon until the node was empty, or until now", sometimes=True),
    Field("deletion_seconds", Type.NUMBER, "from the empty node until now: the autoscaler's time", sometimes=True),
    Field("pods_evicted", Type.INTEGER, "pods that have moved", sometimes=True),
)
