"""The nodes of a plan as they are shown: each with its sentences and blockers, and in groups by verdict.

Must not decide anything, and must not know the terminal or a format.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from functions.cli.plan import sentences
from functions.cli.remedies import REMEDIES
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Verdict
from shared.core.reasons import Blocker

GROUPS: Final = (Verdict.ORDER, Verdict.WOULD_ORDER, Verdict.WAITING, Verdict.IN_FLIGHT, Verdict.KEEP)


@dataclass(frozen=True, slots=True)
class BlockerView:
    """One thing in a node's way: its reason's word and sentence, what it is about, what can be done about it.

    `message_id` is the cluster autoscaler's, by which Google's documentation has it; empty where it has none.
    """

    reason: str
    sentence: str
    message_id: str
    object: str
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node. `about` says what stands in its way, the longest wording first; `when` is when it may go."""

    decision: NodeDecision
    sentence: str
    """That of its reason; empty where the reason is an order's id."""
    blockers: tuple[BlockerView, ...]
    reason: str
    """The word that names the verdict; of a node that a pod keeps the pod's own, with what it is of."""
    about: tuple[str, ...]
    when: str
    could_go: bool
    order: PlannedOrder | None

    @property
    def name(self) -> str:
        return self.decision.name

    @property
    def verdict(self) -> str:
        return sentences.VERDICTS[self.decision.verdict]


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """The nodes of one verdict."""

    verdict: Verdict
    nodes: tuple[NodeView, ...]

    @property
    def title(self) -> str:
        return f"{sentences.VERDICTS[self.verdict]} ({len(self.nodes):,})"


def node_views(plan: Plan, could_go: frozenset[str]) -> tuple[NodeView, ...]:
    """Return the nodes of a plan as it has them; `could_go` are those that could all go together."""
    orders = {order.node: order for order in plan.orders}
    return tuple(
        _node(each, plan.taken_at, orders.get(each.name), could_go=each.name in could_go) for each in plan.decisions
    )


def _node(decision: NodeDecision, now: datetime, order: PlannedOrder | None, *, could_go: bool) -> NodeView:
    return NodeView(
        decision,
        sentence=sentences.of_reason(decision.reason, decision.blockers),
        blockers=tuple(map(blocker_view, decision.blockers)),
        reason=sentences.reason_of(decision),
        about=sentences.about(decision.blockers),
        when=sentences.when(decision, now, order.saving if order else 0),
        could_go=could_go,
        order=order,
    )


def blocker_view(blocker: Blocker) -> BlockerView:
    """Return a blocker with its sentence and remedy."""
    reason = blocker.reason
    remedy = REMEDIES.get(reason, "")
    return BlockerView(reason.value, reason.sentence, reason.message_id, blocker.object, blocker.detail, remedy)


def verdict_groups(nodes: Iterable[NodeView], orders: Sequence[PlannedOrder]) -> tuple[VerdictGroup, ...]:
    """Return the verdicts that occur, each with its nodes: orders as they were taken, the others sorted."""
    taken = {order.node: number for number, order in enumerate(orders)}
    rows: dict[Verdict, list[NodeView]] = {}
    for node in sorted(nodes, key=lambda each: (taken.get(each.name, len(taken)), *_place(each.decision))):
        rows.setdefault(node.decision.verdict, []).append(node)
    return tuple(VerdictGroup(verdict, tuple(rows[verdict])) for verdict in GROUPS if verdict in rows)


def _place(decision: NodeDecision) -> tuple[str, ...]:
    due = decision.removable_at.isoformat() if decision.removable_at else ""
    if decision.verdict is Verdict.WAITING:
        return (due, decision.pool, decision.name)
    return (decision.pool, decision.reason, decision.name)
