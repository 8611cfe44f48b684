"""The kinds of single values: each a reader of one value with the JSON Schema that says the same to an editor.

Must not hold rules of its own.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, TypeVar

from shared.core.policy.scalars import (
    DURATION_PATTERN,
    LIMIT_PATTERN,
    NEVER,
    PERCENT_PATTERN,
    TAINT_KEY_PATTERN,
    WINDOW_PATTERN,
    dollars,
    duration,
    duration_or_never,
    flag,
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
from shared.core.policy.shapes import Single
from shared.core.policy.values import (
    KARPENTERS_REASONS,
    ConsolidationPolicy,
    Jobs,
    KubeSystemPods,
    LocalStorage,
    LongGrace,
    Preference,
    SingleReplicas,
)

T = TypeVar("T")
W = TypeVar("W", bound=StrEnum)


def _words(kind: type[W]) -> dict[str, W]:
    return {member.value: member for member in kind}


def _text(reader: Callable[[Any], T], pattern: str, *examples: str) -> Single[T]:
    return Single(reader, {"type": "string", "pattern": f"^({pattern})$", "examples": list(examples)})


def _one_of(words: dict[str, T]) -> Single[T]:
    return Single(word_of(words), {"enum": list(words)})


_REASONS: Final = ("underutilized", "empty", "expired", *KARPENTERS_REASONS)

FLAG: Final = Single(flag, {"type": "boolean"})
DURATION: Final = _text(duration, f"{DURATION_PATTERN}|0", "20m", "1h30m", "30d")
POSITIVE_DURATION: Final = _text(positive_duration, DURATION_PATTERN, "8m30s", "25m")
DURATION_OR_NEVER: Final = _text(duration_or_never, f"{DURATION_PATTERN}|0|{NEVER}", "5m", NEVER)
WINDOW_DURATION: Final = _text(window_duration, WINDOW_PATTERN, "8h", "1h30m")
RATE_PERIOD: Final = _text(rate_period, WINDOW_PATTERN, "1h")
NODE_LIMIT: Final = Single(
    limit,
    {
        "anyOf": [{"minimum": 0, "type": "integer"}, {"pattern": f"^({LIMIT_PATTERN})$", "type": "string"}],
        "examples": ["10%", 5],
    },
)
PERCENT: Final = _text(percent, PERCENT_PATTERN, "10%")
COUNT: Final = Single(whole(0), {"type": "integer", "minimum": 0})
SEVERAL: Final = Single(whole(1), {"type": "integer", "minimum": 1})
RATIO: Final = Single(ratio, {"type": "number", "exclusiveMinimum": 0, "maximum": 1})
THRESHOLD: Final = Single(threshold, {"type": "number", "minimum": 0})
DOLLARS: Final = Single(dollars, {"type": "number", "minimum": 0})
CRON: Final = Single(schedule, {"type": "string", "examples": ["0 9 * * mon-fri"]})
ZONE: Final = Single(time_zone, {"type": "string", "examples": ["UTC", "Europe/Amsterdam"]})
MOMENT: Final = Single(moment, {"type": "string", "examples": ["2026-11-27", "2026-11-27T18:00"]})
TAINT_KEY: Final = _text(taint_key, TAINT_KEY_PATTERN, "example.com/dedicated")
CONSOLIDATION_POLICY: Final = _one_of(
    {**_words(ConsolidationPolicy), "WhenEmptyOrUnderutilized": ConsolidationPolicy.WHEN_UNDERUTILIZED}
)
REASON: Final = _one_of({spelling(word): word for spelling in (str, str.capitalize) for word in _REASONS})
KUBE_SYSTEM_PODS: Final = _one_of(_words(KubeSystemPods))
LOCAL_STORAGE: Final = _one_of(_words(LocalStorage))
LONG_GRACE: Final = _one_of(_words(LongGrace))
SINGLE_REPLICAS: Final = _one_of(_words(SingleReplicas))
JOBS: Final = _one_of(_words(Jobs))
PREFERENCE: Final = _one_of(_words(Preference))
IGNORABLE: Final = _one_of({word: word for word in ("windows", "budgets", "gates")})
