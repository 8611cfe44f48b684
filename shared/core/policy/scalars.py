"""The values that a policy holds, as a person writes them."""
# Every reader raises ValueError with the remedy ("write …").

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeVar

from shared.core.policy.schedule import instant, parse_cron, zone_of
from shared.core.policy.values import YEARS, Limit
from shared.errors import BadInput

T = TypeVar("T")
_DECIMALS: Final = 12  # So many decimals are plenty for a ratio, and keep the arithmetic small.
PERCENT_PATTERN: Final = r"(?:100|[0-9]{1,2})%"
LIMIT_PATTERN: Final = rf"{PERCENT_PATTERN}|[0-9]+"
_MOST_NODES: Final = 999_999_999  # More than any cluster has: a longer number means the same.
DISCOUNT_PATTERN: Final = r"[0-9]{1,2}(?:\.[0-9]{1,4})?%"
CLUSTER_NAME_PATTERN: Final = r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?"
TAINT_KEY_PATTERN: Final = r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,315}[A-Za-z0-9])?"


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("write true or false")  # noqa: TRY004 - one kind of failure is gathered
    return value


def limit(value: Any) -> Limit:
    """Read a number of nodes or a percentage; a number may stand in quotes (IntOrString; docs/acceptance.md row 60)."""
    text = str(min(value, _MOST_NODES)) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not re.fullmatch(LIMIT_PATTERN, text, re.ASCII):
        raise ValueError("write a whole number of nodes such as 5, or a percentage from 0% to 100%")
    if text.endswith("%"):
        return Limit(percent=int(text[:-1]))
    digits = text.lstrip("0") or "0"
    return Limit(count=int(digits) if len(digits) <= len(str(_MOST_NODES)) else _MOST_NODES)


def _text_of(pattern: str, remedy: str, make: Callable[[str], T]) -> Callable[[Any], T]:
    def read(value: Any) -> T:
        if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(remedy)
        return make(value)

    return read


percent = _text_of(PERCENT_PATTERN, "write a percentage from 0% to 100%, such as 10%", lambda text: int(text[:-1]))
share_off = _text_of(
    DISCOUNT_PATTERN,
    "write a percentage from 0% to below 100%, such as 55% or 28.5%",
    lambda text: Fraction(text[:-1]) / 100,
)
cluster_name = _text_of(CLUSTER_NAME_PATTERN, "write the name of a cluster, such as prod-a", str)
taint_key = _text_of(
    TAINT_KEY_PATTERN, "write the key of a taint, such as example.com/dedicated, without value and effect", str
)


def whole(least: int, most: int = 1_000_000) -> Callable[[Any], int]:
    """Return a reader of whole numbers within bounds; true and false are no numbers."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"write a whole number from {least} to {most}")
        return value

    return read


def ratio(value: Any) -> Fraction:
    """Read a ratio above 0 and up to 1, exactly as written: 0.9 is nine tenths (docs/acceptance.md row 10)."""
    number = _decimal(value, "write a ratio above 0 and up to 1, such as 0.75")
    if not 0 < number <= 1:
        raise ValueError("write a ratio above 0 and up to 1, such as 0.75")
    return Fraction(number)


def decimal_of(what: str, *, above: bool = False) -> Callable[[Any], Fraction]:
    """Return a reader of numbers that may have decimals, from zero on or above it; `what` is to be written."""

    def read(value: Any) -> Fraction:
        number = _decimal(value, f"write {what}")
        if number < 0 or (above and not number):
            raise ValueError(f"write {what}, {'more than zero' if above else 'zero or more'}")
        return Fraction(number)

    return read


def _decimal(value: Any, remedy: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(remedy)  # noqa: TRY004 - one kind of failure is gathered
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_DECIMALS or abs(number) > 10**6:
        raise ValueError(f"{remedy}, with at most {_DECIMALS} decimals")
    return number


def schedule(value: Any) -> str:
    """Read a cron schedule of five fields or a macro; it is kept as written."""
    if not isinstance(value, str):
        raise ValueError('write a cron schedule in quotes, such as "0 9 * * mon-fri"')  # noqa: TRY004 - one kind of failure is gathered
    try:
        parse_cron(value)
    except BadInput as error:
        raise ValueError(str(error)) from error
    return value


def time_zone(value: Any) -> str:
    try:
        return zone_of(value).key if isinstance(value, str) else zone_of("").key
    except BadInput as error:
        raise ValueError(str(error)) from error


def moment(value: Any) -> datetime:
    """Read a date (its first instant) or a time in ISO form; without an offset it is in its section's zone."""
    remedy = "write a date such as 2026-11-27, or a time such as 2026-11-27T18:00"
    if not isinstance(value, str):
        raise ValueError(remedy)  # noqa: TRY004 - one kind of failure is gathered
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
            read = datetime.combine(date.fromisoformat(value), time())
        else:
            read = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(remedy) from error
    if read.year not in YEARS:
        raise ValueError(remedy)
    return read


def at(local: datetime, zone: str) -> datetime:
    return instant(local, zone_of(zone)) if local.tzinfo is None else local.astimezone(UTC)


def word_of(words: dict[str, Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"write one of {', '.join(words)}")
        return words[value]

    return read


NEVER: Final = "Never"
_SECONDS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION: Final = "write a duration such as 30s, 20m, 1h30m or 30d"
DURATION_PATTERN: Final = r"(?:[0-9]{1,9}[dhms])+"
WINDOW_PATTERN: Final = r"(?:[0-9]{1,9}[dhm])+(?:0s)?"
_LONGEST: Final = 3_660 * _SECONDS["d"]
_LONGEST_AGE: Final = 106_751 * _SECONDS["d"]  # Go's longest duration: 876000h is written for never.


def duration(value: Any) -> timedelta:
    """Read a duration as Go writes it, with days: `1h30m`, `15s`, `30d`; `0` is none at all."""
    return _duration(value, _LONGEST)


def _duration(value: Any, longest: int) -> timedelta:
    is_zero = not isinstance(value, bool) and value in (0, "0")
    return timedelta(0) if is_zero else _length(value, DURATION_PATTERN, _DURATION, longest)


def positive_duration(value: Any) -> timedelta:
    length = duration(value)
    if not length:
        raise ValueError("write a duration longer than zero, such as 30s, 20m, 1h30m or 30d")
    return length


def duration_or_never(value: Any) -> timedelta | None:
    if value == NEVER:
        return None
    try:
        return _duration(value, _LONGEST_AGE)
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
