"""The drainer's entry point: one Pub/Sub push in, one step of one drain, "done" or "come again" out. No rules here."""

import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache
from http import HTTPStatus

import flask
from flask.typing import ResponseReturnValue

from functions.drainer import admit, finish
from functions.drainer.hold import hold
from functions.drainer.release import release
from functions.drainer.work import work
from shared.adapters.process import with_log
from shared.adapters.pubsub import PushMessage, unwrap
from shared.core.reasons import Outcome, Refusal
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Order, OrderKind, decode, quoted_value, result_of
from shared.errors import BadOrder, EbbError, Retryable, Stale, Terminal, Unreadable
from shared.log import JsonLog, message_of_unforeseen, trace_id
from shared.ports import Log, Ports
from shared.settings import Settings
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import LeasedRecord, OtherNode, Overtaken, report_result
from shared.wiring import ports_of


class PushReply(Enum):
    DONE = 204  # Nothing more to do for this message: done, refused, stale, old or malformed, each logged by name.
    AGAIN = 503


def receive(ports: Ports, settings: Settings, body: bytes, owner: str) -> PushReply:
    """Answer one push: `body` is the request's, `owner` names this call on the leases it takes."""
    order = _decode_or_reject(ports, settings, body)
    if order is None:
        return PushReply.DONE
    about = {"order_id": order.order_id, "node": order.node, "generation": order.generation, "policy_hash": ""}
    ports = replace(ports, log=ports.log.bind(**about))  # once: pool and policy are added when they are known
    try:
        if not _await_time(ports, settings, order):
            _log(ports, "The message will come again: its not_before lies ahead.", "INFO", "early")
            return PushReply.AGAIN
        _carry_out(ports, settings, order, owner)
    except OtherNode as fault:
        _refuse_other_node(ports, order, fault)
    except (Retryable, Stale) as fault:
        _log(ports, f"The message will come again: {fault}", "WARNING", type(fault).__name__.lower())
        return PushReply.AGAIN
    except Terminal as fault:
        _log(ports, f"The drain cannot go on until this is fixed: {fault}", "ERROR", "terminal")
        return PushReply.AGAIN
    return PushReply.DONE


def _decode_or_reject(ports: Ports, settings: Settings, body: bytes) -> Order | None:
    message: PushMessage | None = None
    try:
        message = unwrap(body)
        order = decode(message.data, settings.cluster, message.message_id, message.published_at)
    except BadOrder as fault:
        _reject(ports, body, message, str(fault), Refusal.MALFORMED)
        return None
    if order.cluster != settings.cluster:
        why = f"cluster: {quoted_value(order.cluster)} is not {settings.cluster!r}; publish to that cluster's topic."
        _reject(ports, body, message, why, Refusal.OTHER_CLUSTER)
        return None
    return order


def _reject(ports: Ports, body: bytes, message: PushMessage | None, why: str, refusal: Refusal) -> None:
    """Keep and log the message with the reason; a rejected topic that fails is logged, and nothing is repeated."""
    data = message.data if message else body
    attributes: Mapping[str, str] = message.attributes if message else {}
    message_id = message.message_id if message else ""
    ports.log.event(
        "message_rejected", f"{refusal.sentence} {why}", severity="ERROR", reason=refusal.value, message_id=message_id
    )
    try:
        ports.orders.reject(data, attributes, why)
    except EbbError as error:
        ports.log.event("message_rejected", f"It could not be kept: {error}", severity="ERROR", message_id=message_id)


def _await_time(ports: Ports, settings: Settings, order: Order) -> bool:
    """Wait for the order's time, at most a step's length, and return whether it has come. Pub/Sub repeats too late."""
    if order.not_before is None:
        return True
    ahead = (order.not_before - read_cluster(ports.state)[2]).total_seconds()
    ports.clock.sleep(min(max(ahead, 0.0), settings.step_seconds))
    return ahead <= settings.step_seconds


