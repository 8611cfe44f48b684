"""The drain's record under a lease, and the one result of a drain."""

from datetime import datetime, timedelta
from typing import Any, Final, Self

from msgspec.structs import replace

from shared import VERSION
from shared.core.reasons import Outcome, Reason, Refusal
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import DrainResult, Order
from shared.core.records.state import Lease
from shared.errors import EbbError, Retryable, Unreadable
from shared.ports import Clock, Ports, State, drain_key

LEASE: Final = timedelta(seconds=30)
RENEW_BEFORE: Final = timedelta(seconds=20)
KEPT_FOR: Final = timedelta(days=30)


class Busy(Retryable):
    """Another step of this drain holds a living lease: the message comes again."""


class Overtaken(Exception):
    """The order is settled, or a later generation has begun: nothing is left to do for this message."""

    def __init__(self, record: DrainRecord) -> None:
        self.refusal = Refusal.ALREADY_SETTLED if record.phase is DrainPhase.SETTLED else Refusal.OLD_GENERATION
        super().__init__(self.refusal.sentence)


class OtherNode(Exception):
    """The message names the id of a drain of another node: a forged or a mistyped order. It has that node's name."""


class StepTime:
    """The state's time, carried forward by the instance's own clock, and the step's soft deadline."""

    def __init__(self, read_at: datetime, clock: Clock, seconds: float) -> None:
        self._read_at, self._clock, self._seconds = read_at, clock, seconds
        self._begun = clock.monotonic()

    def now(self) -> datetime:
        return self._read_at + timedelta(seconds=self.seconds_taken())

    def seconds_taken(self) -> float:
        """Seconds since the step began."""
        return self._clock.monotonic() - self._begun

    def left(self) -> float:
        """Seconds until the soft deadline."""
        return self._seconds - self.seconds_taken()

    def rest(self, pause: timedelta) -> None:
        """Wait, but not past the soft deadline."""
        self._clock.sleep(max(0.0, min(pause.total_seconds(), self.left())))


class LeasedRecord:
    """One drain's record, its version, our lease on it, and the time of this step."""

    def __init__(self, state: State, owner: str, version: str | None, record: DrainRecord, time: StepTime) -> None:
        self._state, self._owner, self._version = state, owner, version
        self.record, self.time = record, time

    @classmethod
    def open(cls, state: State, clock: Clock, order: Order, owner: str, seconds: float) -> Self:
        """Take the lease on an order's record, a new one if need be, for a step of so many seconds.

        Raises Busy: another step lives. Overtaken: the drain has ended, or a later generation runs it. OtherNode: it is
        of another node. Stale: somebody else opened it in this very moment.
        """
        found = state.get(drain_key(order.order_id))
        record = found.value or DrainRecord(order=order, node_uid=order.node_uid, begun_at=found.read_at)
        check_node(record, order)
        if record.phase is DrainPhase.SETTLED or record.generation > order.generation:
            raise Overtaken(record)
        if record.lease and record.lease.is_held(found.read_at) and record.lease.owner != owner:
            raise Busy("drain", f"another step of order {order.order_id} is at work until {record.lease.until}")
        leased = cls(state, owner, found.version, record, StepTime(found.read_at, clock, seconds))
        leased.write(generation=order.generation)
        return leased

    @classmethod
    def seize(cls, state: State, clock: Clock, order_id: str, owner: str, seconds: float = 0.0) -> Self | None:
        """Open a record even if a step holds its lease; None when there is none that this version can read.

        It only reads: of that step and us, the first to write makes the other's next write fail. So seize once, and
        judge by what was seized; what is seized again may have changed since it was judged.
        """
        try:
            found = state.get(drain_key(order_id))
        except Unreadable:
            return None
        if found.value is None:
            return None
        return cls(state, owner, found.version, found.value, StepTime(found.read_at, clock, seconds))

    def write(self, **changes: Any) -> None:
        """Write changes to the record and renew the lease. Raises Stale when we were overtaken."""
        self._put(lease=Lease(self._owner, self.time.now() + LEASE), **changes)

    def remember(self, **changes: Any) -> None:
        """Change the record with its next write: what is worth no write of its own, and may be lost with its step."""
        self.record = replace(self.record, **changes)

    def renew(self) -> None:
        """Renew the lease when it is near its end. Raises Stale when we were overtaken."""
        lease = self.record.lease
        if lease is None or lease.until - self.time.now() < RENEW_BEFORE:
            self.write()

    def close(self, **changes: Any) -> None:
        """Write the last changes of this step and give the lease up. Raises Stale when we were overtaken."""
        self._put(lease=None, **changes)

    def settle(self, outcome: Outcome, why: Reason | None = None, detail: str = "", **more: Any) -> None:
        """Write how the drain ended, the record's last change; `more` are further fields. Raises Stale."""
        word = why.value if why else ""
        self.close(phase=DrainPhase.SETTLED, outcome=outcome.value, why=word, detail=detail, **more)

    def amend(self, **changes: Any) -> None:
        """Write what a release has learnt of a drain that is over; its end stays as it is. Raises Stale."""
        self._store(replace(self.record, **changes))

    def _put(self, **changes: Any) -> None:
        now = self.time.now()
        self._store(replace(self.record, updated_at=now, expire_at=now + KEPT_FOR, **changes))

    def _store(self, record: DrainRecord) -> None:
        self._version = self._state.put(drain_key(record.order.order_id), record, self._version)
        self.record = record


def check_node(record: DrainRecord, order: Order) -> None:
    """Raise OtherNode where the order's node is not that of the record."""
    uids = {record.node_uid, order.node_uid} - {""}
    if record.order.node != order.node or len(uids) > 1:
        raise OtherNode(record.order.node)


def report_result(ports: Ports, result: DrainResult, message: str, **fields: Any) -> None:
    """Log the end of a drain, and report it on the results topic; `fields` are for the log alone."""
    about: dict[str, Any] = {
        "order_id": result.order_id,
        "node": result.node,
        "outcome": result.outcome.value,
        "detail": result.detail,
        "version": VERSION,
    }
    ports.log.event("drain_result", message, reason=result.why, **about, **fields)
    try:
        ports.orders.report(result)
    except EbbError as fault:  # it costs a line: nothing of Ebb reads results, and no claim may wait for one
        message = f"The results topic did not take the result: {fault}"
        ports.log.event("drain_step", message, severity="WARNING", order_id=result.order_id, node=result.node)
