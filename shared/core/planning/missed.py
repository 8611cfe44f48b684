"""Savings that a pass has seen and not taken: what nodes cost that could be spared, by the word that keeps them.

Counted are the nodes that the plan at rest takes, which is proved, and those that are full enough to stay by no limit
and are kept by something other than room: a pod, a budget, time. A node whose pods find no other place is no saving.
The words are those of the decisions, so that metric, ladder, `why-not` and log say the same. Must not decide.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reason_groups import GROUP_OF, ReasonGroup
from shared.core.reasons import Unremovable

_STAY: Final = frozenset({Verdict.KEEP, Verdict.WAITING})
_BY_POD: Final = Unremovable.BLOCKED_BY_POD.value


@dataclass(frozen=True, slots=True)
class MissedSaving:
    """What one word keeps in one pool: so many nodes, which cost so many micro-dollars an hour."""

    pool: str
    reason: str
    """The first thing that keeps the nodes; the pod's own word where it is a pod."""
    nodes: int
    per_hour: int


def missed_savings(plan: Plan) -> tuple[MissedSaving, ...]:
    """Return what each word keeps, by pool and word; what a pass of a dry run would order is missed by no word."""
    proved = frozenset(plan.at_rest.nodes) if plan.at_rest else frozenset()
    missed = [each for each in plan.decisions if each.verdict in _STAY and _is_seen(each, proved)]
    nodes: Counter[tuple[str, str]] = Counter()
    costs: Counter[tuple[str, str]] = Counter()
    for each in missed:
        key = (each.pool, _word(each))
        nodes[key] += 1
        costs[key] += each.cost
    return tuple(MissedSaving(*key, nodes[key], costs[key]) for key in sorted(nodes))


def _is_seen(decision: NodeDecision, proved: frozenset[str]) -> bool:
    if decision.name in proved:
        return True
    return decision.underutilized and GROUP_OF.get(decision.reason) is not ReasonGroup.ROOM


def _word(decision: NodeDecision) -> str:
    own = (each.reason.value for each in decision.blockers if each.reason.value != _BY_POD)
    return next(own, decision.reason) if decision.reason == _BY_POD else decision.reason
