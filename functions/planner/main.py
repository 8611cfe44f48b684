"""The planner's entry point: one POST of Cloud Scheduler in, one pass, a JSON summary out."""

import dataclasses
import sys
import uuid
from functools import cache
from typing import Final

import flask
from flask.typing import ResponseReturnValue

from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from functions.planner.tick import Tick, tick
from shared.errors import EbbError, Retryable, Stale
from shared.log import JsonLog, trace_id, unforeseen
from shared.ports import Log
from shared.settings import Settings
from shared.timed_calls import with_log
from shared.wiring import ports_of

SCHEDULE_HEADER: Final = "X-CloudScheduler-ScheduleTime"


@cache
def _deps(settings: Settings) -> PlannerDeps:
    """One set of clients an instance: building them anew each tick would leak connections."""
    return PlannerDeps(ports_of(settings), settings, PassLog(everything=settings.decision_log == "all"))


def answer(request: flask.Request, settings: Settings) -> ResponseReturnValue:
    """Answer one tick: 200 with a summary, 503 when something did not answer, 500 when a person must fix it."""
    if request.method != "POST":
        return {"error": "Send a POST: one tick is one pass."}, 405
    call = Tick(owner=uuid.uuid4().hex, schedule_time=request.headers.get(SCHEDULE_HEADER, ""))
    log: Log = JsonLog(sys.stdout, settings.log_level, settings.cluster, settings.project)
    log = log.bind(run_id=call.run_id, trace=trace_id(dict(request.headers)))
    try:
        deps = _deps(settings)
        return tick(dataclasses.replace(deps, ports=with_log(deps.ports, log, settings.log_level)), call), 200
    except (Retryable, Stale) as fault:
        log.event("run_summary", f"The pass ended early: {fault}", severity="WARNING", reason="unreachable")
        return {"error": str(fault), "run_id": call.run_id}, 503
    except EbbError as fault:
        log.event("run_summary", f"The pass cannot run: {fault}", severity="ERROR", reason="terminal")
        return {"error": str(fault), "run_id": call.run_id}, 500
    except Exception as fault:  # noqa: BLE001 - the last resort: what nobody foresaw is said, and the next tick goes on
        log.event("run_summary", unforeseen("The pass", fault), severity="ERROR", reason="unforeseen")
        return {"error": type(fault).__name__, "run_id": call.run_id}, 500