def _carry_out(ports: Ports, settings: Settings, order: Order, owner: str) -> None:
    if order.kind is not OrderKind.DRAIN:
        _carry_out_in_time(ports, settings, order)
        return
    try:
        leased = LeasedRecord.open(ports.state, ports.clock, order, owner, settings.step_seconds)
    except Overtaken as late:
        _log(ports, str(late), "INFO", late.refusal.value)
        return
    except Unreadable as fault:
        _forget(ports, order, fault)
        return
    try:
        _step(ports, leased, order)
    except Exception:
        _give_lease_up(ports, leased)
        raise


def _carry_out_in_time(ports: Ports, settings: Settings, order: Order) -> None:
    """Carry out a release or an order of a wave; drop what has expired: a pass orders again what is still missing."""
    if read_cluster(ports.state)[2] >= order.expires_at:
        message = f"Dropped: the {order.kind.value} expired at {order.expires_at:%H:%M:%S} UTC."
        _log(ports, message, "WARNING", Refusal.EXPIRED.value)
    elif order.kind is OrderKind.RELEASE:
        release(ports, order, settings.step_seconds)
    else:
        hold(ports, order, settings.step_seconds)


def _refuse_other_node(ports: Ports, order: Order, fault: OtherNode) -> None:
    refusal = Refusal.OTHER_NODE
    result = result_of(order, Outcome.REFUSED, refusal, str(fault))
    report_result(ports, result, f"{refusal.sentence} ({fault})")


def _forget(ports: Ports, order: Order, fault: Unreadable) -> None:
    """Forget an order whose record cannot be read. Raises Unreadable if its claim stands: healing ends that first."""
    if read_cluster(ports.state)[0].claim_of(order.order_id) is not None:
        raise fault
    _log(ports, f"The order is forgotten: {fault}", "ERROR", "unreadable")


def _step(ports: Ports, leased: LeasedRecord, order: Order) -> None:
    """Do the part of the drain that its phase asks for; what is not finished goes on in a new message."""
    phase = leased.record.phase
    if phase is DrainPhase.ACCEPTED and not admit.admit(ports, leased, order):
        return
    if phase is DrainPhase.HALTING:
        finish.resume(ports, leased)
        return
    work(ports, leased)


def _give_lease_up(ports: Ports, leased: LeasedRecord) -> None:
    """Give the lease up after a fault, so that the repeated message need not wait for it to lapse."""
    record = leased.record
    if record.lease is None or record.phase is DrainPhase.SETTLED:
        return
    try:
        leased.close()
    except Stale:
        return  # another writer has the record now: another step, a release, or the pass that saw the node gone
    except EbbError as error:
        message = f"The lease will lapse by itself: {error}"
        ports.log.event("drain_step", message, severity="WARNING")


def _log(ports: Ports, message: str, severity: str, reason: str) -> None:
    ports.log.event("drain_step", message, severity=severity, reason=reason)


@cache
def _ports(settings: Settings) -> Ports:
    """Return one set of clients for an instance: a set for each message would leak connections."""
    return ports_of(settings)


def answer(request: flask.Request, settings: Settings) -> ResponseReturnValue:
    """Answer one push envelope; while the instance cannot be set up, every message comes again."""
    if request.method != "POST":
        return {"error": "Send a Pub/Sub push envelope by POST."}, 405
    log: Log = JsonLog(sys.stdout, settings.log_level, settings.cluster, settings.project)
    log = log.bind(trace=trace_id(dict(request.headers)))
    try:
        ports = _set_up(settings, log)
        reply = receive(ports, settings, request.get_data(), uuid.uuid4().hex) if ports else PushReply.AGAIN
    except Exception as fault:  # noqa: BLE001 - the last resort: it is logged, and the message comes again
        log.event("drain_step", message_of_unforeseen("The step", fault), severity="ERROR", reason="unforeseen")
        return "", HTTPStatus.INTERNAL_SERVER_ERROR
    return "", reply.value


def _set_up(settings: Settings, log: Log) -> Ports | None:
    """Return the ports of this call; None if the instance cannot be set up, which is logged."""
    try:
        return with_log(_ports(settings), log, settings.log_level)
    except Retryable as fault:
        log.event("drain_step", f"The message will come again: {fault}", severity="WARNING", reason="retryable")
    except EbbError as fault:
        log.event("drain_step", f"The drainer cannot start: {fault}", severity="ERROR", reason="terminal")
    return None
