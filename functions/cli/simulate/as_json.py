"""`ebb simulate --output json`: every run with keys that tools may rely on, and the nodes over time.

Money is dollars of the whole stretch, four decimals; times are seconds. Must not leave a key out.
"""

from dataclasses import fields
from fractions import Fraction
from typing import Any, Final

from functions.cli.format import rfc3339
from functions.cli.simulate.view import DaysView, PlayedDay
from shared.core.planning.prices import MICRO

SCHEMA: Final = 1
_APART: Final = frozenset({"cost", "series", "hours", "passes", "planned"})


def document(view: DaysView) -> dict[str, Any]:
    """Return what json.dumps takes."""
    return {
        "schema": SCHEMA,
        "cluster": view.cluster or None,
        "begins": rfc3339(view.begins),
        "days": view.days,
        "runs": [_run(view, each) for each in view.runs],
    }


def _run(view: DaysView, run: PlayedDay) -> dict[str, Any]:
    outcome = run.outcome
    plain = {each.name: getattr(outcome, each.name) for each in fields(outcome) if each.name not in _APART}
    return {
        "name": run.name,
        "mean_nodes": round(outcome.mean_nodes, 4),
        **{key: round(value, 4) if isinstance(value, float) else value for key, value in plain.items()},
        "cost": _dollars(outcome.cost),
        "saved": round(float(view.saved(run)), 6),
        "series": [
            {"at": rfc3339(each.at), "nodes": each.nodes, "cost_per_hour": _dollars(each.cost), "waiting": each.waiting}
            for each in outcome.series
        ],
    }


def _dollars(micro: float) -> float:
    return float(round(Fraction(micro) / MICRO, 4))
