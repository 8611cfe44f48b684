"""What every section of the policy shares, and the small sections that pools and cluster have in common.

Must not compute effective values.
"""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from shared.core.policy_document.scalars import at
from shared.core.policy_document.types import (
    CronText,
    Moment,
    NodeLimit,
    RatePeriod,
    ReasonWord,
    Several,
    WindowDuration,
    ZoneName,
)

MOST_BUDGETS: Final = 50
"""As in Karpenter's v1 API."""


def default(value: Any, description: str, **more: Any) -> Any:
    """Describe an optional field; the default is written as a person would write it, and read by the same reader."""
    return Field(value, description=description, **more)


class Section(BaseModel):
    """One mapping of the policy: camelCase names, nothing unknown, nothing changed afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_default=True)


class ScheduleSection(Section):
    """When something is active: a duration of elapsed time after each hit of a cron schedule."""

    schedule: CronText = Field(description="Cron schedule of five fields (minute, hour, day of month, month, weekday).")
    duration: WindowDuration = Field(description="How long it is active after each hit; minutes or more.")
    time_zone: ZoneName = default("UTC", "IANA time zone of the schedule. Default UTC, as in Karpenter.")


class BudgetSection(Section):
    """How many nodes may be in disruption at once. The most restrictive active budget wins."""

    nodes: NodeLimit = Field(description="Whole number of nodes, or a percentage of the pool, rounded up.")
    reasons: tuple[ReasonWord, ...] = default(
        (),
        "Reasons it binds; default all. `drifted` and `unhealthy` are accepted for Karpenter's sake and never match.",
        max_length=MOST_BUDGETS,
    )
    schedule: CronText | None = Field(
        None, description="Cron schedule of five fields; together with duration, or neither: then always active."
    )
    duration: WindowDuration | None = Field(None, description="How long it is active after each hit; minutes or more.")
    time_zone: ZoneName = default("UTC", "IANA time zone of the schedule. Default UTC, as in Karpenter.")

    @field_validator("duration", mode="before")
    @classmethod
    def _both_or_neither(cls, value: Any, info: ValidationInfo) -> Any:
        if "schedule" in info.data and (info.data["schedule"] is None) != (value is None):
            raise ValueError("schedule and duration belong together; write both or neither")
        return value


class RateSection(Section):
    """How many drains may start within any period of that length: a speed, where budgets limit concurrency."""

    nodes: NodeLimit = Field(description="Whole number of nodes, or a percentage, rounded up.")
    per: RatePeriod = Field(description="The period; minutes or more, at most 7d.")


class NamespaceRateSection(Section):
    """How many pods of one namespace drains may move within any period of that length, so that no team bears all."""

    pods: Several = Field(description="Whole number of pods; a node with more of one namespace never goes.")
    per: RatePeriod = Field(description="The period; minutes or more, at most 7d.")


class FreezeSection(Section):
    """No drain starts in this time. It ends before `to`: to freeze 27 November alone, write to: 2026-11-28."""

    time_zone: ZoneName = default("UTC", "IANA time zone of from and to. Default UTC.")
    start: Moment = Field(alias="from", description="Date (its first instant) or time.")
    end: Moment = Field(alias="to", description="Date (its first instant) or time; no longer frozen from then on.")

    @field_validator("end")
    @classmethod
    def _after_start(cls, value: Any, info: ValidationInfo) -> Any:
        known = info.data
        if {"start", "time_zone"} <= known.keys() and at(value, known["time_zone"]) <= at(
            known["start"], known["time_zone"]
        ):
            raise ValueError("it does not lie after from; write a later date or time")
        return value
