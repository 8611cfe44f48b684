"""How amounts, shares, times and names are written for people: one form each, everywhere in the CLI."""

from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final, TypeVar

from shared.core.planning.prices import per_month
from shared.core.records.state import MICRO

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
WARNING: Final = "warning: "  # How a note begins that something is odd, and not only unknown.
GAP: Final = 2
"""Spaces between two columns of a table."""
_SYMBOLS: Final = {"USD": "$"}
"""Any other currency is shown by its code: all terminals can print that."""
_symbol: ContextVar[str] = ContextVar("currency", default="$")
_rate: ContextVar[Fraction] = ContextVar("rate", default=Fraction(1))


def use_currency(code: str, rate: Fraction = Fraction(1)) -> None:
    """Show money in that currency from now on, `rate` units for one unit of the price table."""
    _symbol.set(_SYMBOLS.get(code, f"{code} "))
    _rate.set(rate)


def money(amount: Fraction) -> str:
    """Return whole units of the currency: `$1,235`, `<$1` for what is less; more is not known of a list price."""
    return whole_money(round(amount), of=amount)


def whole_money(rounded: int, of: Fraction | int = 0) -> str:
    """Return what was rounded by the caller; if `of` is given, an amount that is not nothing is not printed as such."""
    return f"{_symbol.get()}{rounded:,}" if rounded or not of else f"<{_symbol.get()}1"


def dollars(micro: Fraction | int) -> Fraction:
    """Return millionths of the price table's currency as exact units of the currency that is shown."""
    return Fraction(micro) * _rate.get() / MICRO


def json_dollars(micro: Fraction | int) -> float:
    """Return an hourly amount of micro-dollars as JSON carries it, to a hundredth of a cent."""
    return float(round(dollars(micro), 4))


def dollars_a_month(micro_per_hour: int) -> Fraction:
    """Return what an hourly amount of micro-dollars makes in a month, exactly, in the currency that is shown."""
    return dollars(per_month(micro_per_hour))


def whole_month(micro_per_hour: int) -> int:
    """Return the same in whole units, as it is printed where figures must add up."""
    return round(dollars_a_month(micro_per_hour))


def monthly(micro_per_hour: int) -> str:
    """Return what an hourly amount of micro-dollars makes in a month: `$1,235`."""
    return money(dollars_a_month(micro_per_hour))


def monthly_parts(micro_per_hour: Sequence[int]) -> tuple[str, ...]:
    """Return what parts make in a month, rounded so that what is printed adds up to `monthly` of their sum."""
    exact = [dollars_a_month(micro) for micro in micro_per_hour]
    whole = [int(amount) for amount in exact]
    up = round(sum(exact)) - sum(whole)
    # Those that lose most by rounding down are rounded up.
    most = sorted(range(len(exact)), key=lambda at: (whole[at] - exact[at], at))[:up]
    return tuple(whole_money(whole[at] + (at in most), of=amount) for at, amount in enumerate(exact))


def yearly(month: int) -> str:
    """Return twelve of what is printed of a month, so that a reader's product is ours."""
    return whole_money(12 * month)


def hourly(micro_per_hour: int) -> str:
    return f"{_symbol.get()}{float(dollars(micro_per_hour)):,.2f}"


def percent(ratio: Fraction | None) -> str:
    """Return a ratio as whole percent, rounded down: a node just under its limit must not look as if at it."""
    return "-" if ratio is None else f"{ratio.numerator * 100 // ratio.denominator}%"


def rounded_percent(ratio: Fraction) -> str:
    return f"{round(ratio * 100)}%"


def count(number: int, thing: str, things: str = "") -> str:
    """Return `1 node`, `2 nodes`; `things` is the plural where an s is not enough."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def moment(time: datetime) -> str:
    """Return a time as `2026-03-04 22:00:05 UTC`."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def rfc3339(time: datetime | None) -> str | None:
    """Return a time as JSON carries it: `2026-03-04T22:00:05Z`, or null."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None


def clock(time: datetime, today: datetime) -> str:
    """Return the time of day in UTC, with the date only when it is another day than `today`."""
    there, here = time.astimezone(UTC), today.astimezone(UTC)
    return f"{there:%H:%M}" if there.date() == here.date() else f"{there:%m-%d %H:%M}"


def by_the_minute(time: datetime) -> datetime:
    """Return the minute by which it has come: what is announced for a time is done then."""
    begun = time.replace(second=0, microsecond=0)
    return begun if begun == time else begun + timedelta(minutes=1)


def span(length: timedelta | None) -> str:
    """Return a duration as the policy writes it: `1h30m`, `15s`, `30d`; None is `Never`."""
    if length is None:
        return "Never"
    seconds = int(length.total_seconds())
    if seconds and seconds % 86400 == 0:
        return f"{seconds // 86400}d"
    parts = ((seconds // 3600, "h"), (seconds % 3600 // 60, "m"), (seconds % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def duration(length: timedelta) -> str:
    """Return a duration for people: `33 min`, `2 h 33 min`, `45 s`."""
    minutes, seconds = divmod(round(length.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (0 if hours else seconds, "s"))
    return " ".join(f"{number:,} {unit}" for number, unit in parts if number) or "0 s"


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first names and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def shared_beginning(names: Sequence[str]) -> str:
    """Return the beginning that all names share, up to a hyphen; a name alone keeps its last word."""
    first, last = min(names), max(names)
    shared = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first) - 1)
    return first[: first.rfind("-", 0, max(shared, 0)) + 1]


_MOST_POOLS: Final = 4


def shorten_names(pools: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    """Return nodes' names without what those of their pool begin with, and a sentence on what they have lost."""
    begins = {
        pool: shared_beginning(names) for pool, names in group((pool, name) for name, pool in pools.items()).items()
    }
    short = {name: f"…{name.removeprefix(begins[pool])}" if begins[pool] else name for name, pool in pools.items()}
    named = [f"{begin} ({pool})" if pool else begin for pool, begin in sorted(begins.items()) if begin]
    return short, f"Names of nodes begin with {some(named, _MOST_POOLS)}" if named else ""


def group(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, keys and values in the order in which they come."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
