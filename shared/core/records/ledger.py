"""What Ebb counts of its own work: the document `clusters/{key}/ledger/current`, and the summary of each week.

A pass adds what came since the last one. Only what is reported rests on it. Amounts are micro-dollars, or millionths
of the price table's own currency. What is promised is what a policy could remove on its first day, on average: one
moment is no measure, for at noon little could go and at night much.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from shared.core.policy.schedule import hits
from shared.core.policy.values import Schedule
from shared.core.reasons import Shortfall, Unremovable
from shared.core.records.claims import hours_since
from shared.core.records.state import Removed

WEEK: Final = timedelta(days=7)
FIRST_DAY: Final = timedelta(days=1)  # For so long a new policy's promise is measured.
KEPT_WEEKS: Final = 4  # Weeks that may still be summed up: the drains' records are kept for 30 days.
KEPT_MONTHS: Final = 13
KEPT_FOR: Final = timedelta(days=400)  # The store deletes a week's summary some time after this.
_HOUR: Final = 3600
_MINUTE: Final = 60  # A promise's first pass has followed none, and counts for so long.
_OTHERS: Final = Shortfall.REMOVED_BY_OTHERS.value


class PoolFigures(msgspec.Struct, frozen=True):
    created: tuple[datetime, ...] = ()  # When each of its nodes was made.
    cost: int = 0  # What the bill would fall by without these nodes, per hour.
    removed: Removed = Removed()  # All that drains have removed so far.
    saved: Removed = Removed()  # What of that is no older than a day and counts as saved, now or from then on.


class PoolCount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pool as the last pass has left it: how many of its nodes went and have not come back, and who removed them."""

    # Since the policy came into force. The node that went last comes back first: a morning brings back what the night
    # has removed, and an upgrade or a preemption, which replaces nodes, takes nothing from older drains.

    nodes: int = 0
    price: int = 0  # Of one node by the bill, per hour.
    removed: Removed = Removed()  # All that drains had removed by then.
    first: int = 0  # Its nodes when the policy came into force, with those that counted as saved.
    runs: tuple[int, ...] = ()  # Of nodes that are away, oldest first: so many by drains, or below zero by others.
    own: Removed = Removed()  # Those by drains.

    @property
    def smaller(self) -> int:
        """By how many nodes the pool is smaller than at first: what came later and went again is no saving."""
        return max(0, self.first - self.nodes)

    @property
    def by_drains(self) -> int:
        return self.own.at_most(self.smaller).cost_per_hour

    @property
    def by_others(self) -> int:
        return max(0, self.smaller - self.own.nodes) * self.price

    def after(self, now: PoolFigures) -> "PoolCount":
        """Return the pool after a pass; nodes that came are newer than all that went since the last one."""
        new = self.newly_removed(now)
        others = self.nodes - len(now.created) - new.nodes
        runs = _without_last(_with(_with(self.runs, new.nodes), min(0, -others)), max(0, -others))
        own = self.own.plus(new).at_most(sum(run for run in runs if run > 0))
        return replace(begin_count(now, self.price), first=self.first, runs=runs, own=own)

    def newly_removed(self, now: PoolFigures) -> Removed:
        """Return what drains have removed since; nothing if the state that counts it was lost."""
        nodes = now.removed.nodes - self.removed.nodes
        return Removed(nodes, now.removed.cost_per_hour - self.removed.cost_per_hour) if nodes > 0 else Removed()

    def gone(self, now: PoolFigures, newest: datetime) -> int:
        """Return how many nodes have gone since; of those that came and went in between, only what drains removed."""
        added = sum(created > newest for created in now.created)
        return max(self.nodes + added - len(now.created), self.newly_removed(now).nodes)


def begin_count(now: PoolFigures, price: int = 0) -> PoolCount:
    """Return a pool of which only what still counts as saved is away. An empty one has the last price."""
    nodes, saved = len(now.created), now.saved
    price = now.cost // nodes if nodes else price
    first, runs = nodes + saved.nodes, _with((), saved.nodes)
    return PoolCount(nodes=nodes, price=price, removed=now.removed, first=first, runs=runs, own=saved)


