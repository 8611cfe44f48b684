"""The ladder as JSON: a part of the plan's document (docs/orders.md, plan JSON). Must not decide anything."""

from collections.abc import Mapping
from typing import Any

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, Rung
from functions.cli.format import dollars_a_month, rfc3339
from shared.core.reasons import Reason


def rungs(ladder: Ladder) -> list[dict[str, Any]]:
    """Return a value for each rung, in order; every key is always there."""
    return [_rung(step, ladder) for step in ladder.steps]


def _rung(step: LadderStep, ladder: Ladder) -> dict[str, Any]:
    is_rest = step.rung is Rung.POLICY_AT_REST
    return {
        "rung": step.rung.value,
        "wish": step.wish or None,
        "about": step.about or None,
        "nodes": step.nodes,
        "cost_per_month": float(round(dollars_a_month(step.cost), 2)),
        "evictions": step.evictions,
        "removed": step.gone,
        "is_rest": step.is_rest,
        "by": rfc3339(ladder.by) if is_rest and ladder.by else None,
        "held_up": _counted("seconds", ladder.held_up) if is_rest else [],
        "never": _counted("nodes", ladder.never) if is_rest else [],
    }


def _counted(unit: str, counts: Mapping[Reason, int]) -> list[dict[str, Any]]:
    """Return the reasons, those that count most first."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0].value))
    return [{"reason": reason.value, unit: number} for reason, number in most]
