"""What fails for long and only in part, as behind a broken webhook or CRD conversion. Plain values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from shared.errors import Retryable, Stale, Terminal
from tests.depth import DEEP

LONG: Final = 7200.0 if DEEP else 3600.0
"""Hours: longer than any deadline, lease, watchdog and redelivery of the worlds."""
STATE: Final = frozenset({"get", "put", "all"})
"""What is done with documents; the Kubernetes API is asked for resources with a dot, a plural or a node's name."""
DOCUMENTS: Final = frozenset({"cluster", "drains"})
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
    "get cloud.google.com", "list replicationcontrollers", "list jobs", "get batch",
})  # fmt: skip
"""Reads that end no picture when they fail: lists of what only advises, and whether the cluster has such kinds."""


ABOUT_A_NODE: Final = frozenset({"get nodes", "patch nodes"})
"""Calls that name one node."""
SOFTENS: Final = FREES - {"publish drain", "publish release"} | {"publish let_go", "all waves"}
"""What undoing a soft taint rests on, besides documents."""
INFORMS: Final = frozenset({"all commitments", "put commitments", "list commitments"})
"""Without them figures are others, and every pass and every claim goes on."""


class FaultOfEbb(Exception):
    """What nobody foresaw: no failure that a port may raise."""


class Ending(StrEnum):
    SILENCE = "gets no answer"
    REFUSAL = "is refused"
    CONFLICT = "finds the object changed"
    FAULT = "meets a fault of Ebb"


_ENDINGS: Final[Mapping[Ending, Callable[[str], Exception]]] = {
    Ending.SILENCE: lambda what: Retryable(what, "500, as for some time now"),
    Ending.REFUSAL: lambda what: Terminal(what, "422, as for some time now"),
    Ending.CONFLICT: lambda what: Stale(f"{what}: somebody else wrote it, as for some time now"),
    Ending.FAULT: FaultOfEbb,
}


def kind_of(what: str) -> str:
    return " ".join(what.split()[:2])


@dataclass(frozen=True)
class Outage:
    """Calls of one kind fail, or are only slow, for so long."""

    what: str
    """The first two words of a call: verb and resource."""
    seconds: float = LONG
    slow: float = 0.0
    fails: bool = True
    ending: Ending = Ending.SILENCE
    node: str = ""
    """The only node whose calls it strikes; empty if all are."""
    begin: float = float("inf")
    """When it begins, by the world's clock."""

    @property
    def end(self) -> float:
        return self.begin + self.seconds

    def strikes_at(self, now: float) -> bool:
        return self.begin <= now < self.end

    def strikes(self, what: str) -> bool:
        return kind_of(what) == self.what and (not self.node or self.node in what.split())

    def failure(self, what: str) -> Exception:
        return _ENDINGS[self.ending](what)

    def keeps_from(self, needed: frozenset[str]) -> bool:
        """Whether it keeps Ebb from that: a slow call does not, and nothing goes without documents."""
        verb, _, resource = self.what.partition(" ")
        return self.fails and not self.node and (self.what in needed or (verb in STATE and resource in DOCUMENTS))

    def __str__(self) -> str:
        how = self.ending.value if self.fails else f"takes {self.slow:g} s"
        return f"{self.what} {how} for {self.seconds / 60:g} min{self.node and f' ({self.node})'}"


@dataclass
class KeptFromUndoing:
    """Seconds for which no cordon, and no soft taint, could be undone, by node; under an empty name of all nodes."""

    cordons: dict[str, float] = field(default_factory=dict)
    soft_taints: dict[str, float] = field(default_factory=dict)

    def add(self, outage: Outage) -> None:
        for kept, needed in ((self.cordons, FREES), (self.soft_taints, SOFTENS)):
            if outage.keeps_from(needed) or outage.node:
                kept[outage.node] = kept.get(outage.node, 0.0) + outage.seconds
