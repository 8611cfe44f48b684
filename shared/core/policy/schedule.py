"""Cron schedules: the grammar that a person writes, and when a schedule is active.

The grammar is robfig/cron v3's `ParseStandard` (CronJobs, Karpenter), with Sunday also as 7. croniter reads more than
that, and some parts differently (`1-1` as `*`), so it gets only lists of numbers. Hits are found on the local clock,
and only then converted to UTC (docs/decisions/budgets.md): a hit inside the skipped hour happens at the first instant
after it, a repeated hour hits once, the first time.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadDateError, croniter

from shared.core.policy.values import Schedule
from shared.errors import BadInput

MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
"""Karpenter's v1 API accepts these words."""
EXAMPLE: Final = 'five fields "minute hour day-of-month month day-of-week", for example "0 9 * * mon-fri"'
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART: Final = re.compile(r"(?P<low>\*|\?|\w{1,3})(?:-(?P<high>\w{1,3}))?(?:/(?P<step>\d{1,3}))?", re.ASCII)
_LEAP_YEAR: Final = 2024
_MOST_ECHOED: Final = 40  # Characters of a wrong item that its sentence repeats; a right one has at most eleven.


@dataclass(frozen=True, slots=True)
class _Field:
    """One field's name, bounds and words; `most` is the largest value that may be written."""

    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        """The end of `*` and of `n/step`: Sunday is not counted twice."""
        return 6 if self.most == len(_DAYS) else self.most


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule as sets of values. A day field is free when it was written with `*` or `?`."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 = Sunday.
    days_free: bool
    weekdays_free: bool

    @property
    def expression(self) -> str:
        """The schedule in numbers only, so that croniter cannot read it otherwise."""
        # Restricted day fields are joined by OR; of one that names every day croniter would make `*`, and AND.
        both = not (self.days_free or self.weekdays_free)
        every_day = both and (len(self.days) == _FIELDS[2].most or len(self.weekdays) == len(_DAYS))
        days = "*" if self.days_free or every_day else _numbers(self.days)
        weekdays = "*" if self.weekdays_free or every_day else _numbers(self.weekdays)
        return f"{_numbers(self.minutes)} {_numbers(self.hours)} {days} {_numbers(self.months)} {weekdays}"

    @property
    def ever(self) -> bool:
        """Whether any date matches: `0 0 30 2 *` never does."""
        dates = any(min(self.days) <= monthrange(_LEAP_YEAR, month)[1] for month in self.months)
        return dates or not self.weekdays_free


@lru_cache(maxsize=512)
def parse_cron(text: str) -> Cron:
    """Read a cron schedule of five fields, or one of the macros @yearly … @hourly; BadInput is one sentence."""
    fields = MACROS.get(text.strip(), text).split()
    if len(fields) != len(_FIELDS):
        raise BadInput(f"{_why_not_five(text, len(fields))}; write {EXAMPLE}")
    items = ((field, part.split(",")) for field, part in zip(_FIELDS, fields, strict=True))
    minutes, hours, days, months, weekdays = (
        frozenset(value for item in parts for value in _read_item(field, item)) for field, parts in items
    )
    sunday_as_0 = frozenset(value % len(_DAYS) for value in weekdays)
    cron = Cron(minutes, hours, days, months, sunday_as_0, _is_free(fields[2]), _is_free(fields[4]))
    if not cron.ever:
        raise BadInput("no such date exists; write a day that one of the months has")
    return cron


def _why_not_five(text: str, count: int) -> str:
    if text.strip().startswith("@"):
        return f"only the words {', '.join(MACROS)} may stand for five fields"
    if "TZ=" in text:
        return "the time zone does not stand in the schedule but in timeZone"
    return f"a schedule has five fields, not {count}"


