"""What fails for long and only in part: one verb on one resource, one list, one kind of document. Plain values.

A webhook that is down lets one kind of write fail for hours; a CRD whose conversion fails lets one list.
"""

from dataclasses import dataclass
from typing import Final

LONG: Final = 7200.0
"""Two hours: longer than any deadline, lease, watchdog and redelivery of the worlds."""
STATE: Final = frozenset({"get", "put", "all"})
"""What is done with documents; the Kubernetes API is asked for resources with a dot, a plural or a node's name."""
DOCUMENTS: Final = frozenset({"cluster", "drains", "runs"})
"""Without them nothing is undone; marks and the wave are for planning alone."""
FREES: Final = frozenset({"get nodes", "list nodes", "patch nodes", "list pods", "publish drain", "publish release"})
"""What undoing a cordon rests on, besides documents: its node is read and written, and somebody must be called."""
LOOKS: Final = FREES | {
    "list poddisruptionbudgets", "get replicasets", "get deployments", "get statefulsets", "list events",
}  # fmt: skip
"""What each look of a drain rests on."""


ADVICE: Final = frozenset({
    "list capacitybuffers", "list podtemplates", "list computeclasses", "list verticalpodautoscalers",
    "list limitranges", "list resourcequotas", "get autoscaling.k8s.io", "get autoscaling.x-k8s.io",
    "get cloud.google.com",
})  # fmt: skip
"""Reads that end no picture when they fail: lists of what only advises, and whether the cluster has such kinds."""


def kind_of(what: str) -> str:
    """Return verb and resource of a call."""
    return " ".join(what.split()[:2])


@dataclass(frozen=True)
class Outage:
    """Calls of one kind fail, or are only slow, for so long."""

    what: str
    """The first two words of a call: verb and resource."""
    seconds: float = LONG
    slow: float = 0.0
    fails: bool = True

    def strikes(self, what: str) -> bool:
        return kind_of(what) == self.what

    def keeps_from(self, needed: frozenset[str]) -> bool:
        """Whether it keeps Ebb from that: a slow call does not, and nothing goes without documents."""
        verb, _, resource = self.what.partition(" ")
        return self.fails and (self.what in needed or (verb in STATE and resource in DOCUMENTS))

    def __str__(self) -> str:
        how = "fails" if self.fails else f"takes {self.slow:g} s"
        return f"{self.what} {how} for {self.seconds / 60:g} min"


@dataclass(frozen=True)
class BegunOutage:
    """An outage from one moment to another."""

    outage: Outage
    begin: float
    end: float

    def strikes_at(self, now: float) -> bool:
        return self.begin <= now < self.end
