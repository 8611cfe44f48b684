"""The drain's record under a lease, and the one result of a drain."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from shared.core.reasons import Outcome, Reason
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import DrainResult, Order
from shared.core.records.state import Lease
from shared.errors import Retryable, Unreadable
from shared.port_types import drain_key
from shared.ports import Clock, OrderBus, State

LEASE: Final = timedelta(seconds=30)
RENEW_BEFORE: Final = timedelta(seconds=20)
KEPT_FOR: Final = timedelta(days=30)


class Busy(Retryable):
    """Another step of this drain holds a living lease: the message comes again."""


class Overtaken(Exception):
    """The order is settled, or a later generation has begun: nothing is left to do for this message."""

    def __init__(self, record: DrainRecord) -> None:
        super().__init__(record.phase.value)
        self.record = record


class OtherNode(Exception):
    """The message names the id of a drain of another node: a forged or a mistyped order."""

    def __init__(self, record: DrainRecord) -> None:
        super().__init__(record.order.node)
        self.record = record


class StepTime:
    """The state's time, carried forward by the instance's own clock, and the step's soft deadline."""

    def __init__(self, read_at: datetime, clock: Clock, seconds: float) -> None:
        self._read_at, self._clock, self._seconds = read_at, clock, seconds
        self._begun = clock.monotonic()

    def now(self) -> datetime:
        return self._read_at + timedelta(seconds=self.taken())

    def taken(self) -> float:
        """Seconds since the step began."""
        return self._clock.monotonic() - self._begun

    def left(self) -> float:
        """Seconds until the soft deadline."""
        return self._seconds - self.taken()

    def rest(self, pause: timedelta) -> None:
        """Wait, but not past the soft deadline."""
        self._clock.sleep(max(0.0, min(pause.total_seconds(), self.left())))


class LeasedRecord:
    """One drain's record, its version and our lease on it."""

    def __init__(self, state: State, owner: str) -> None:
        self._state, self._owner = state, owner
        self._version: str | None = None
        self._record: DrainRecord | None = None

    @property
    def record(self) -> DrainRecord:
        if self._record is None:
            raise AssertionError("the record is used before it is opened")
        return self._record

    def open(self, order: Order, clock: Clock, seconds: float) -> StepTime:
        """Take the lease on an order's record, creating the record when it is new.

        Raises:
            Busy: another step lives.
            Overtaken: the drain has ended, or a later generation runs it.
            OtherNode: the drain of that id is of another node.
            Stale: somebody else opened it in this very moment.
        """
        found = self._state.get(drain_key(order.order_id))
        time = StepTime(found.read_at, clock, seconds)
        record = found.value or DrainRecord(order=order, node_uid=order.node_uid, begun_at=found.read_at)
        check_node(record, order)
        if record.phase is DrainPhase.SETTLED or record.generation > order.generation:
            raise Overtaken(record)
        if record.lease and record.lease.is_held(found.read_at) and record.lease.owner != self._owner:
            raise Busy("drain", f"another step of order {order.order_id} is at work until {record.lease.until}")
        self._version, self._record = found.version, record
        self._put(replace(record, generation=order.generation, lease=self._lease(found.read_at)), found.read_at)
        return time

    def seize(self, order_id: str) -> datetime:
        """Open a record for a release, whoever holds its lease.

        It only reads: of that step and us, whoever writes first makes the other's next write fail. So seize once, and
        judge by what was seized; what is seized anew may have changed since it was judged.

        Returns the state's time. Raises KeyError when there is no such record, or none that this version can read.
        """
        try:
            found = self._state.get(drain_key(order_id))
        except Unreadable as fault:
            raise KeyError(order_id) from fault
        if found.value is None:
            raise KeyError(order_id)
        self._version, self._record = found.version, found.value
        return found.read_at

    def write(self, now: datetime, **changes: Any) -> DrainRecord:
        """Write changes to the record and renew the lease. Raises Stale when we were overtaken."""
        self._put(replace(self.record, lease=self._lease(now), **changes), now)
        return self.record

    def remember(self, **changes: Any) -> None:
        """Change the record with its next write: what is worth no write of its own, and may be lost with its step."""
        self._record = replace(self.record, **changes)

    def renew(self, now: datetime) -> None:
        """Renew the lease when it is near its end. Raises Stale when we were overtaken."""
        lease = self.record.lease
        if lease is None or lease.until - now < RENEW_BEFORE:
            self.write(now)

    def close(self, now: datetime, **changes: Any) -> None:
        """Write the last changes of this step and give the lease up."""
        self._put(replace(self.record, lease=None, **changes), now)

    def settle(self, now: datetime, outcome: Outcome, why: Reason | None = None, detail: str = "", **more: Any) -> None:
        """Write how the drain ended, whoever saw it: the record's last change. `more` are further fields.

        Raises:
            Stale: we were overtaken.
        """
        word = why.value if why else ""
        self.close(now, phase=DrainPhase.SETTLED, outcome=outcome.value, why=word, detail=detail, **more)

    def amend(self, **changes: Any) -> None:
        """Write what a release has learnt of a drain that is over; when that ended stays as it is.

        Raises:
            Stale: somebody else has written it meanwhile.
        """
        amended = replace(self.record, **changes)
        self._version = self._state.put(drain_key(amended.order.order_id), amended, self._version)
        self._record = amended

    def _lease(self, now: datetime) -> Lease:
        return Lease(self._owner, now + LEASE)

    def _put(self, record: DrainRecord, now: datetime) -> None:
        dated = replace(record, updated_at=now, expire_at=now + KEPT_FOR)
        self._version = self._state.put(drain_key(record.order.order_id), dated, self._version)
        self._record = dated


def check_node(record: DrainRecord, order: Order) -> None:
    """Raise OtherNode where the order's node is not that of the record."""
    uids = {record.node_uid, order.node_uid} - {""}
    if record.order.node != order.node or len(uids) > 1:
        raise OtherNode(record)


LogResult = Callable[..., None]


def report_result(log_event: LogResult, orders: OrderBus, result: DrainResult, message: str, **fields: object) -> None:
    """Log the end of a drain, and report it on the results topic; `fields` are for the log alone."""
    log_event("drain_result", message, outcome=result.outcome.value, reason=result.why, detail=result.detail, **fields)
    orders.report(result)
