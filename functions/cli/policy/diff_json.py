"""A change of policy as JSON (docs/orders.md, policy diff JSON): an outside contract."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import Any, Final

from functions.cli.output.format import rfc3339
from functions.cli.plan.scenarios import scenario_documents
from functions.cli.policy.diff import PolicyChange, PolicyDiff
from functions.cli.policy.real_drains import RealDrains

SCHEMA: Final = 1


def document(found: PolicyDiff) -> dict[str, Any]:
    """Return what differs as JSON values; the scenarios are empty if no cluster was named, or it is not whole."""
    impact = found.impact
    ladders = [scenario_documents(scenarios) for scenarios in impact.scenarios] if impact else []
    return {
        "schema": SCHEMA,
        "cluster": (impact.before.cluster or None) if impact else None,
        "taken_at": rfc3339(impact.before.taken_at) if impact else None,
        "drains": {
            "change": found.drains.change.value,
            "sentence": found.drains.sentence,
            "before": _drains(found.drains.before),
            "after": _drains(found.drains.after),
        },
        "settings": _changes(found.settings, "setting"),
        "verdicts": _changes(found.verdicts, "node"),
        "ladder": dict(zip_longest(("before", "after"), ladders, fillvalue=[])),
    }


def _drains(drains: RealDrains) -> dict[str, Any]:
    """Return the real drains of one policy; all figures are null where they are unknown."""
    is_known = drains.begins is not None
    return {
        "off": drains.off or None,
        "nodes": drains.nodes if is_known else None,
        "from": rfc3339(drains.first) if drains.first else None,
        "most_in_an_hour": drains.most_in_an_hour if is_known else None,
        "is_rest": drains.is_rest if is_known else None,
    }


def _changes(changes: Iterable[PolicyChange], name: str) -> list[dict[str, str]]:
    place = "pool" if name == "node" else "where"
    return [{place: each.place, name: each.name, "before": each.old, "after": each.new} for each in changes]