def _with(runs: tuple[int, ...], run: int) -> tuple[int, ...]:
    if run and runs and (runs[-1] > 0) == (run > 0):
        return (*runs[:-1], runs[-1] + run)
    return (*runs, run) if run else runs


def _without_last(runs: tuple[int, ...], came: int) -> tuple[int, ...]:
    while runs and came >= abs(runs[-1]):
        came -= abs(runs[-1])
        runs = runs[:-1]
    return (*runs[:-1], runs[-1] + (-came if runs[-1] > 0 else came)) if runs else runs


class Sums(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came in some time."""

    seconds: int = 0  # That passes account for.
    gone: int = 0  # Nodes that were removed, by anybody.
    own: int = 0  # Those of them that drains removed.
    saved: int = 0  # By the bill, for nodes that drains removed and that have not come back.
    at_list: int = 0  # The same at list prices.
    older: int = 0  # By the bill, of what drains removed under this policy and `saved` counts no more.
    by_others: int = 0  # By the bill, for nodes that others removed since then.
    promised: int = 0
    missed: dict[str, int] = {}  # By the word of the reason that keeps nodes: what these would have saved.
    foreseen: dict[str, int] = {}  # What of that was kept on the first day already, and what others had removed.

    def plus(self, other: "Sums") -> "Sums":
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__struct_fields__}
        return Sums(**{name: _together(*pair) for name, pair in pairs.items()})

    @property
    def unforeseen(self) -> Mapping[str, int]:
        """Return by word what is missing more than on the policy's first day."""
        return Counter(self.missed) + Counter({_OTHERS: self.by_others}) - Counter(self.foreseen)


def _together(one: Any, other: Any) -> Any:
    return dict(Counter(one) + Counter(other)) if isinstance(one, dict) else one + other


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy could remove in its first day: an amount, and the seconds that it rests on."""

    policy_hash: str
    since: datetime
    seconds: int = 0
    amount: int = 0
    missed: dict[str, int] | None = None  # By word, what could not go then. None: an older version's, measured again.

    @property
    def per_hour(self) -> int:
        return self.amount * _HOUR // self.seconds if self.seconds else 0

    @property
    def missed_per_hour(self) -> Mapping[str, int]:
        return {word: -(-amount * _HOUR // self.seconds) for word, amount in (self.missed or {}).items()}

    def after(self, possible: int, missed: Mapping[str, int], seconds: int) -> "Promise":
        """Return the promise after so long. What is missed is rounded up: if it stays the same it is all foreseen."""
        more = Counter({word: -(-rate * seconds // _HOUR) for word, rate in missed.items()})
        amount = self.amount + possible * seconds // _HOUR
        return replace(self, seconds=self.seconds + seconds, amount=amount, missed=dict(Counter(self.missed) + more))


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/ledger/current`."""

    began: datetime  # Since when weeks are counted.
    through: datetime  # When the last pass was counted.
    pools: dict[str, PoolCount] = {}  # Those that there were then.
    newest: datetime | None = None
    """When the youngest node of all so far was made. One that is made while a pass reads is younger: it comes later."""
    currency: str = ""  # Of the price table that the last pass had.
    dry_run_since: datetime | None = None  # None while nodes are drained.
    promise: Promise | None = None
    weeks: dict[str, Sums] = {}  # By the week's end (RFC 3339), until its summary is published.
    months: dict[str, Sums] = {}  # By month in UTC, such as 2026-11.


@dataclass(frozen=True, slots=True)
class PassFigures:
    """What one pass knows for the ledger; amounts are per hour."""

    policy_hash: str  # Empty without a valid policy.
    dry_run: bool
    pools: Mapping[str, PoolFigures]  # Those that exist, with nodes or without.
    saved: int
    at_list: int
    possible: int  # What is saved now, what drains in flight will save, and what the steady state would besides.
    missed: Mapping[str, int]
    currency: str = ""


def count_pass(before: Ledger | None, figures: PassFigures, schedule: Schedule | None, now: datetime) -> Ledger:
    """Return the ledger with a pass of this time. Without a schedule no weeks are kept."""
    ledger = before or Ledger(began=now, through=now)
    if before is not None and now <= before.through:
        return before
    # Not since the last pass that was completed: one that was killed after it was counted would be counted twice.
    hours = hours_since(ledger.through, now)
    pools = _pools(ledger, figures)
    promise = _promised(ledger.promise, figures, sum(pool.by_others for pool in pools.values()), hours, now)
    new = _sums(ledger, figures, pools, promise, hours)
    month = now.astimezone(UTC).strftime("%Y-%m")
    months = {**ledger.months, month: ledger.months.get(month, Sums()).plus(new)}
    return replace(
        ledger,
        began=now if schedule is None else ledger.began,
        through=now,
        pools=pools,
        newest=max(
            (*filter(None, (ledger.newest,)), *(made for pool in figures.pools.values() for made in pool.created)),
            default=None,
        ),
        currency=figures.currency,
        dry_run_since=_dry_run_since(ledger.dry_run_since, figures, now),
        promise=promise,
        weeks={} if schedule is None else _with_open(ledger.weeks, new, schedule, now),
        months={key: months[key] for key in sorted(months)[-KEPT_MONTHS:]},
    )


def _pools(ledger: Ledger, figures: PassFigures) -> dict[str, PoolCount]:
    """Return the pools that exist after a pass; with a new promise counting begins again."""
    known = {} if _is_new(ledger.promise, figures) else ledger.pools
    return {name: known[name].after(now) if name in known else begin_count(now) for name, now in figures.pools.items()}


def _sums(
    ledger: Ledger, figures: PassFigures, pools: Mapping[str, PoolCount], promise: Promise | None, hours: float
) -> Sums:
    """Return what came since the last pass. A node that others added and removed in between is not seen."""
    newest, others = ledger.newest or ledger.through, sum(pool.by_others for pool in pools.values())
    promised, foreseen = promise.per_hour if promise else 0, promise.missed_per_hour if promise else {}
    if promise is not ledger.promise:  # It is being measured: the average stands once its first day is over.
        promised, foreseen = figures.possible, {**figures.missed, _OTHERS: others}
    seen = [(before, figures.pools.get(name, PoolFigures())) for name, before in ledger.pools.items()]
    older = sum(max(0, pool.by_drains - figures.pools[name].saved.cost_per_hour) for name, pool in pools.items())
    return Sums(
        seconds=round(hours * _HOUR),
        gone=sum(before.gone(now, newest) for before, now in seen),
        own=sum(before.newly_removed(now).nodes for before, now in seen),
        saved=in_time(figures.saved, hours),
        at_list=in_time(figures.at_list, hours),
        older=in_time(older, hours),
        by_others=in_time(others, hours),
        promised=in_time(promised, hours),
        missed=_in_time(_missed(figures, promised), hours),
        foreseen=_in_time(foreseen.items(), hours),
    )


def _in_time(rates: Iterable[tuple[str, int]], hours: float) -> dict[str, int]:
    return {word: amount for word, rate in rates if (amount := in_time(rate, hours))}


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


def _is_new(before: Promise | None, figures: PassFigures) -> bool:
    """Whether a policy comes into force; one that does not read leaves the last in force."""
    is_same = before is not None and before.policy_hash == figures.policy_hash and before.missed is not None
    return bool(figures.policy_hash) and not is_same


def _promised(before: Promise | None, figures: PassFigures, others: int, hours: float, now: datetime) -> Promise | None:
    missed = {**figures.missed, _OTHERS: others}
    if _is_new(before, figures):
        return Promise(policy_hash=figures.policy_hash, since=now).after(figures.possible, missed, _MINUTE)
    if before is None or not figures.policy_hash or now - before.since > FIRST_DAY:
        return before
    return before.after(figures.possible, missed, round(hours * _HOUR))


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
