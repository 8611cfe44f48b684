"""The types of the policy's fields: each a reader of `scalars` with the JSON Schema that says the same to an editor.

Must not hold rules of its own.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Final

from pydantic import PlainValidator, WithJsonSchema

from shared.core.policy import (
    KARPENTERS_REASONS,
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    Limit,
    LocalStorage,
    LongGrace,
    SingleReplicas,
)
from shared.core.policy_document.scalars import (
    DURATION_PATTERN,
    LIMIT_PATTERN,
    NEVER,
    PERCENT_PATTERN,
    TAINT_KEY_PATTERN,
    WINDOW_PATTERN,
    duration,
    duration_or_never,
    limit,
    moment,
    percent,
    positive_duration,
    rate_period,
    ratio,
    schedule,
    taint_key,
    threshold,
    time_zone,
    whole,
    window_duration,
    word_of,
)


def _words(kind: type[StrEnum]) -> dict[str, Any]:
    return {member.value: member for member in kind}


_POLICIES: Final = {**_words(ConsolidationPolicy), "WhenEmptyOrUnderutilized": ConsolidationPolicy.WHEN_UNDERUTILIZED}
_REASON_WORDS: Final = ("underutilized", "empty", "expired", *KARPENTERS_REASONS)
_REASONS: Final = {
    **{word: word for word in _REASON_WORDS},
    **{word.capitalize(): word for word in _REASON_WORDS},
}
_IGNORABLE: Final = {word: word for word in ("windows", "budgets", "gates")}


def _text(pattern: str, *examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^({pattern})$", "examples": list(examples)})


def _one_of(words: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"enum": list(words)})


Duration = Annotated[timedelta, PlainValidator(duration), _text(f"{DURATION_PATTERN}|0", "20m", "1h30m", "30d")]
PositiveDuration = Annotated[timedelta, PlainValidator(positive_duration), _text(DURATION_PATTERN, "8m30s", "25m")]
DurationOrNever = Annotated[
    timedelta | None, PlainValidator(duration_or_never), _text(f"{DURATION_PATTERN}|0|{NEVER}", "5m", NEVER)
]
WindowDuration = Annotated[timedelta, PlainValidator(window_duration), _text(WINDOW_PATTERN, "8h", "1h30m")]
RatePeriod = Annotated[timedelta, PlainValidator(rate_period), _text(WINDOW_PATTERN, "1h")]
NodeLimit = Annotated[
    Limit,
    PlainValidator(limit),
    WithJsonSchema(
        {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": f"^({LIMIT_PATTERN})$"}],
            "examples": ["10%", 5],
        }
    ),
]
Percent = Annotated[int, PlainValidator(percent), _text(PERCENT_PATTERN, "10%")]
Count = Annotated[int, PlainValidator(whole(0)), WithJsonSchema({"type": "integer", "minimum": 0})]
Several = Annotated[int, PlainValidator(whole(1)), WithJsonSchema({"type": "integer", "minimum": 1})]
Ratio = Annotated[
    Fraction, PlainValidator(ratio), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1})
]
Threshold = Annotated[Fraction, PlainValidator(threshold), WithJsonSchema({"type": "number", "minimum": 0})]
CronText = Annotated[str, PlainValidator(schedule), WithJsonSchema({"type": "string", "examples": ["0 9 * * mon-fri"]})]
ZoneName = Annotated[
    str, PlainValidator(time_zone), WithJsonSchema({"type": "string", "examples": ["UTC", "Europe/Amsterdam"]})
]
Moment = Annotated[
    datetime, PlainValidator(moment), WithJsonSchema({"type": "string", "examples": ["2026-11-27", "2026-11-27T18:00"]})
]
TaintKey = Annotated[str, PlainValidator(taint_key), _text(TAINT_KEY_PATTERN, "example.com/dedicated")]
PolicyWord = Annotated[ConsolidationPolicy, PlainValidator(word_of(_POLICIES)), _one_of(_POLICIES)]
ReasonWord = Annotated[str, PlainValidator(word_of(_REASONS)), _one_of(_REASONS)]
KubeSystemWord = Annotated[
    KubeSystemPods, PlainValidator(word_of(_words(KubeSystemPods))), _one_of(_words(KubeSystemPods))
]
LocalStorageWord = Annotated[LocalStorage, PlainValidator(word_of(_words(LocalStorage))), _one_of(_words(LocalStorage))]
LongGraceWord = Annotated[LongGrace, PlainValidator(word_of(_words(LongGrace))), _one_of(_words(LongGrace))]
SingleReplicasWord = Annotated[
    SingleReplicas, PlainValidator(word_of(_words(SingleReplicas))), _one_of(_words(SingleReplicas))
]
JobsWord = Annotated[Jobs, PlainValidator(word_of(_words(Jobs))), _one_of(_words(Jobs))]
IgnorableWord = Annotated[str, PlainValidator(word_of(_IGNORABLE)), _one_of(_IGNORABLE)]
