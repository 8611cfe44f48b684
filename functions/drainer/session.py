"""What one drain step works with: the ports, the settings, the order, its record, its time and the policy.

The policy is read again each time; where it is missing, a drain that has begun goes on.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Self

from shared.core.cluster.node import Node
from shared.core.draining.steps import log_fields, stats_of
from shared.core.policy import Policy
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Order
from shared.errors import BadPolicy, EbbError, Retryable
from shared.ports import Ports
from shared.store.drain_record import LeasedRecord, StepTime


class NodeAction(StrEnum):
    """What is done to a node."""

    CORDON = "cordon"
    DRAIN = "drain"
    UNCORDON = "uncordon"


class ActionResult(StrEnum):
    """How far an action came; what has failed is an attempt without a success."""

    ATTEMPTED = "attempted"
    SUCCEEDED = "succeeded"


ADMITTED_WITHIN: Final = 60.0
"""Seconds that an admission may take: what it has read does not stand for longer (`claim.READS_STAND_FOR`)."""


@dataclass(frozen=True)
class DrainSession:
    """One step of one drain."""

    ports: Ports
    order: Order
    leased: LeasedRecord
    time: StepTime
    policy_hash: str = ""
    """Of the policy that was read last, for the log."""
    pool: str = ""
    """Of the node, once it or its claim was seen, for the log."""

    @property
    def record(self) -> DrainRecord:
        """The drain's record as this step holds it."""
        return self.leased.record

    def keep_admitting(self) -> None:
        """Renew the lease between two calls of an admission, as long as there is time: slow answers add up.

        Raises:
            Retryable: its time is over. Stale: we were overtaken.
        """
        self.check_admission()
        self.leased.renew(self.time.now())

    def check_admission(self) -> None:
        """Raise Retryable where the time of an admission is over."""
        if self.time.taken() > ADMITTED_WITHIN:
            raise Retryable("the admission", f"its calls have taken more than {ADMITTED_WITHIN:.0f} s")

    def with_pool(self, pool: str) -> Self:
        """Return the session that names this pool in its lines; an empty one changes nothing."""
        return replace(self, pool=pool or self.pool)

    def with_policy(self, policy: Policy | None) -> Self:
        """Return the session that names this policy in its lines; None changes nothing."""
        return replace(self, policy_hash=policy.hash) if policy else self

    def log_event(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
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

    def log_action(self, action: NodeAction, result: ActionResult, message: str, **fields: Any) -> None:
        """Log what is done to the node: first that it is tried, then that it was done (docs/acceptance.md row 103)."""
        self.log_event("drain_step", message, act=action.value, result=result.value, **fields)

    def stats(self, now: datetime) -> dict[str, Any]:
        """Return what the drain has taken so far, as fields of a line."""
        return log_fields(stats_of(self.record, now))

    def post_event(self, node: Node | None, reason: str, message: str) -> None:
        """Post an event on the node; an event that cannot be written is said in the log and harms nothing."""
        if node is None:
            return
        try:
            self.ports.cluster.note(node, reason, message)
        except EbbError as error:
            self.log_event("drain_step", f"The event {reason} could not be written: {error}", severity="WARNING")


def read_policy(session: DrainSession) -> Policy | None:
    """Return the policy, or None when it is missing or invalid, which is said in the log."""
    try:
        return session.ports.policy.read()
    except BadPolicy as fault:
        session.log_event("policy_invalid", str(fault), severity="ERROR")
        return None


def policy_in_reach(session: DrainSession) -> Policy | None:
    """A drain that has begun does not hang on the policy's bucket: it ends by its claim's settings meanwhile."""
    try:
        return read_policy(session)
    except EbbError as fault:
        session.log_event("drain_step", f"The drain goes on as it was begun: {fault}", severity="WARNING")
        return None
