"""The summary of one week: the document `clusters/{key}/weeks/{end}`, which is also the message and the log line.

Counted are the drains whose records ended in the week, and the money that the passes of the week have counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from shared.core.reasons import Outcome, PodBlock, Refusal, ReturnReason, Shortfall, Unremovable, reason_of_word
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.ledger import KEPT_FOR, Ledger, Sums
from shared.core.records.state import MICRO

SCHEMA: Final = 1
KIND: Final = "weekly_summary"
FALLS_SHORT: Final = 0.8  # Of what was promised: with less the summary shows why.
MOST_BLOCKERS: Final = 3
WEEKS_BEFORE: Final = 4
WATCHED: Final = 0.95  # With passes in less of the week than this the summary shows for how long they ran.
_KINDS: Final = (Unremovable, PodBlock, ReturnReason, Refusal, Shortfall)
_SHORTFALLS: Final = frozenset({Shortfall.FEWER_REMOVABLE, Shortfall.REMOVED_BY_OTHERS})
_RETURNED: Final = frozenset({Outcome.GIVEN_BACK, Outcome.RELEASED, Outcome.OVERRULED, Outcome.STALE})


class Missed(msgspec.Struct, frozen=True):
    """What one reason cost in the week, in micro-dollars."""

    reason: str
    amount: int

    @property
    def sentence(self) -> str:
        found = reason_of_word(self.reason, *_KINDS)
        return found.sentence if found else ""

    @property
    def remedy(self) -> str:
        found = reason_of_word(self.reason, *_KINDS)
        return found.remedy if found else ""


class WeekBefore(msgspec.Struct, frozen=True, kw_only=True):
    """The main figures of an earlier week."""

    ended: datetime
    removed_by_ebb: int
    removed_by_others: int
    saved: int
    at_list: int


class WeekSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/weeks/{end}`. Amounts are micro-dollars of the whole week."""

    cluster: str
    began: datetime
    ended: datetime
    currency: str
    policy_hash: str = ""
    dry_run_since: datetime | None = None
    removed_by_ebb: int
    removed_by_others: int  # By the autoscaler, an upgrade, a preemption or a person.
    saved: int
    at_list: int
    promised: int
    older: int = 0  # What older removals add, that `saved` counts no more.
    watched_seconds: int  # For so long of the week passes ran.
    evictions: int
    returns: dict[str, int]  # Drains that returned their nodes, by the reason's word.
    blockers: tuple[Missed, ...]
    shortfall: tuple[Missed, ...]  # Why the outcome is below the promise by more than a fifth; empty where it is not.
    before: tuple[WeekBefore, ...]  # Of the four weeks before, those that have a summary, newest first.
    published: bool = False
    taken_until: datetime | None = None  # Until then the call that wrote it may be publishing it.
    expire_at: datetime | None = None

    @property
    def as_before(self) -> WeekBefore:
        return msgspec.convert(self, WeekBefore, from_attributes=True)


def sum_up(
    cluster: str,
    ledger: Ledger,
    records: Iterable[DrainRecord],
    earlier: Sequence[WeekSummary],
    window: tuple[datetime, datetime],
) -> WeekSummary:
    """Return the summary of the window, its end included; `earlier` are the summaries that there are."""
    began, ended = window
    sums = ledger.weeks.get(ended.isoformat(), Sums())
    own = [record for record in records if _ended_within(record, window)]
    newest = sorted((week for week in earlier if week.ended < ended), key=lambda week: week.ended, reverse=True)
    return WeekSummary(
        cluster=cluster,
        began=began,
        ended=ended,
        currency=ledger.currency,
        policy_hash=ledger.promise.policy_hash if ledger.promise else "",
        dry_run_since=ledger.dry_run_since,
        removed_by_ebb=sums.own,
        removed_by_others=sums.gone - sums.own,
        saved=sums.saved,
        at_list=sums.at_list,
        promised=sums.promised,
        older=sums.older,
        watched_seconds=sums.seconds,
        evictions=sum(pod.moved for record in own for pod in record.pods.values()),
        returns=dict(Counter(record.why or record.outcome for record in own if record.outcome in _RETURNED)),
        blockers=largest(sums.missed),
        shortfall=shortfall(sums),
        before=tuple(week.as_before for week in newest[:WEEKS_BEFORE]),
        expire_at=ended + KEPT_FOR,
    )


def _ended_within(record: DrainRecord, window: tuple[datetime, datetime]) -> bool:
    ended = record.updated_at if record.phase is DrainPhase.SETTLED else None
    return ended is not None and window[0] < ended <= window[1]


def largest(missed: Mapping[str, int], most: int = MOST_BLOCKERS) -> tuple[Missed, ...]:
    """Return the reasons that cost most, the most expensive first."""
    rows = sorted(missed.items(), key=lambda row: (-row[1], row[0]))
    return tuple(Missed(*row) for row in rows[:most] if row[1] > 0)