def _read_item(field: _Field, text: str) -> range:
    match = _PART.fullmatch(text)
    if match is None:
        raise BadInput(f"{text[:_MOST_ECHOED]!r} is no {field.name}; write {EXAMPLE}")
    low, high = _bounds(field, match)
    step = int(match["step"] or 1)
    if step == 0:
        raise BadInput(f"the step of {text!r} is zero; write a step of 1 or more")
    if low > high:
        raise BadInput(f"the range {text!r} runs backwards; write it as two, for example sat,sun for sat-sun")
    return range(low, high + 1, step)


def _bounds(field: _Field, match: re.Match[str]) -> tuple[int, int]:
    if match["low"] in {"*", "?"}:
        if match["high"]:
            raise BadInput(f"{match[0]!r} is no {field.name}; write {EXAMPLE}")
        return field.least, field.last
    low = _value(field, match["low"])
    if match["high"]:
        return low, _value(field, match["high"])
    return low, field.last if match["step"] else low


def _value(field: _Field, text: str) -> int:
    word = text.lower()
    if word in field.words:
        return field.words.index(word) + field.least
    if not word.isdigit() or not field.least <= int(word) <= field.most:
        words = f" or {field.words[0]} to {field.words[-1]}" if field.words else ""
        raise BadInput(f"{text!r} is no {field.name}; write {field.least} to {field.most}{words}")
    return int(word)


def _is_free(text: str) -> bool:
    """Whether the field is free: `*/2` restricts it, `*/1` does not (robfig/cron v3, getRange)."""
    return any(item in {"*", "?", "*/1", "?/1"} for item in text.split(","))


def _numbers(values: frozenset[int]) -> str:
    return ",".join(str(value) for value in sorted(values))


_SECOND: Final = timedelta(seconds=1)


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of that IANA name, or raise BadInput."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput("no time zone of that name is known; write for example UTC or Europe/Amsterdam") from error


def active(schedule: Schedule, now: datetime) -> bool:
    """Return whether now lies in [hit, hit + duration) of any hit, as Karpenter's `Budget.IsActive`."""
    # docs/acceptance.md rows 67, 69.
    hit = last_hit(schedule, now)
    return hit is not None and now - hit < schedule.duration


def last_hit(schedule: Schedule, now: datetime) -> datetime | None:
    """Return the latest hit at or before now, in UTC; None when there was none for decades. Raises BadInput."""
    zone = zone_of(schedule.time_zone)
    for local in _walk(schedule, _latest_local(now, zone) + _SECOND, forward=False):
        hit = instant(local, zone)
        if hit <= now:
            return hit
    return None


def hits(schedule: Schedule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the hits after one time and up to another, in UTC, each instant once. Raises BadInput."""
    zone, last = zone_of(schedule.time_zone), after
    for local in _walk(schedule, after.astimezone(zone).replace(tzinfo=None, fold=0) - _SECOND, forward=True):
        hit = instant(local, zone)
        if hit > until:
            return
        if hit > last:
            last = hit
            yield hit


def instant(local: datetime, zone: ZoneInfo) -> datetime:
    """Return when a local clock shows that time, in UTC: a repeated time is its first showing."""
    # A skipped time is the first instant after the gap.
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) == local:
        return first
    return _end_of_gap(local, zone)


def _end_of_gap(local: datetime, zone: ZoneInfo) -> datetime:
    """Find the change of the clock by halving: in a gap, fold 1 reads as before the change, fold 0 as after it."""
    before = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    after = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def _latest_local(now: datetime, zone: ZoneInfo) -> datetime:
    """Return a local time at or after all local times that lie at or before now (a repeated hour runs twice)."""
    local = now.astimezone(zone)
    first, second = (local.replace(fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    return local.replace(tzinfo=None, fold=0) + abs(first - second) * local.fold


def _walk(schedule: Schedule, start: datetime, *, forward: bool) -> Iterator[datetime]:
    """Yield the local times of the hits, from one local time onwards or backwards, that time itself left out."""
    times = croniter(parse_cron(schedule.cron).expression, start)
    try:
        while True:
            yield times.get_next(datetime) if forward else times.get_prev(datetime)
    except CroniterBadDateError:
        return
