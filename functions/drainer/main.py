"""The drainer's entry point: one Pub/Sub push in, one step of one drain, an acknowledgement or "come again" out."""

import sys
import uuid
from functools import cache
from http import HTTPStatus

import flask
from flask.typing import ResponseReturnValue

from functions.drainer.receive import PushReply, receive
from shared.errors import EbbError, Retryable
from shared.log import JsonLog, trace_id, unforeseen
from shared.ports import Log, Ports
from shared.settings import Settings
from shared.timed_calls import with_log
from shared.wiring import ports_of


@cache
def _ports(settings: Settings) -> Ports:
    """One set of clients an instance: building them anew for each message would leak connections."""
    return ports_of(settings)


def answer(request: flask.Request, settings: Settings) -> ResponseReturnValue:
    """Answer one push envelope; while the instance cannot be set up, every message comes again."""
    if request.method != "POST":
        return {"error": "Send a Pub/Sub push envelope by POST."}, 405
    log: Log = JsonLog(sys.stdout, settings.log_level, settings.cluster, settings.project)
    log = log.bind(trace=trace_id(dict(request.headers)))
    try:
        ports = with_log(_ports(settings), log, settings.log_level)
    except Retryable as fault:
        log.event("drain_step", f"The message will come again: {fault}", severity="WARNING", reason="retryable")
        return "", PushReply.AGAIN.value
    except EbbError as fault:
        log.event("drain_step", f"The drainer cannot start: {fault}", severity="ERROR", reason="terminal")
        return "", PushReply.AGAIN.value
    except Exception as fault:  # noqa: BLE001 - the last resort
        return _unforeseen(log, fault)
    try:
        return "", receive(ports, settings, request.get_data(), uuid.uuid4().hex).value
    except Exception as fault:  # noqa: BLE001 - the last resort: what nobody foresaw is said, and the message comes again
        return _unforeseen(log, fault)


def _unforeseen(log: Log, fault: Exception) -> ResponseReturnValue:
    log.event("drain_step", unforeseen("The step", fault), severity="ERROR", reason="unforeseen")
    return "", HTTPStatus.INTERNAL_SERVER_ERROR
