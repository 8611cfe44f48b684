"""`ebb why-not --output json`: the changes with keys that tools may rely on. Money is dollars an hour, four decimals.

Must not leave a key out where there is nothing to say.
"""

from fractions import Fraction
from typing import Any, Final

from functions.cli.format import dollars
from functions.cli.why_not.how import how
from shared.core.planning.lifting import Subject
from shared.core.planning.subjects import Held
from shared.core.planning.why_not import Freed, WhyNot

SCHEMA: Final = 1


def document(found: WhyNot, cluster: str) -> dict[str, Any]:
    """Return what json.dumps takes; changes that were tried come with what they free, the most money first."""
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "at_rest": {"nodes": found.nodes, "saving_per_hour": _money(dollars(found.saving))},
        "changes": [_change(each) for each in found.freed],
        "not_tried": [_held(each) for each in found.left],
    }


def _change(freed: Freed) -> dict[str, Any]:
    return {
        **_held(freed.held),
        "frees_nodes": freed.nodes,
        "frees_per_hour": _money(dollars(freed.saving)),
        "how": how(freed.subject),
    }


def _held(held: Held) -> dict[str, Any]:
    return {**_subject(held.subject), "nodes": list(held.nodes), "holds_per_hour": _money(dollars(held.cost))}


def _subject(subject: Subject) -> dict[str, Any]:
    return {"reason": subject.reason.value, "object": subject.object or None, "detail": subject.detail or None}


def _money(amount: Fraction) -> float:
    return float(round(amount, 4))
