"""One row a node, in the order in which a person reads: what goes, what waits, what is going, what stays.

Pure: a plan in, cells of text out. Must not know the terminal; `layout` fits the cells into it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.cli.format import clock, dollars_a_month, percent
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable

GROUPS: Final = (Verdict.ORDER, Verdict.WOULD_ORDER, Verdict.WAITING, Verdict.IN_FLIGHT, Verdict.KEEP)
TITLES: Final = {
    Verdict.ORDER: "order",
    Verdict.WOULD_ORDER: "would order",
    Verdict.WAITING: "waiting",
    Verdict.IN_FLIGHT: "in flight",
    Verdict.KEEP: "keep",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One node's cells. `about` says what stands in its way, the longest wording first."""

    node: str
    pool: str
    cpu: str
    memory: str
    verdict: str
    reason: str
    about: tuple[str, ...]
    when: str
    could_go: bool = False


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """The nodes of one verdict."""

    verdict: Verdict
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        return f"{TITLES[self.verdict]} ({len(self.rows):,})"


def groups(plan: Plan, could_go: frozenset[str] = frozenset()) -> tuple[VerdictGroup, ...]:
    """Return the verdicts that occur, each with its nodes: orders as they were taken, the others sorted."""
    turn = {order.node: number for number, order in enumerate(plan.orders)}
    savings = {order.node: order.saving for order in plan.orders}
    rows: dict[Verdict, list[Row]] = {}
    for decision in sorted(plan.decisions, key=lambda each: (turn.get(each.name, len(turn)), *_place(each))):
        row = _row(decision, plan.taken_at, savings.get(decision.name, 0), decision.name in could_go)
        rows.setdefault(decision.verdict, []).append(row)
    return tuple(VerdictGroup(verdict, tuple(rows[verdict])) for verdict in GROUPS if verdict in rows)


def _place(decision: NodeDecision) -> tuple[str, ...]:
    due = decision.removable_at.isoformat() if decision.removable_at else ""
    if decision.verdict is Verdict.WAITING:
        return (due, decision.pool, decision.name)
    return (decision.pool, decision.reason, decision.name)


def _row(decision: NodeDecision, now: datetime, saving: int, could_go: bool) -> Row:
    return Row(
        node=decision.name,
        pool=decision.pool or "-",
        cpu=percent(decision.cpu_ratio),
        memory=percent(decision.memory_ratio),
        verdict=TITLES[decision.verdict],
        reason=decision.reason,
        about=_about(decision.blockers),
        when=_when(decision, now, saving),
        could_go=could_go,
    )


def _when(decision: NodeDecision, now: datetime, saving: int) -> str:
    if decision.verdict in {Verdict.ORDER, Verdict.WOULD_ORDER}:
        return f"now ${round(dollars_a_month(saving)):,}/mo" if saving else "now"
    if decision.verdict is Verdict.WAITING and decision.removable_at is not None:
        return f"from {clock(decision.removable_at, now)}"
    if decision.marked_since is not None and decision.marked_since < now:
        return f"since {clock(decision.marked_since, now)}"
    return ""


def _about(blockers: Sequence[Blocker]) -> tuple[str, ...]:
    """Return wordings of what stands in the way, longest first, the empty one last."""
    named = of_pods(blockers) or tuple(blockers)
    if not named:
        return ("",)
    first, rest = named[0], len(named) - 1
    more = f"+{rest}" if rest else ""
    word = first.reason.value if isinstance(first.reason, PodBlock) else ""
    wordings = (
        _joined(word, first.object, first.detail, more),
        _joined(word, first.object, more),
        _joined(word, more),
        "",
    )
    return tuple(dict.fromkeys(wordings))


def of_pods(blockers: Sequence[Blocker]) -> tuple[Blocker, ...]:
    """Return what pods say, where that is what keeps the node: `blocked_by_pod` alone names no cause."""
    if not blockers or blockers[0].reason is not Unremovable.BLOCKED_BY_POD:
        return ()
    return tuple(each for each in blockers if isinstance(each.reason, PodBlock))


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
