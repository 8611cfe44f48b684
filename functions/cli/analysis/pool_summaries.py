"""A plan by pool: how many nodes, how full they are, what they cost, how many of them go or could go.

Nodes that stand by or that Google manages are no part of it. Must not decide: all of it is counted from the plan.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from shared.core.cluster.resources import total
from shared.core.planning.plan import NodeDecision, Verdict

GOING: Final = frozenset({Verdict.ORDER, Verdict.WOULD_ORDER})


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool, or all of them where `pool` is None. Money is in micro-dollars per hour, ratios of all its nodes."""

    pool: str | None
    nodes: int
    cpu_ratio: Fraction | None
    memory_ratio: Fraction | None
    cost: int
    verdicts: Mapping[Verdict, int]
    """Only those that occur."""
    saving: int
    """By this pass's orders."""
    could_go: int
    could_save: int
    """Both of the nodes that could go at all; they include those of the orders."""
    rest_go: int
    rest_save: int
    """Both of the nodes that would be gone at rest."""


def pool_summaries(
    decisions: Sequence[NodeDecision], could_go: Collection[str] = (), at_rest: Collection[str] = ()
) -> tuple[PoolSummary, ...]:
    """Return one summary for each pool, by its name; a node outside any pool counts in the pool without a name.

    `could_go` and `at_rest` name the nodes that could go at all, and those that would be gone once all is at rest.
    """
    rows: dict[str, list[NodeDecision]] = {}
    for each in filter(_is_counted, decisions):
        rows.setdefault(each.pool, []).append(each)
    return tuple(_summary(pool, rows[pool], could_go, at_rest) for pool in sorted(rows))


def whole_cluster(
    decisions: Sequence[NodeDecision], could_go: Collection[str] = (), at_rest: Collection[str] = ()
) -> PoolSummary:
    """Return the same of all pools together."""
    return _summary(None, tuple(filter(_is_counted, decisions)), could_go, at_rest)


def _is_counted(decision: NodeDecision) -> bool:
    return not decision.outside


def _summary(
    pool: str | None, own: Sequence[NodeDecision], could_go: Collection[str], at_rest: Collection[str]
) -> PoolSummary:
    offered, asked = total(each.allocatable for each in own), total(each.requested for each in own)
    going, rest = ([each for each in own if each.name in names] for names in (could_go, at_rest))
    return PoolSummary(
        pool=pool,
        nodes=len(own),
        cpu_ratio=_ratio(asked.cpu, offered.cpu),
        memory_ratio=_ratio(asked.memory, offered.memory),
        cost=sum(each.cost for each in own),
        verdicts=Counter(each.verdict for each in own),
        saving=sum(each.cost for each in own if each.verdict in GOING),
        could_go=len(going),
        could_save=sum(each.cost for each in going),
        rest_go=len(rest),
        rest_save=sum(each.cost for each in rest),
    )


def _ratio(asked: int, offered: int) -> Fraction | None:
    return Fraction(asked, offered) if offered else None
