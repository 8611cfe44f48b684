"""What a running Ebb has counted: the last week's summary, and what each month promised and brought."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace
from rich.console import Console

from functions.cli.drains.status_table import wrap_last
from functions.cli.output.format import count, moment
from functions.cli.output.tables import BOLD, draw
from functions.cli.output.terminal import facts
from shared.core.records.drain_record import DrainRecord
from shared.core.records.ledger import Ledger, Sums
from shared.core.records.week import (
    MOST_BLOCKERS,
    Missed,
    WeekSummary,
    amount_in,
    money,
    older_removals,
    row_document,
    shortfall,
    sum_up,
)
from shared.ports import State, ledger_key
from shared.store.compare_and_set import read_lenient, readable


def read_week(cluster: str, documents: State) -> WeekSummary:
    """Return the last week's summary; before there is one, that of the time since Ebb has counted.

    Raises:
        Retryable, Terminal: the state does not answer.
    """
    if weeks := readable(documents.all("weeks", WeekSummary)):
        return max(weeks.values(), key=lambda week: week.ended)
    found = documents.get(ledger_key())
    ledger = found.value or Ledger(began=found.read_at, through=found.read_at)
    records = readable(documents.all("drains", DrainRecord)).values()
    so_far = replace(ledger, weeks={found.read_at.isoformat(): next(iter(ledger.weeks.values()), Sums())})
    return sum_up(cluster, so_far, records, (), (ledger.began, found.read_at))


def read_ledger(documents: State) -> Ledger | None:
    """Return what passes have counted; None where none has, or where this version cannot read it."""
    return read_lenient(documents, ledger_key()).value


def show_week(console: Console, week: WeekSummary) -> None:
    console.print(facts(_facts(week), style=BOLD))
    if week.before:
        rows = (
            (f"{row.ended:%Y-%m-%d}", f"{row.removed_by_ebb:,}", amount_in(week.currency, row.saved))
            for row in week.before
        )
        console.print()
        draw(console, wrap_last(("week to", "nodes by Ebb", "saved"), rows))


def _facts(week: WeekSummary) -> Iterator[tuple[str, str]]:
    hours = f"passes ran for {week.watched_seconds / 3600:,.0f} h"
    yield "Cluster", week.cluster
    yield "Week", f"{moment(week.began)} to {moment(week.ended)}; {hours}"
    if week.dry_run_since:
        yield "Dry run", f"since {moment(week.dry_run_since)}"
    yield "Removed by Ebb", count(week.removed_by_ebb, "node")
    yield "By others", f"{count(week.removed_by_others, 'node')}, mostly by the autoscaler"
    saved, at_list = (amount_in(week.currency, amount) for amount in (week.saved, week.at_list))
    yield "Saved", f"{saved}; at list prices {at_list}{older_removals(week.currency, week.older)}"
    yield "Promised", amount_in(week.currency, week.promised)
    yield "Pods moved", f"{week.evictions:,}"
    yield "Returned", ", ".join(f"{word} {number:,}" for word, number in sorted(week.returns.items())) or "no node"
    for title, rows in (("Blocked by", week.blockers), ("Why less", week.shortfall)):
        for row in rows:
            yield title, _because(row, week.currency)


def _because(row: Missed, currency: str) -> str:
    return " ".join(filter(None, (f"{row.reason}, {amount_in(currency, row.amount)}:", row.sentence, row.remedy)))


def show_months(console: Console, ledger: Ledger | None) -> None:
    """Print what each month promised and brought, and why where a fifth was lacking; nothing where none is counted."""
    if ledger is None or not ledger.months:
        return
    console.print(f"\n{PROMISE}", style=BOLD)
    draw(console, wrap_last(MONTHS, month_rows(ledger)))


PROMISE: Final = "Promise and outcome"
MONTHS: Final = ("month", "promised", "saved", "why less")


def month_rows(ledger: Ledger) -> list[tuple[str, ...]]:
    return [_month(*row, ledger.currency) for row in _newest(ledger)]


def _newest(ledger: Ledger) -> list[tuple[str, Sums]]:
    return sorted(ledger.months.items(), reverse=True)


def _month(month: str, sums: Sums, currency: str) -> tuple[str, ...]:
    reasons = [f"{row.reason} {amount_in(currency, row.amount)}" for row in shortfall(sums)[:MOST_BLOCKERS]]
    saved = amount_in(currency, sums.saved) + older_removals(currency, sums.older)
    return month, amount_in(currency, sums.promised), saved, ", ".join(reasons)


def months_document(ledger: Ledger | None) -> list[dict[str, Any]]:
    if ledger is None:
        return []
    return [
        {
            "month": month,
            "currency": ledger.currency,
            "promised": money(sums.promised),
            "saved": money(sums.saved),
            "saved_at_list": money(sums.at_list),
            "older_removals": money(sums.older),
            "shortfall": [row_document(row) for row in shortfall(sums)],
        }
        for month, sums in _newest(ledger)
    ]
