"""When a cron schedule is active: half-open windows of elapsed time after each hit, in the schedule's own zone.

Hits are found on the local clock without its zone (croniter over plain numbers) and only then set into time, so
that both days of a clock change are ours to define (docs/decisions/budgets.md): a hit inside the skipped hour
happens at the first instant after it, a repeated hour hits once, the first time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadDateError, croniter

from shared.core.policy.cron import parse_cron
from shared.core.policy.values import Schedule
from shared.errors import BadInput

_SECOND: Final = timedelta(seconds=1)


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of that IANA name.

    Raises:
        BadInput: there is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput("no time zone of that name is known; write for example UTC or Europe/Amsterdam") from error


def active(schedule: Schedule, now: datetime) -> bool:
    """Return whether now lies in [hit, hit + duration) of any hit; overlaps extend the window.

    Raises:
        BadInput: the schedule or its zone cannot be read. A parsed policy holds none such.

    Source: Karpenter, `Budget.IsActive` (docs/decisions/budgets.md); docs/acceptance.md rows 67, 69.
    """
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
    """Return when a local clock shows that time, in UTC.

    A repeated time is its first showing; a skipped time is the first instant after the gap.
    """
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
