"""What Ebb counts of its own work: the document `clusters/{key}/ledger/current`, and the summary of each week.

A pass adds what came since the last one. Only what is reported rests on it. Amounts are micro-dollars, or millionths
of the price table's own currency. What is promised is what a policy could remove on its first day, on average: one
moment is no measure, for at noon little could go and at night much.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from shared.core.policy.schedule import hits
from shared.core.policy.values import Schedule
from shared.core.reasons import Shortfall, Unremovable
from shared.core.records.claims import hours_since

WEEK: Final = timedelta(days=7)
FIRST_DAY: Final = timedelta(days=1)
"""For so long a new policy's promise is measured."""
KEPT_WEEKS: Final = 4
"""Weeks that may still be summed up: the drains' records are kept for 30 days."""
KEPT_MONTHS: Final = 13
KEPT_FOR: Final = timedelta(days=400)
"""The store deletes a week's summary some time after this."""
_HOUR: Final = 3600
_MINUTE: Final = 60
"""A promise's first pass has followed none, and counts for so long."""


class Sums(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came in some time."""

    seconds: int = 0
    """That passes account for."""
    gone: int = 0
    """Nodes that were removed, by anybody."""
    saved: int = 0
    """By the bill, for nodes that drains removed and that have not come back."""
    at_list: int = 0
    """The same at list prices."""
    promised: int = 0
    missed: dict[str, int] = {}
    """By the word of the reason that keeps nodes: what these would have saved."""

    def plus(self, other: "Sums") -> "Sums":
        """Return both together."""
        plain = {
            name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__ if name != "missed"
        }
        return Sums(**plain, missed=dict(Counter(self.missed) + Counter(other.missed)))


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy could remove in its first day: an amount, and the seconds that it rests on."""

    policy_hash: str
    since: datetime
    seconds: int = 0
    amount: int = 0

    @property
    def per_hour(self) -> int:
        return self.amount * _HOUR // self.seconds if self.seconds else 0


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/ledger/current`."""

    began: datetime
    """Since when weeks are counted."""
    through: datetime
    """When the last pass was counted."""
    nodes: int
    """How many there were then."""
    newest: datetime | None = None
    """When the youngest node of all so far was made. One that is made while a pass reads is younger: it comes later."""
    currency: str = ""
    """Of the price table that the last pass had."""
    dry_run_since: datetime | None = None
    """None while nodes are drained."""
    promise: Promise | None = None
    weeks: dict[str, Sums] = {}
    """By the week's end (RFC 3339), until its summary is published; one has not ended yet."""
    months: dict[str, Sums] = {}
    """By month in UTC, such as 2026-11."""


@dataclass(frozen=True, slots=True)
class PassFigures:
    """What one pass knows for the ledger; amounts are per hour."""

    policy_hash: str
    """Empty without a valid policy."""
    dry_run: bool
    created: tuple[datetime, ...]
    """When each node of the cluster was made."""
    saved: int
    at_list: int
    possible: int
    """What is saved now, what drains in flight will save, and what the steady state would besides."""
    missed: Mapping[str, int]
    currency: str = ""


def count_pass(before: Ledger | None, figures: PassFigures, schedule: Schedule | None, now: datetime) -> Ledger:
    """Return the ledger with a pass of this time. Without a schedule no weeks are kept."""
    ledger = before or Ledger(began=now, through=now, nodes=len(figures.created))
    if before is not None and now <= before.through:
        return before
    # Not since the last pass that was completed: one that was killed after it was counted would be counted twice.
    hours = hours_since(ledger.through, now)
    promise = _promised(ledger.promise, figures, hours, now)
    new = _sums(ledger, figures, promise, hours)
    month = now.astimezone(UTC).strftime("%Y-%m")
    months = {**ledger.months, month: ledger.months.get(month, Sums()).plus(new)}
    return replace(
        ledger,
        began=now if schedule is None else ledger.began,
        through=now,
        nodes=len(figures.created),
        newest=max((*figures.created, *filter(None, (ledger.newest,))), default=None),
        currency=figures.currency,
        dry_run_since=_dry_run_since(ledger.dry_run_since, figures, now),
        promise=promise,
        weeks={} if schedule is None else _with_open(ledger.weeks, new, schedule, now),
        months={key: months[key] for key in sorted(months)[-KEPT_MONTHS:]},
    )


def _sums(ledger: Ledger, figures: PassFigures, promise: Promise | None, hours: float) -> Sums:
    """Return what came since the last pass. A node that came and went in between is not seen."""
    added = sum(created > (ledger.newest or ledger.through) for created in figures.created)
    promised = promise.per_hour if promise else 0
    missed = {word: amount for word, rate in _missed(figures, promised) if (amount := in_time(rate, hours))}
    return Sums(
        seconds=round(hours * _HOUR),
        gone=max(0, ledger.nodes + added - len(figures.created)),
        saved=in_time(figures.saved, hours),
        at_list=in_time(figures.at_list, hours),
        promised=in_time(promised, hours),
        missed=missed,
    )


def _missed(figures: PassFigures, promised: int) -> Iterable[tuple[str, int]]:
    """Return what each reason costs per hour; without a valid policy and in a dry run one reason costs it all."""
    if not figures.policy_hash:
        return ((Unremovable.POLICY_INVALID.value, promised),)
    return ((Shortfall.DRY_RUN.value, figures.possible - figures.saved),) if figures.dry_run else figures.missed.items()


def _dry_run_since(before: datetime | None, figures: PassFigures, now: datetime) -> datetime | None:
    """Return since when nothing is drained; a policy that does not read changes nothing about it."""
    if not figures.policy_hash:
        return before
    return (before or now) if figures.dry_run else None


def in_time(per_hour: int, hours: float) -> int:
    """Return an hourly amount over that time, in whole micro-dollars."""
    return round(per_hour * hours)


def _promised(before: Promise | None, figures: PassFigures, hours: float, now: datetime) -> Promise | None:
    """Return the promise of the policy in force; one that does not read keeps that of the last."""
    if not figures.policy_hash:
        return before
    if before is None or before.policy_hash != figures.policy_hash:
        return Promise(policy_hash=figures.policy_hash, since=now, seconds=_MINUTE, amount=figures.possible // _MINUTE)
    if now - before.since > FIRST_DAY:
        return before
    return replace(
        before,
        seconds=before.seconds + round(hours * _HOUR),
        amount=before.amount + in_time(figures.possible, hours),
    )


def _with_open(weeks: Mapping[str, Sums], new: Sums, schedule: Schedule, now: datetime) -> dict[str, Sums]:
    """Return the weeks with these sums in the one that has not ended; it takes the end of a schedule that changed."""
    ended = {end: sums for end, sums in weeks.items() if datetime.fromisoformat(end) < now}
    for end in weeks.keys() - ended.keys():
        new = new.plus(weeks[end])
    return {**ended, week_end(schedule, now).isoformat(): new}


def week_end(schedule: Schedule, now: datetime) -> datetime:
    """Return when the week of this time ends: at the schedule's next hit."""
    return next(hits(schedule, now - timedelta(microseconds=1), now + 2 * WEEK))


def ended_weeks(ledger: Ledger, schedule: Schedule, now: datetime) -> tuple[datetime, ...]:
    """Return the ends of the weeks to sum up, oldest first; a week without any pass has its summary, too."""
    open_ends = sorted(map(datetime.fromisoformat, ledger.weeks))
    if not open_ends or now < open_ends[0]:
        return ()
    known = {end for end in open_ends if end <= now}
    return tuple(sorted(known | set(hits(schedule, open_ends[0], now))))[-KEPT_WEEKS:]


def without_weeks(ledger: Ledger, through: datetime, schedule: Schedule) -> Ledger:
    """Return the ledger without the weeks that ended by then, and with the next one, which may pass without a pass."""
    kept = {end: sums for end, sums in ledger.weeks.items() if datetime.fromisoformat(end) > through}
    after = week_end(schedule, through + timedelta(microseconds=1))
    return replace(ledger, weeks=kept or {after.isoformat(): Sums()})
