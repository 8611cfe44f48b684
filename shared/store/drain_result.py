"""How a drain ended, told once: one log line and one message, whoever saw the end (docs/orders.md).

Must not decide how it ended, and must not write the drain's record: that is settled before.
"""

from collections.abc import Callable

from shared.core.records.orders import DrainResult
from shared.ports import OrderBus

LogResult = Callable[..., None]


def report_result(log_event: LogResult, orders: OrderBus, result: DrainResult, message: str, **fields: object) -> None:
    """Log the end of a drain, and report it on the results topic; `fields` are for the log alone."""
    log_event("drain_result", message, outcome=result.outcome.value, reason=result.why, detail=result.detail, **fields)
    orders.report(result)
