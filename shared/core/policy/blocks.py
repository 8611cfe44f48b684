"""The blocks that pools and cluster have in common: budgets, schedules, rates, freezes; each one value.

Must not know where they stand.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from shared.core.policy.field import Field
from shared.core.policy.kinds import CRON, MOMENT, NODE_LIMIT, RATE_PERIOD, REASON, SEVERAL, WINDOW_DURATION, ZONE
from shared.core.policy.scalars import at
from shared.core.policy.shapes import Block, ListOf, SetOf
from shared.core.policy.values import DEFAULT_ZONE, Budget, Freeze, NamespaceRate, Rate, Schedule

Known = Mapping[str, Any]
MOST_BUDGETS: Final = 50
"""As in Karpenter's v1 API."""
_PERIOD: Final = Field("per", RATE_PERIOD, "The period; minutes or more, at most 7d.")
_ZONE: Final = Field(
    "timeZone", ZONE, "IANA time zone of the schedule. Default {default}, as in Karpenter.", DEFAULT_ZONE
)


def _both_or_neither(duration: object, known: Known) -> None:
    if "schedule" in known and (known["schedule"] is None) != (duration is None):
        raise ValueError("schedule and duration belong together; write both or neither")


def _after_start(end: datetime, known: Known) -> None:
    if {"from", "timeZone"} <= known.keys() and at(end, known["timeZone"]) <= at(known["from"], known["timeZone"]):
        raise ValueError("it does not lie after from; write a later date or time")


def _schedule(known: Known) -> Schedule:
    return Schedule(known["schedule"], known["duration"], known["timeZone"])


def _budget(known: Known) -> Budget:
    return Budget(known["nodes"], _schedule(known) if known["schedule"] else None, known["reasons"])


def _freeze(known: Known) -> Freeze:
    zone = known["timeZone"]
    return Freeze(at(known["from"], zone), at(known["to"], zone))


SCHEDULE: Final = Block(
    "ScheduleSection",
    "When something is active: a duration of elapsed time after each hit of a cron schedule.",
    (
        Field("schedule", CRON, "Cron schedule of five fields (minute, hour, day of month, month, weekday)."),
        Field("duration", WINDOW_DURATION, "How long it is active after each hit; minutes or more."),
        _ZONE,
    ),
    _schedule,
)
BUDGET: Final = Block(
    "BudgetSection",
    "How many nodes may be in disruption at once. The most restrictive active budget wins.",
    (
        Field("nodes", NODE_LIMIT, "Whole number of nodes, or a percentage of the pool, rounded up."),
        Field(
            "reasons",
            SetOf(REASON, MOST_BUDGETS),
            "Reasons it binds; default all. `drifted` and `unhealthy` are accepted for Karpenter's sake and never "
            "match.",
            [],
        ),
        Field(
            "schedule",
            CRON,
            "Cron schedule of five fields; together with duration, or neither: then always active.",
            None,
        ),
        Field(
            "duration",
            WINDOW_DURATION,
            "How long it is active after each hit; minutes or more.",
            None,
            written=_both_or_neither,
        ),
        _ZONE,
    ),
    _budget,
)
RATE: Final = Block(
    "RateSection",
    "How many drains may start within any period of that length: a speed, where budgets limit concurrency.",
    (Field("nodes", NODE_LIMIT, "Whole number of nodes, or a percentage, rounded up."), _PERIOD),
    lambda known: Rate(known["nodes"], known["per"]),
)
NAMESPACE_RATE: Final = Block(
    "NamespaceRateSection",
    "How many pods of one namespace drains may move within any period of that length, so that no team bears all.",
    (Field("pods", SEVERAL, "Whole number of pods; a node with more of one namespace never goes."), _PERIOD),
    lambda known: NamespaceRate(known["pods"], known["per"]),
)
FREEZE: Final = Block(
    "FreezeSection",
    "No drain starts in this time. It ends before `to`: to freeze 27 November alone, write to: 2026-11-28.",
    (
        Field("timeZone", ZONE, "IANA time zone of from and to. Default {default}.", DEFAULT_ZONE),
        Field("from", MOMENT, "Date (its first instant) or time."),
        Field("to", MOMENT, "Date (its first instant) or time; no longer frozen from then on.", check=_after_start),
    ),
    _freeze,
)
BUDGETS: Final = ListOf(BUDGET, MOST_BUDGETS)
WINDOWS: Final = ListOf(SCHEDULE, MOST_BUDGETS)
