"""Counts a pass in the ledger, and publishes the summary of each week that has ended, once.

Nothing is decided by it: if the state or the bus does not answer, the pass is complete all the same. What was not
counted is missing in the figures; a summary that was not published is published by a later tick.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from functions.planner.pass_log import PassReport
from shared.core.policy.values import Schedule
from shared.core.records.claims import hours_since, still_saved
from shared.core.records.drain_record import DrainRecord
from shared.core.records.ledger import WEEK, Ledger, PassFigures, count_pass, ended_weeks, without_weeks
from shared.core.records.week import KIND, WeekSummary, as_message, sum_up, text_of
from shared.errors import Stale
from shared.port_types import LEDGER_KEY, StoredDocument, week_key
from shared.ports import Ports
from shared.settings import Settings
from shared.store.compare_and_set import read_lenient

_NOT_LOGGED: Final = frozenset({"schema", "kind", "cluster", "text"})
"""The line has these otherwise: as its event, label and message."""
_CLOCK_CHANGE: Final = timedelta(hours=1)
"""By so much a week is longer in which the clocks are put back."""


def schedule_of(settings: Settings) -> Schedule | None:
    """Return when weeks end; None where no summary is wanted."""
    return Schedule(settings.weekly_cron[0], WEEK, settings.weekly_cron[1]) if settings.weekly_cron else None


def count(ports: Ports, report: PassReport, schedule: Schedule | None) -> None:
    """Add a pass to the ledger."""
    try:
        found = read_lenient(ports.state, LEDGER_KEY)
        ledger = count_pass(found.value, figures_of(report), schedule, report.inputs.now)
        ports.state.put(LEDGER_KEY, ledger, found.version)
    except Stale:  # another planner has counted meanwhile: by its pass the time is counted, too
        return
    except Exception as fault:  # noqa: BLE001 - the ledger only informs: whatever it is, it ends no pass
        _warn(ports, f"This pass is missing in the weekly figures: {fault}")


def figures_of(report: PassReport) -> PassFigures:
    """Return what this pass adds to the ledger, as the log's `cluster_state` and `missed_saving` have it."""
    plan, found = report.plan, report.inputs
    state, now, nodes = found.state, found.now, found.snapshot.nodes
    saved = still_saved(state.reclaimed, nodes, state.last_pass, now)
    cost = sum(row.cost_per_hour for row in saved)
    in_flight = sum(claim.cost_per_hour for claim in state.claims.values())
    missed: Counter[str] = Counter()
    for row in report.missed:
        missed[row.reason] += row.per_hour
    return PassFigures(
        policy_hash=plan.policy_hash,
        dry_run=plan.dry_run,
        created=tuple(node.created for node in nodes),
        hours=hours_since(state.last_pass, now),
        saved=cost,
        at_list=cost + sum(row.covered_per_hour for row in saved),
        possible=cost + in_flight + max(plan.saving, plan.at_rest.saving if plan.at_rest else 0),
        missed=missed,
        currency=report.prices.basis.currency,
    )


def publish_due(ports: Ports, settings: Settings) -> tuple[str, ...]:
    """Publish the summary of each week that has ended, and return these weeks' ends."""
    schedule = schedule_of(settings)
    if schedule is None:
        return ()
    try:
        return tuple(_publish_all(ports, settings.cluster, schedule))
    except Exception as fault:  # noqa: BLE001 - as above; a later tick publishes what is due
        _warn(ports, f"The weekly summary is late, and the next tick tries again: {fault}")
        return ()


def _publish_all(ports: Ports, cluster: str, schedule: Schedule) -> Iterator[str]:
    found = ports.state.get(LEDGER_KEY)
    due = ended_weeks(found.value, schedule, found.read_at) if found.value else ()
    if not due or found.value is None or found.version is None:
        return
    weeks = ports.state.all("weeks", WeekSummary)
    records = [row.value for row in ports.state.all("drains", DrainRecord).values() if row.value is not None]
    known = {end: row for end, row in weeks.items() if row.value is not None}
    for end in due:
        summaries = [row.value for row in known.values() if row.value]
        window = (_began(found.value, summaries, end), end)
        week = sum_up(cluster, found.value, records, summaries, window)
        known[end.isoformat()] = _publish(ports, known.get(end.isoformat()), week)
        yield end.isoformat()
    ports.state.put(LEDGER_KEY, without_weeks(found.value, due[-1]), found.version)


def _began(ledger: Ledger, earlier: Sequence[WeekSummary], end: datetime) -> datetime:
    """Return when the week began: where the last one ended, so that no drain is counted twice, if that is known."""
    last = max((week.ended for week in earlier if week.ended < end), default=ledger.began)
    return last if end - last <= WEEK + _CLOCK_CHANGE else end - WEEK


def _publish(ports: Ports, stood: StoredDocument[WeekSummary] | None, week: WeekSummary) -> StoredDocument[WeekSummary]:
    """Write the summary down, publish it, and note that; what is published already is not published again.

    A crash in between publishes it twice: with the same end.

    Raises:
        Stale: another call publishes it.
        Retryable, Terminal: state or bus do not answer; a later tick begins where this one ended.
    """
    if stood is not None and stood.value is not None and stood.value.published:
        return stood
    key = week_key(week.ended)
    version = ports.state.put(key, week, stood.version if stood else None)
    ports.orders.announce(KIND, as_message(week))
    fields = {name: value for name, value in as_message(week).items() if name not in _NOT_LOGGED}
    ports.log.event(KIND, text_of(week), **fields)
    published = replace(week, published=True)
    return StoredDocument(published, ports.state.put(key, published, version), week.ended)


def _warn(ports: Ports, sentence: str) -> None:
    ports.log.event(KIND, sentence, severity="WARNING", reason="unreachable")
