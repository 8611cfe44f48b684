"""The planner's entry point: one POST of Cloud Scheduler in, one pass, a JSON summary out.

A tick is taken once, under the planner's lease, and finished or left to the next. A repeated tick is answered as a
duplicate only if the first has finished or still lives (docs/decisions/claims.md). No rule of planning lives here.
"""

import dataclasses
import sys
import uuid
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Final

import flask
from flask.typing import ResponseReturnValue

from functions.planner import weekly
from functions.planner.lease import PlannerLease
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps, run_pass
from shared.adapters.process import with_log
from shared.core.planning.waves import second_pass_delay
from shared.errors import EbbError, Retryable, Stale
from shared.log import JsonLog, message_of_unforeseen, trace_id
from shared.ports import Log, Ports
from shared.settings import Settings
from shared.wiring import ports_of


@dataclass(frozen=True)
class Tick:
    """One call. `schedule_time` is the Scheduler's header; without it the call is its own run."""

    owner: str
    schedule_time: str = ""

    @property
    def run_id(self) -> str:
        return self.schedule_time or self.owner


def tick(deps: PlannerDeps, call: Tick) -> dict[str, Any]:
    """Run one pass and return its summary, or `{"duplicate": true}`. Raises Retryable, Stale, Terminal."""
    ports, length = deps.ports, timedelta(seconds=deps.settings.pass_seconds)
    lease = PlannerLease(ports.state, ports.clock, call.owner)
    try:
        if not lease.take(length, call.run_id):
            return {"duplicate": True, "run_id": call.run_id}
        summary = run_pass(deps, lease, call.run_id)
    except Exception:
        _release_lease(ports, lease)
        raise
    lease.end(finished=call.run_id)
    weekly.publish_due(ports, deps.settings)  # last: if it fails, the pass is complete all the same
    return summary


def summarize(deps: PlannerDeps, call: Tick) -> dict[str, Any]:
    """Publish the summaries that are due, and do nothing else. It takes no lease: no pass may wait for it."""
    return {"run_id": call.run_id, "weeks": list(weekly.publish_due(deps.ports, deps.settings))}


CALL_WITHIN_LEASE: Final = 60.0  # Seconds that the planner's lease outlives the call (terraform/sizes.tf).


def passes(deps: PlannerDeps, call: Tick) -> dict[str, Any]:
    """Run a pass, return its summary; if it orders and leaves nodes of a wave, run one more half-way to the next tick.

    By then its own drains have mostly freed their budget; a pass without orders waits for something else. Not for a
    call without a schedule, whose caller waits, nor if the second pass could meet the next tick or the end of the call.
    Raises as `tick`.
    """
    clock, interval = deps.ports.clock, deps.settings.interval_seconds
    begun = clock.monotonic()
    summary = tick(deps, call)
    took = clock.monotonic() - begun
    begins = second_pass_delay(timedelta(seconds=interval)).total_seconds()
    ends_within = min(interval, deps.settings.pass_seconds - CALL_WITHIN_LEASE)
    goes_on = bool(summary.get("orders") and summary.get("wave_left"))
    if call.schedule_time and goes_on and begins + 2 * took < ends_within:
        clock.sleep(begins - took)
        again = Tick(call.owner, f"{call.run_id}+")
        ports = dataclasses.replace(deps.ports, log=deps.ports.log.bind(run_id=again.run_id))
        tick(dataclasses.replace(deps, ports=ports), again)
    return summary


def _release_lease(ports: Ports, lease: PlannerLease) -> None:
    """Let go of the lease, so that the retry need not wait; what fails here lapses by itself."""
    try:
        lease.end()
    except EbbError as error:
        ports.log.event("run_summary", f"The planner's lease will lapse by itself: {error}", severity="WARNING")


ONLY_SUMMARY: Final = {"only": "weekly_summary"}  # The body of a call that asks for no pass.


@cache
def _deps(settings: Settings) -> PlannerDeps:
    """Return one set of clients for an instance: a set for each tick would leak connections."""
    return PlannerDeps(ports_of(settings), settings, PassLog(everything=settings.decision_log == "all"))


def answer(request: flask.Request, settings: Settings) -> ResponseReturnValue:
    """Answer one tick: 200 with a summary, 503 when something did not answer, 500 when a person must fix it."""
    if request.method != "POST":
        return {"error": "Send a POST: one tick is one pass."}, 405
    call = Tick(owner=uuid.uuid4().hex, schedule_time=request.headers.get("X-CloudScheduler-ScheduleTime", ""))
    log: Log = JsonLog(sys.stdout, settings.log_level, settings.cluster, settings.project)
    log = log.bind(run_id=call.run_id, trace=trace_id(dict(request.headers)))
    try:
        deps = _deps(settings)
        deps = dataclasses.replace(deps, ports=with_log(deps.ports, log, settings.log_level))
        act = summarize if request.get_json(silent=True) == ONLY_SUMMARY else passes
        return act(deps, call), 200
    except (Retryable, Stale) as fault:
        log.event("run_summary", f"The pass ended early: {fault}", severity="WARNING", reason="unreachable")
        return {"error": str(fault), "run_id": call.run_id}, 503
    except EbbError as fault:
        log.event("run_summary", f"The pass cannot run: {fault}", severity="ERROR", reason="terminal")
        return {"error": str(fault), "run_id": call.run_id}, 500
    except Exception as fault:  # noqa: BLE001 - the last resort: what nobody foresaw is reported, and the next tick goes on
        log.event("run_summary", message_of_unforeseen("The pass", fault), severity="ERROR", reason="unforeseen")
        return {"error": type(fault).__name__, "run_id": call.run_id}, 500
