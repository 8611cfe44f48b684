"""`ebb why-not --output json`: the changes with keys that tools may rely on. Money is dollars an hour, four decimals.

Must not leave a key out where there is nothing to say.
"""

from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.ladder import PolicyAtRest
from functions.cli.analysis.lifting import Subject
from functions.cli.analysis.what_if import Freed, Held, WhyNot
from functions.cli.format import dollars, dollars_a_month, rfc3339
from functions.cli.why_not.how import how

SCHEMA: Final = 1


def document(found: WhyNot, cluster: str) -> dict[str, Any]:
    """Return what json.dumps takes; changes that were tried come with what they free, the most money first."""
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "at_rest": _at_rest(found.base),
        "changes": [_change(each) for each in found.freed],
        "hopeless": [_held(each) for each in found.hopeless],
        "passing": [_held(each) for each in found.passing],
        "not_tried": [_held(each) for each in found.left],
    }


def _at_rest(base: PolicyAtRest) -> dict[str, Any]:
    """Return the rung `policy_at_rest` of the ladder: what is gone until then, and what is left."""
    left, rest = base.rest.snapshot.nodes, base.rest
    return {
        "nodes": len(base.situation.snapshot.nodes) - len(left),
        "saving_per_hour": _money(dollars(base.saving)),
        "nodes_left": len(left),
        "cost_per_month": float(round(dollars_a_month(base.prices.of_all(left)), 2)),
        "by": rfc3339(rest.by) if rest.by else None,
        "is_rest": rest.is_rest,
    }


def _change(freed: Freed) -> dict[str, Any]:
    return {
        **_held(freed.held),
        "frees_nodes": freed.nodes,
        "frees_per_hour": _money(dollars(freed.saving)),
        "how": how(freed.subject),
        "is_rest": freed.is_rest,
    }


def _held(held: Held) -> dict[str, Any]:
    return {**_subject(held.subject), "nodes": list(held.nodes), "holds_per_hour": _money(dollars(held.cost))}


def _subject(subject: Subject) -> dict[str, Any]:
    return {"reason": subject.reason.value, "object": subject.object or None, "detail": subject.detail or None}


def _money(amount: Fraction) -> float:
    return float(round(amount, 4))
