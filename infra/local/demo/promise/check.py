"""The promise as a table: reading it is reading what is promised (docs/decisions/promise.md). Must not print."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from infra.local.demo.promise import nodes, pods
from infra.local.demo.promise.evidence import Evidence


@dataclass(frozen=True)
class PromiseResult:
    """One promise: what it says, what it was looked for in, and each breach that was found."""

    promise: str
    looked_at: str
    breaches: tuple[str, ...]

    @property
    def kept(self) -> bool:
        return not self.breaches


def check(evidence: Evidence) -> tuple[PromiseResult, ...]:
    """Judge every promise. A record in which Ebb did nothing keeps none: it proves nothing."""
    return tuple(PromiseResult(row.promise, row.looked_at(evidence), tuple(row.breaches(evidence))) for row in _ROWS)


@dataclass(frozen=True)
class _Row:
    promise: str
    looked_at: Callable[[Evidence], str]
    breaches: Callable[[Evidence], Iterator[str]]


def _evictions(evidence: Evidence) -> str:
    return f"{len(pods.evictions(evidence))} evictions"


def _starts(evidence: Evidence) -> str:
    return f"{len(nodes.starts(evidence))} drains"


def _requests(evidence: Evidence) -> str:
    return f"{sum(entry['type'] == 'request' for entry in evidence.entries)} requests"


def _passes(evidence: Evidence) -> str:
    return f"{len(evidence.passes)} passes"


def _idle(evidence: Evidence) -> Iterator[str]:
    if not nodes.starts(evidence):
        yield "no drain began: the record proves nothing"
    if not pods.evictions(evidence):
        yield "no pod was evicted: the record proves nothing"
    if not evidence.passes:
        yield "the planner made no pass: the record proves nothing"


_ROWS: Final = (
    _Row("Ebb was at work", _starts, _idle),
    _Row("No PodDisruptionBudget was broken", _evictions, pods.broken_budgets),
    _Row("No budget, ceiling, rate or minimum was exceeded", _starts, nodes.exceeded_limits),
    _Row("No pod was left without a place", _evictions, pods.left_without_place),
    _Row("No cordon stands for nothing", _starts, nodes.cordons_for_nothing),
    _Row("Only its own taint and cordon were touched", _starts, nodes.meddling),
    _Row("Ebb deleted no pod and no node", _requests, pods.deleted_by_ebb),
    _Row("Each node has one verdict with its reason", _passes, nodes.unexplained),
)
