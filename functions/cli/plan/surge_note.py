"""Which Deployments a plan would restart instead of evicting their only pods. Must not judge: `surges` does."""

from collections.abc import Iterator

from functions.cli.format import count, some
from shared.core.planning.plan import Plan
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of


def surge_note(situation: Situation, plan: Plan) -> Iterator[str]:
    """Yield a sentence where this pass's orders restart any."""
    nodes = (situation.snapshot.node_by_name[order.node] for order in plan.orders)
    found = {
        each.name
        for node in nodes
        for each in surges_of(situation.moving(node.name), situation.drain_context(node.pool))[0]
    }
    if found:
        which = f"{count(len(found), 'Deployment')} ({some(sorted(found))})"
        yield f"This pass would restart {which}, so that single replicas move without a gap instead of being evicted."
