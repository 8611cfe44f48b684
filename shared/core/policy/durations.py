"""Durations as a policy writes them: with days, bounded, some never zero and some `Never`.

Like `scalars`: every reader raises ValueError with the remedy, and knows no field of the policy.
"""

import re
from datetime import timedelta
from typing import Any, Final

NEVER: Final = "Never"
_SECONDS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION: Final = "write a duration such as 30s, 20m, 1h30m or 30d"
DURATION_PATTERN: Final = r"(?:[0-9]{1,9}[dhms])+"
WINDOW_PATTERN: Final = r"(?:[0-9]{1,9}[dhm])+(?:0s)?"
_LONGEST: Final = 3_660 * _SECONDS["d"]
_LONGEST_AGE: Final = 106_751 * _SECONDS["d"]
"""Go's longest duration: Karpenter reads every shorter one, and 876000h is written for never."""


def duration(value: Any) -> timedelta:
    """Read a duration as Go writes it, with days: `1h30m`, `15s`, `30d`; `0` is none at all."""
    return timedelta(0) if _is_zero(value) else _length(value, DURATION_PATTERN, _DURATION)


def _is_zero(value: Any) -> bool:
    return not isinstance(value, bool) and value in (0, "0")


def positive_duration(value: Any) -> timedelta:
    """Read a duration longer than zero."""
    length = duration(value)
    if not length:
        raise ValueError("write a duration longer than zero, such as 30s, 20m, 1h30m or 30d")
    return length


def duration_or_never(value: Any) -> timedelta | None:
    """Read a duration, or `Never` (None)."""
    if value == NEVER:
        return None
    try:
        return timedelta(0) if _is_zero(value) else _length(value, DURATION_PATTERN, _DURATION, _LONGEST_AGE)
    except ValueError as error:
        raise ValueError(f"{error}, or {NEVER}") from error


def window_duration(value: Any) -> timedelta:
    """Read how long a window is open: minutes or more, never seconds or nothing (docs/acceptance.md row 68)."""
    remedy = "write at least 1m, in minutes, hours or days without seconds, such as 8h or 1h30m"
    length = _length(value, WINDOW_PATTERN, remedy)
    if not length:
        raise ValueError(remedy)
    return length


def rate_period(value: Any) -> timedelta:
    """Read the period of a rate; every start within it is remembered, so it has an end."""
    length = window_duration(value)
    if length > timedelta(days=7):
        raise ValueError("write at most 7d, such as 1h")
    return length


def _length(value: Any, pattern: str, remedy: str, longest: int = _LONGEST) -> timedelta:
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
        raise ValueError(remedy)
    seconds = sum(int(part[:-1]) * _SECONDS[part[-1]] for part in re.findall(r"[0-9]+[dhms]", value))
    if seconds > longest:
        raise ValueError(f"write at most {longest // _SECONDS['d']}d")
    return timedelta(seconds=seconds)
