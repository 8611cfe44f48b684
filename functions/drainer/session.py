"""What one drain step works with: the ports, the settings, the order, its ledger and its time.

Must not decide: it only saves every room of the drainer from passing five things along.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from shared.core.cluster.snapshot import Node
from shared.core.draining.drain_stats import account, taken
from shared.core.reasons import Reason
from shared.core.records.orders import Order
from shared.errors import EbbError
from shared.ports import Ports
from shared.store.drain_record import Ledger, StepTime


class Act(StrEnum):
    """What is done to a node."""

    CORDON = "cordon"
    DRAIN = "drain"
    UNCORDON = "uncordon"


class Result(StrEnum):
    """How far an act came; what has failed is an attempt without a success."""

    ATTEMPTED = "attempted"
    SUCCEEDED = "succeeded"


@dataclass
class Desk:
    """One step of one drain."""

    ports: Ports
    order: Order
    ledger: Ledger
    time: StepTime
    policy_hash: str = ""
    """Of the policy that was read last."""
    pool: str = ""
    """Of the node, once it or its claim was seen."""

    def tell(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        """Write one log line about this drain."""
        order = self.order
        self.ports.log.event(
            event,
            message,
            severity=severity,
            order_id=order.order_id,
            node=order.node,
            pool=self.pool,
            generation=order.generation,
            policy_hash=self.policy_hash,
            **fields,
        )

    def act(self, act: Act, result: Result, message: str, **fields: Any) -> None:
        """Tell what is done to the node: first that it is tried, then that it was done (docs/acceptance.md row 103)."""
        self.tell("drain_step", message, act=act.value, result=result.value, **fields)

    def took(self, now: datetime) -> dict[str, Any]:
        """Return what the drain has taken so far, as fields of a line."""
        return taken(account(self.ledger.record, now))

    def note(self, node: Node | None, reason: str, message: str) -> None:
        """Write an event on the node; an event that cannot be written is said in the log and harms nothing."""
        if node is None:
            return
        try:
            self.ports.cluster.note(node, reason, message)
        except EbbError as error:
            self.tell("drain_step", f"The event {reason} could not be written: {error}", severity="WARNING")


def word(reason: Reason | None) -> str:
    return reason.value if reason else ""
