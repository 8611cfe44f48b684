"""The planner's door: one POST of Cloud Scheduler in, one pass, a JSON summary out.

Must not hold rules: it translates failures into answers and nothing else.
"""

import uuid
from dataclasses import replace
from functools import cache

import flask
from flask.typing import ResponseReturnValue
from shared.adapters.prices import load
from shared.wiring import planner_ports, settings_of_environment

from functions.planner.passing import Desk
from functions.planner.telling import Teller
from functions.planner.tick import Tick, tick
from shared.errors import EbbError, Retryable, Stale
from shared.log import trace_id
from shared.settings import Settings

SCHEDULE_HEADER = "X-CloudScheduler-ScheduleTime"


@cache
def _desk(settings: Settings) -> Desk:
    """One set of clients an instance: building them anew each tick would leak connections."""
    return Desk(planner_ports(settings), settings, load(), Teller(everything=settings.decision_log == "all"))


def answer(request: flask.Request) -> ResponseReturnValue:
    """Answer one tick: 200 with a summary, 503 when something did not answer, 500 when a person must mend it."""
    if request.method != "POST":
        return {"error": "Send a POST: one tick is one pass."}, 405
    desk = _desk(settings_of_environment())
    call = Tick(owner=uuid.uuid4().hex, schedule_time=request.headers.get(SCHEDULE_HEADER, ""))
    log = desk.ports.log.bind(run_id=call.run_id, trace=trace_id(request.headers))
    desk = replace(desk, ports=replace(desk.ports, log=log))
    try:
        return tick(desk, call), 200
    except (Retryable, Stale) as fault:
        desk.ports.log.event("run_summary", f"The pass ended early: {fault}", severity="WARNING", reason="unreachable")
        return {"error": str(fault), "run_id": call.run_id}, 503
    except EbbError as fault:
        desk.ports.log.event("run_summary", f"The pass cannot run: {fault}", severity="ERROR", reason="terminal")
        return {"error": str(fault), "run_id": call.run_id}, 500
