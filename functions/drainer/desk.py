"""What one drain step works with: the ports, the settings, the order, its ledger and its time.

Must not decide: it only saves every room of the drainer from passing five things along.
"""

from dataclasses import dataclass

from functions.drainer.ledger import Ledger, StepTime
from shared.core.orders import Order
from shared.core.reasons import Reason
from shared.core.snapshot import Node
from shared.errors import EbbError
from shared.ports import Ports


@dataclass
class Desk:
    """One step of one drain."""

    ports: Ports
    order: Order
    ledger: Ledger
    time: StepTime
    policy_hash: str = ""
    """Of the policy that was read last."""

    def tell(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        """Write one log line about this drain."""
        order = self.order
        self.ports.log.event(
            event,
            message,
            severity=severity,
            order_id=order.order_id,
            node=order.node,
            generation=order.generation,
            policy_hash=self.policy_hash,
            **fields,
        )

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
