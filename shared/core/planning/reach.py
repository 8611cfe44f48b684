"""How far a policy reaches on one picture: the plan at rest of all nodes, with the calendar and ages left out.

What is closed by a window, a freeze or a scheduled budget opens again, and what is young grows old: that is no answer
to why a node stays.
Must not take anything; it asks the same search as a pass does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from shared.core.placement.search import never
from shared.core.planning.at_rest import Searcher
from shared.core.planning.candidates import AssessedNode, assess_nodes
from shared.core.planning.counting import counts_and_excess
from shared.core.planning.prices import Prices
from shared.core.planning.removal_order import RemovalOrder
from shared.core.planning.savings import with_savings
from shared.core.planning.selection import planned_simulation
from shared.core.policy import Policy, PoolPolicy
from shared.core.rules.counts import NodeCounts
from shared.core.rules.situation import Situation

_NO_TIME: Final = timedelta(0)


@dataclass(frozen=True)
class Reach:
    """The nodes that would be gone, what they cost in micro-dollars per hour, and what it rests on."""

    situation: Situation
    rows: Sequence[AssessedNode]
    counts: NodeCounts
    nodes: tuple[str, ...]
    saving: int


def reach(situation: Situation, prices: Prices) -> Reach:
    """Return how far the policy reaches once all that only takes time has passed."""
    timeless = Situation(situation.snapshot, situation.state, without_calendar(situation.policy))
    rows = with_savings(assess_nodes(timeless), timeless, prices)
    counts, _ = counts_and_excess(timeless, rows)
    ordered = sorted(rows, key=RemovalOrder(timeless.policy, prices))
    found = Searcher(prices, never).at_rest(timeless, ordered, counts, planned_simulation(timeless))
    return Reach(timeless, rows, counts, found.nodes, found.saving)


def without_calendar(policy: Policy) -> Policy:
    """Return the policy without what time opens; an empty list of windows never opens, and stays."""
    return replace(
        policy,
        freezes=(),
        budgets=tuple(each for each in policy.budgets if each.schedule is None),
        pools={name: _timeless(pool) for name, pool in policy.pools.items()},
        other_pools=_timeless(policy.other_pools),
    )


def _timeless(pool: PoolPolicy) -> PoolPolicy:
    budgets = tuple(each for each in pool.budgets if each.schedule is None)
    windows = pool.windows if pool.windows == () else None
    return replace(pool, windows=windows, budgets=budgets, minimum_node_age=_NO_TIME, minimum_pod_age=_NO_TIME)
