"""Is a node worth its evictions? What it saves a month against the pods that would have to move.

The mark of a node that is not keeps its time: prices and pods change. Must not look at what else could go.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from shared.core.planning.candidates import AssessedNode
from shared.core.planning.prices import MICRO, Prices, per_month
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.rules.situation import Situation


def with_savings(rows: Iterable[AssessedNode], situation: Situation, prices: Prices) -> tuple[AssessedNode, ...]:
    """Return the rows, those with a blocker more that save too little."""
    return tuple(_judged(each, situation, prices) for each in rows)


def _judged(assessed: AssessedNode, situation: Situation, prices: Prices) -> AssessedNode:
    least = situation.policy.pool(assessed.node.pool).minimum_saving
    if not least or assessed.reason is not DrainReason.UNDERUTILIZED:
        return assessed
    pods = len(situation.moving(assessed.node.name))
    saved = Fraction(per_month(prices.of(assessed.node).per_hour), MICRO * max(pods, 1))
    if saved >= least:
        return assessed
    detail = f"${float(saved):.2f} a month for each of {pods} pods, minimum ${float(least):g}"
    blocker = Blocker(Unremovable.SAVING_TOO_SMALL, detail=detail)
    return replace(assessed, blockers=(*assessed.blockers, blocker))
