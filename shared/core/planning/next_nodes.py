"""Which nodes go next, as far as the policy steers scale-in: the rest of a pass's plan at rest, windows aside.

A pass searches for its plan at rest only where it has something to choose, and not behind a closed window. Whoever is
to steer the evening's scale-in has to know it before the night's window opens, and when nothing may go just now.
Must not take anything, and costs nothing where no policy steers.
"""

from collections.abc import Sequence

from shared.core.planning.at_rest import Searcher
from shared.core.planning.candidates import AssessedNode
from shared.core.planning.plan import AtRest
from shared.core.planning.removal_order import RemovalOrder
from shared.core.planning.selection import Selection
from shared.core.rules.counts import NodeCounts
from shared.core.rules.gates import is_only_paced, is_paced_or_shut
from shared.core.rules.situation import Situation


def next_nodes(
    situation: Situation,
    selection: Selection,
    rows: Sequence[AssessedNode],
    counts: NodeCounts,
    searcher: Searcher,
) -> tuple[str, ...]:
    """Return the names of the nodes that go after those taken, in the order of removal.

    `counts` are those before anything was taken.
    """
    steered = [pool for pool in situation.snapshot.nodes_by_pool if situation.policy.pool(pool).steer_scale_in]
    if not steered:
        return ()
    for each in selection.taken:
        counts = counts.with_claim(each.node)
    going = selection.simulation.announced.union(each.node.name for each in selection.taken)
    order = RemovalOrder(situation.policy, searcher.prices)
    left = sorted((each for each in rows if each.node.name not in going), key=order)
    plan = _made_already(selection, left, counts) or searcher.at_rest(
        situation, left, counts, selection.simulation, is_paced_or_shut
    )
    chosen = frozenset(plan.nodes)
    return tuple(each.node.name for each in left if each.node.pool in steered and each.node.name in chosen)


def _made_already(selection: Selection, left: Sequence[AssessedNode], counts: NodeCounts) -> AtRest | None:
    """Return the plan that the pass followed, unless a window keeps nodes out of it."""
    shut = any(
        is_paced_or_shut(counts, each.node, each.reason) and not is_only_paced(counts, each.node, each.reason)
        for each in left
        if each.is_candidate
    )
    return None if shut else selection.at_rest
