"""The plan as JSON, for tools: an outside contract (docs/orders.md, plan JSON).

Every key is always there, null where there is nothing. Money is dollars rounded to four decimals, ratios are
shares of one, times are RFC 3339 with Z. Must not decide anything: it only says what the plan holds.
"""

from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction
from typing import Any, Final

from functions.cli.format import dollars, dollars_a_month, rfc3339
from shared.core.placement.assignments import Move
from shared.core.planning.plan import NodeDecision, Plan, PlannedOrder, Potential
from shared.core.reasons import Blocker

SCHEMA: Final = 1


def document(plan: Plan, potential: Potential | None = None) -> dict[str, Any]:
    """Return the plan as JSON values; `potential` is null unless it was asked for."""
    return {
        "schema": SCHEMA,
        "cluster": plan.cluster or None,
        "taken_at": rfc3339(plan.taken_at),
        "policy_hash": plan.policy_hash or None,
        "dry_run": plan.dry_run,
        "totals": _totals(plan),
        "nodes": [_node(each) for each in plan.decisions],
        "orders": [_order(each) for each in plan.orders],
        "potential": None if potential is None else _potential(potential),
    }


def _totals(plan: Plan) -> dict[str, Any]:
    """`marked`: nodes with a mark; `removable`: those of them whose mark is old enough by now."""
    marked = [each for each in plan.decisions if each.marked_since is not None]
    return {
        "nodes": len(plan.decisions),
        "pods": plan.pods,
        "orders": len(plan.orders),
        "marked": len(marked),
        "removable": sum(each.removable_at is not None and each.removable_at <= plan.taken_at for each in marked),
        "cost_per_hour": _money(dollars(plan.cost)),
        "saving_per_hour": _money(dollars(plan.saving)),
        "saving_per_month": _money(dollars_a_month(plan.saving)),
    }


def _node(decision: NodeDecision) -> dict[str, Any]:
    return {
        "name": decision.name,
        "pool": decision.pool or None,
        "verdict": decision.verdict.value,
        "reason": decision.reason or None,
        "blockers": [_blocker(each) for each in decision.blockers],
        "cpu_ratio": _ratio(decision.cpu_ratio),
        "memory_ratio": _ratio(decision.memory_ratio),
        "movable_cpu_ratio": _ratio(decision.movable_cpu_ratio),
        "movable_memory_ratio": _ratio(decision.movable_memory_ratio),
        "accelerator_ratio": _ratio(decision.accelerator_ratio),
        "score": _ratio(decision.score),
        "marked_since": _time(decision.marked_since),
        "removable_at": _time(decision.removable_at),
    }


def _blocker(blocker: Blocker) -> dict[str, Any]:
    return {"reason": blocker.reason.value, "object": blocker.object or None, "detail": blocker.detail or None}


def _order(order: PlannedOrder) -> dict[str, Any]:
    return {
        "node": order.node,
        "reason": order.reason.value,
        "saving_per_hour": _money(dollars(order.saving)),
        "moves": _moves(order.moves),
    }


def _potential(potential: Potential) -> dict[str, Any]:
    return {
        "nodes": list(potential.nodes),
        "saving_per_hour": _money(dollars(potential.saving)),
        "moves": _moves(potential.moves),
    }


def _moves(moves: Iterable[Move]) -> list[dict[str, str]]:
    return [{"pod": move.pod, "to": move.node} for move in moves]


def _money(amount: Fraction) -> float:
    return float(round(amount, 4))


def _ratio(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)


def _time(time: datetime | None) -> str | None:
    return None if time is None else rfc3339(time)
