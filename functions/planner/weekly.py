"""Counts a pass in the ledger, and publishes the summary of each week that has ended, once.

Nothing is decided by it: if the state or the bus does not answer, the pass is complete all the same.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from functions.planner.pass_log import PassReport
from shared.core.policy.values import Schedule
from shared.core.records.claims import settle_gone, still_saved
from shared.core.records.drain_record import DrainRecord, has_returned
from shared.core.records.ledger import WEEK, Ledger, PassFigures, PoolFigures, count_pass, ended_weeks, without_weeks
from shared.core.records.state import Removed
from shared.core.records.week import KIND, WeekSummary, as_message, sum_up
from shared.errors import Stale
from shared.ports import Ports, StoredDocument, ledger_key, week_key
from shared.settings import Settings
from shared.store.compare_and_set import read_lenient, readable

_NOT_LOGGED: Final = frozenset({"schema", "kind", "cluster", "text"})
"""The line has these otherwise: as its event, label and message."""
PUBLISHES_WITHIN: Final = timedelta(minutes=2)
"""For so long a call may be at the publication of a summary; then it is taken for dead."""


def schedule_of(settings: Settings) -> Schedule | None:
    """Return when weeks end; None where no summary is wanted."""
    return Schedule(settings.weekly_cron[0], WEEK, settings.weekly_cron[1]) if settings.weekly_cron else None


def count(ports: Ports, report: PassReport, settings: Settings) -> None:
    try:
        found = read_lenient(ports.state, ledger_key())
        if found.fault:
            _warn(ports, f"The weekly figures begin again: {found.fault}", "unreadable")
        ledger = count_pass(found.value, figures_of(report), schedule_of(settings), report.inputs.now)
        ports.state.put(ledger_key(), ledger, found.version)
    except Stale:  # another call was first; the next pass counts the time since the one that stands
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
        pools=dict(_pools(report)),
        saved=cost,
        at_list=cost + sum(row.covered_per_hour for row in saved),
        possible=cost + in_flight + max(plan.saving, plan.at_rest.saving if plan.at_rest else 0),
        missed=missed,
        currency=report.prices.basis.currency,
    )


def _pools(report: PassReport) -> Iterator[tuple[str, PoolFigures]]:
    """Return each pool with its figures. A claim whose node is gone is a removal, unless its drain had returned it."""
    snapshot, state, nodes = report.inputs.snapshot, report.inputs.state, report.inputs.snapshot.nodes_by_pool
    alive, records = {node.uid for node in snapshot.nodes}, report.inputs.records
    orders = {uid: claim.order_id for uid, claim in state.claims.items() if uid not in alive}
    gone = {uid: order_id for uid, order_id in orders.items() if not has_returned(records.get(order_id))}
    settled = settle_gone(state, gone, report.inputs.now)
    removed, saved = settled.removed, still_saved(settled.reclaimed, snapshot.nodes, state.last_pass, report.inputs.now)
    bill_of = report.plan.savings.saving_of if report.plan.savings else report.prices.cost_of
    for name in {*snapshot.pools, *nodes, *removed}:
        own, young = nodes.get(name, ()), [row for row in saved if row.pool == name]
        created, cost = tuple(node.created for node in own), bill_of(own)
        still = Removed(sum(row.nodes for row in young), sum(row.cost_per_hour for row in young))
        yield name, PoolFigures(created, cost, removed.get(name, Removed()), still)


def publish_due(ports: Ports, settings: Settings) -> tuple[str, ...]:
    """Publish the summary of each week that has ended, and return these weeks' ends."""
    schedule = schedule_of(settings)
    if schedule is None:
        return ()
    try:
        return tuple(_publish_all(ports, settings.cluster, schedule))
    except Stale:  # another call publishes them
        return ()
    except Exception as fault:  # noqa: BLE001 - as above; a later tick publishes what is due
        _warn(ports, f"The weekly summary is late, and the next tick tries again: {fault}")
        return ()


def _publish_all(ports: Ports, cluster: str, schedule: Schedule) -> Iterator[str]:
    """Publish the weeks in turn, as long as no other call is at one. What is written down already stays as it is."""
    found = ports.state.get(ledger_key())
    due = ended_weeks(found.value, schedule, found.read_at) if found.value else ()
    if not due or found.value is None or found.version is None:
        return
    weeks = dict(ports.state.all("weeks", WeekSummary))
    for end in due:
        stood = weeks.get(end.isoformat())
        earlier = tuple(readable(weeks).values())
        week = (stood and stood.value) or _sum_up(ports, cluster, found.value, earlier, end)
        if week.taken_until and found.read_at < week.taken_until and not week.published:
            return
        taken = replace(week, taken_until=found.read_at + PUBLISHES_WITHIN)
        if not week.published:
            _publish(ports, taken, stood.version if stood else None)
        weeks[end.isoformat()] = StoredDocument(taken, None, found.read_at)
        yield end.isoformat()
    ports.state.put(ledger_key(), without_weeks(found.value, due[-1], schedule), found.version)


def _sum_up(ports: Ports, cluster: str, ledger: Ledger, earlier: Sequence[WeekSummary], end: datetime) -> WeekSummary:
    records = readable(ports.state.all("drains", DrainRecord)).values()
    return sum_up(cluster, ledger, records, earlier, (_began(ledger, earlier, end), end))


def _began(ledger: Ledger, earlier: Sequence[WeekSummary], end: datetime) -> datetime:
    """Return when the week began: where the last one ended, so that each drain is counted once, if that is known."""
    # A week is longer if the schedule's day has changed in it; a still longer one is of weeks that nobody summed up.
    last = max((ledger.began, *(week.ended for week in earlier if week.ended < end)))
    return last if end - last < 2 * WEEK else end - WEEK


def _publish(ports: Ports, week: WeekSummary, version: str | None) -> None:
    """Write the summary down, publish it, and note that: a crash in between publishes the same one twice.

    Raises Stale: another call publishes it. Retryable, Terminal: a later tick begins where this one ended.
    """
    key, message = week_key(week.ended), as_message(week)
    version = ports.state.put(key, week, version)
    ports.orders.announce(KIND, message)
    fields = {name: value for name, value in message.items() if name not in _NOT_LOGGED}
    ports.log.event(KIND, message["text"], **fields)
    ports.state.put(key, replace(week, published=True), version)


def _warn(ports: Ports, sentence: str, reason: str = "unreachable") -> None:
    ports.log.event(KIND, sentence, severity="WARNING", reason=reason)
