"""A year of minutes in one time zone, and the schedules and limits of a policy read off it.

The judge of the year's laws counts in fractions and knows neither croniter nor `fold`, nor the code that it judges.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from tests.properties.crons import Written

MINUTE = timedelta(minutes=1)
START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)
LEAD = timedelta(days=10)  # Windows that are open when the year begins were opened in the days before.
FIRST = START - LEAD
MINUTES = (END - FIRST) // MINUTE
_DAY = 24 * 60
_EPOCH_WEEKDAY = 4  # 1970-01-01 was a Thursday; 0 = Sunday

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LocalYear:
    """Each minute that the local clock shows or skips, once, with the instant at which it is first shown or passed."""

    instant: Numbers  # Minutes since FIRST.
    minute: Numbers
    hour: Numbers
    day: Numbers
    weekday: Numbers


@lru_cache(maxsize=8)
def local_year(zone: str) -> LocalYear:
    place, base = ZoneInfo(zone), int(FIRST.timestamp()) // 60
    offsets = [((FIRST + i * MINUTE).astimezone(place).utcoffset() or timedelta(0)) // MINUTE for i in range(MINUTES)]
    shown = base + np.arange(MINUTES) + np.array(offsets, dtype=np.int64)
    latest = np.maximum.accumulate(shown)
    news = np.diff(latest, prepend=latest[0] - 1)  # none while an hour repeats, many when the clock jumps ahead
    local = np.arange(latest[0], latest[-1] + 1)
    days = local // _DAY
    dates = days.astype("datetime64[D]")
    return LocalYear(
        instant=np.repeat(np.arange(MINUTES), news),
        minute=local % 60,
        hour=local // 60 % 24,
        day=(dates - dates.astype("datetime64[M]")).astype(np.int64) + 1,
        weekday=(days + _EPOCH_WEEKDAY) % 7,
    )


@dataclass(frozen=True)
class Span:
    """A schedule with its duration and zone, as a person writes it and as minutes of the year."""

    cron: Written
    minutes: int
    zone: str

    @property
    def document(self) -> dict[str, str]:
        return {"schedule": self.cron.text, "duration": f"{self.minutes}m", "timeZone": self.zone}

    def active(self, now: datetime) -> bool:
        return bool(active_minutes(self)[(now - FIRST) // MINUTE])

    def hits(self, after: datetime, until: datetime) -> list[datetime]:
        """Return the hits after one time and up to another, each instant once."""
        times = [(at - FIRST) // MINUTE for at in (after, until)]
        part = slice(*np.searchsorted(local_year(self.zone).instant, times, side="right"))
        return [FIRST + int(minute) * MINUTE for minute in dict.fromkeys(_hit_minutes(self, part))]

    def edges(self) -> list[datetime]:
        """Return when it opens or closes within the year."""
        places = np.flatnonzero(np.diff(active_minutes(self).astype(np.int8))) + 1
        return [at for place in places if (at := FIRST + int(place) * MINUTE) >= START]


@lru_cache(maxsize=256)
def active_minutes(span: Span) -> Flags:
    """Say of each minute whether a hit lies within the duration before it; the hit's minute counts, the end's not."""
    hits = np.zeros(MINUTES, dtype=np.int64)
    hits[_hit_minutes(span)] = 1
    counted = np.concatenate(([0], np.cumsum(hits)))
    begin = np.maximum(np.arange(MINUTES) + 1 - span.minutes, 0)
    return np.asarray(counted[1:] - counted[begin] > 0)


def _hit_minutes(span: Span, part: slice = slice(None)) -> Numbers:
    year = local_year(span.zone)
    minute, hour, day, weekday = span.cron.fields
    by_day, by_weekday = _one_of(year.day[part], day.values), _one_of(year.weekday[part], weekday.values)
    on_day = by_day & by_weekday if day.free or weekday.free else by_day | by_weekday
    shown = on_day & _one_of(year.hour[part], hour.values) & _one_of(year.minute[part], minute.values)
    return np.asarray(year.instant[part][shown])


def _one_of(numbers: Numbers, values: frozenset[int]) -> Flags:
    table = np.zeros(60, dtype=bool)
    table[list(values)] = True
    return np.asarray(table[numbers])


def most(nodes: str | int, of: int) -> int:
    """Return how many nodes a limit allows of so many, in rational arithmetic."""
    if isinstance(nodes, int):
        return nodes
    return ceil(Fraction(int(nodes.removesuffix("%")), 100) * of)