def shortfall(sums: Sums) -> tuple[Missed, ...]:
    """Return why less than four fifths of the promise came; the rest could not go."""
    came = sums.saved + sums.older
    lacking = sums.promised - came
    if came >= FALLS_SHORT * sums.promised:
        return ()
    rows = []
    for row in largest(sums.unforeseen, len(sums.unforeseen)):
        rows.append(Missed(row.reason, min(row.amount, lacking)))
        lacking -= rows[-1].amount
        if lacking <= 0:
            return tuple(rows)
    return (*rows, Missed(Shortfall.FEWER_REMOVABLE.value, lacking))


def as_message(week: WeekSummary) -> dict[str, Any]:
    """Return what the results topic and `ebb status --week -o json` carry; docs/orders.md explains each key."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "cluster": week.cluster,
        "began": _time(week.began),
        "ended": _time(week.ended),
        "currency": week.currency,
        "policy_hash": week.policy_hash,
        "dry_run_since": _time(week.dry_run_since) if week.dry_run_since else None,
        **_figures(week),
        "promised": money(week.promised),
        "older_removals": money(week.older),
        "watched_hours": round(week.watched_seconds / 3600, 2),
        "evictions": week.evictions,
        "returns": dict(week.returns),
        "blockers": [row_document(row) for row in week.blockers],
        "shortfall": [row_document(row) for row in week.shortfall],
        "before": [{"ended": _time(row.ended), **_figures(row)} for row in week.before],
        "text": text_of(week),
    }


def _figures(week: WeekSummary | WeekBefore) -> dict[str, Any]:
    return {
        "removed_by_ebb": week.removed_by_ebb,
        "removed_by_others": week.removed_by_others,
        "saved": money(week.saved),
        "saved_at_list": money(week.at_list),
    }


def row_document(row: Missed) -> dict[str, Any]:
    return {"reason": row.reason, "cost": money(row.amount), "sentence": row.sentence, "remedy": row.remedy}


def money(micro: int) -> float:
    return round(micro / MICRO, 2)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def text_of(week: WeekSummary) -> str:
    """Return the summary as plain sentences, for a chat or an e-mail; escape it there as any text."""
    return " ".join(sentence for write in _SENTENCES if (sentence := write(week)))


def _removed(week: WeekSummary) -> str:
    time = f"{week.began:%Y-%m-%d} to {week.ended:%Y-%m-%d}"
    own, others = f"{week.removed_by_ebb:,}", f"{week.removed_by_others:,}"
    return f"{week.cluster}, {time}: nodes removed by Ebb {own}, by others (mostly the autoscaler) {others}."


def _saved(week: WeekSummary) -> str:
    list_price = f" ({amount_in(week.currency, week.at_list)} at list prices)" if week.at_list != week.saved else ""
    promised = f"; {amount_in(week.currency, week.promised)} was promised" if week.promised else ""
    older = older_removals(week.currency, week.older)
    return f"Saved: {amount_in(week.currency, week.saved)}{list_price}{promised}{older}."


def older_removals(currency: str, older: int) -> str:
    return f"; older removals add {amount_in(currency, older)}" if older else ""


def _dry_run(week: WeekSummary) -> str:
    if week.dry_run_since is None:
        return ""
    has_drained = week.older or any(row.removed_by_ebb for row in (week.as_before, *week.before))
    drains = "" if has_drained else "no drains so far, "
    return f"Note: {drains}dry run since {week.dry_run_since:%Y-%m-%d}."


def _moved(week: WeekSummary) -> str:
    words = ", ".join(f"{word} {number:,}" for word, number in sorted(week.returns.items()))
    returned = f"{sum(week.returns.values()):,}{f' ({words})' if words else ''}"
    return f"Pods moved: {week.evictions:,}. Nodes returned: {returned}."


def _lacking(week: WeekSummary) -> str:
    rows = ", ".join(f"{row.reason} {amount_in(week.currency, row.amount)}" for row in week.shortfall[:MOST_BLOCKERS])
    rest = [row.sentence for row in week.shortfall[:MOST_BLOCKERS] if row.reason in _SHORTFALLS]
    return " ".join((f"Why less came than promised: {rows}.", *rest)) if rows else ""


def _blocked(week: WeekSummary) -> str:
    if not week.blockers:
        return ""
    first = week.blockers[0]
    cost = f"The largest blocker, {first.reason}, cost {amount_in(week.currency, first.amount)}."
    return " ".join(filter(None, (cost, first.sentence, first.remedy)))


def _unwatched(week: WeekSummary) -> str:
    if week.watched_seconds >= WATCHED * (week.ended - week.began).total_seconds():
        return ""
    return f"Passes ran for {week.watched_seconds / 3600:,.0f} hours only: the rest is not counted."


def amount_in(currency: str, micro: int) -> str:
    """Return an amount as a summary writes it: `1,234.50 USD`."""
    return f"{micro / MICRO:,.2f} {currency}".strip()


_SENTENCES: Final = (_removed, _saved, _dry_run, _moved, _lacking, _blocked, _unwatched)
