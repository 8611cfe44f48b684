"""How a drain ended, as the results topic tells it: one form, whoever saw the end, and all keys always there.

Must not decide how a drain ends.
"""

from typing import Final

import msgspec

from shared.core.outcomes import Halt, Outcome
from shared.core.reasons import Reason
from shared.core.records.orders import Order


class DrainResult(msgspec.Struct, frozen=True, kw_only=True):
    """One message on the results topic. docs/orders.md explains each key."""

    order_id: str
    cluster: str
    node: str
    outcome: Outcome
    why: str = ""
    detail: str = ""
    dry_run: bool = False


_OUTCOMES: Final = {Halt.OVERRULED: Outcome.OVERRULED, Halt.RELEASED: Outcome.RELEASED, Halt.STALE: Outcome.STALE}


def outcome_of(why: Halt) -> Outcome:
    """Return how a drain that was given back has ended, whether or not its record still stands."""
    return _OUTCOMES.get(why, Outcome.GIVEN_BACK)


def result_of(order: Order, outcome: Outcome, why: Reason | None = None, detail: str = "") -> DrainResult:
    """Return the result of the drain that an order began, or that a release ended."""
    return DrainResult(
        order_id=order.order_id,
        cluster=order.cluster,
        node=order.node,
        outcome=outcome,
        why=why.value if why else "",
        detail=detail,
        dry_run=order.dry_run,
    )
