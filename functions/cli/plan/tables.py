"""The tables of a plan: scenarios, pools, nodes, the reasons by what their nodes cost, and who keeps nodes.

A narrow terminal loses spare columns of pools; of nodes the verdict, shared beginnings, then causes.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from io import StringIO
from itertools import accumulate
from typing import Final

from functions.cli.analysis.blocked import BlockedBy, BlockedNodes
from functions.cli.analysis.pools import GOING, PoolSummary
from functions.cli.input.options import Sort
from functions.cli.output.format import NodeNames, count, dollars_a_month, monthly, monthly_parts, percent
from functions.cli.output.tables import BOLD, DIM, Column, Table, fit
from functions.cli.plan.scenarios import ScenarioRow
from functions.cli.plan.sentences import VERDICTS, LegendEntry, WordKind
from functions.cli.plan.view import NodeView, PlanView, RemovedBy, Shown
from shared.core.planning.plan import Verdict

PER_NODE: Final = "per node: evictions for each node that goes."
OF_BILL: Final = (
    "list, bill: at list prices, and with the commitments, fees included. Nodes, pools and reasons are at list prices."
)


def scenario_table(rows: Sequence[ScenarioRow], width: int) -> Table:
    """Return a row for each scenario; where names need room a title stands below, and a year of the bill gives way."""
    is_bill, priced = any(row.listed for row in rows), any(row.month != _NONE for row in rows)
    money = ("list", "bill", "bill a year", "saved") if is_bill else ("a month", "a year", "saved")
    columns = (Column("", wraps=True), *(Column(title, right=True) for title in ("nodes", *money)))
    cells = [
        (row.title, row.nodes, *((row.listed,) if is_bill else ()), row.month, row.year, row.share, row.evictions)
        for row in rows
    ]
    foot, styles = OF_BILL if is_bill else "", tuple(row.style for row in rows)
    whole, short = (
        Table.of((*columns, Column(title, right=True)), cells, styles=styles, foot=below).without_columns(
            () if priced else money
        )
        for title, below in (("evictions a node", foot), ("per node", f"{foot} {PER_NODE}".lstrip()))
    )
    return fit((whole, short, short.without_columns(("bill a year",))), width)


_GAPS: Final = (2, 1)
_LEAST_POOL: Final = 16
_SHORT: Final = {"memory": "mem", "in flight": "flight", "waiting": "wait", "could go": "could"}
_GREEN: Final = "bold green"
_NONE: Final = "-"
ALL: Final = "all pools"


def name_of(pool: PoolSummary) -> str:
    return ALL if pool.pool is None else pool.pool or "no pool"


def pool_table(view: PlanView, width: int) -> Table:
    """Return a row for each pool, and one for all where there are several."""
    pools = (*view.pools, view.whole) if len(view.pools) > 1 else view.pools
    return fit(_pool_tables(pools, tuple(_figures(view, pools))), width)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A column of figures, whether it stays where room is short, and what its title leaves open."""

    column: Column
    needed: bool
    meaning: str = ""


def _figures(view: PlanView, pools: Sequence[PoolSummary]) -> Iterator[_Figure]:
    """Yield the columns besides name, nodes and requests, without those that have nothing of any pool."""
    could, rest = view.potential is not None, view.scenarios is not None
    go, paid = not (could or rest), view.plan.cost > 0
    others = (Verdict.IN_FLIGHT, Verdict.WAITING, Verdict.KEEP)
    rows = (
        ("order", _counts(pools, *GOING), _GREEN, go, ""),
        *((VERDICTS[verdict], _counts(pools, verdict), STYLES[verdict], False, "") for verdict in others),
        ("cost/mo", _money(pools, lambda pool: pool.cost), "", paid, ""),
        ("order/mo", _money(pools, lambda pool: pool.saving), _GREEN, go and paid, ""),
        ("goes", [pool.rest_go for pool in pools], _GREEN, rest, "gone in steady state"),
        ("goes/mo", _money(pools, lambda pool: pool.rest_save), _GREEN, rest and paid, ""),
        ("could go", [pool.could_go for pool in pools], "", could, "by the safety rules alone"),
        ("could/mo", _money(pools, lambda pool: pool.could_save), "", could and paid, ""),
    )
    for title, found, style, needed, meaning in rows:
        cells = tuple(cell if isinstance(cell, str) else f"{cell:,}" if cell else _NONE for cell in found)
        if needed or cells[-1] != _NONE:
            yield _Figure(Column(title, cells, right=True, style=style), needed, meaning)


def _counts(pools: Sequence[PoolSummary], *verdicts: Verdict) -> Sequence[int]:
    return [sum(pool.verdicts.get(verdict, 0) for verdict in verdicts) for pool in pools]


def _money(pools: Sequence[PoolSummary], amount: Callable[[PoolSummary], int]) -> Sequence[str]:
    """Return cells of which the pools' add up to that of all."""
    parts = iter(monthly_parts([amount(pool) for pool in pools if pool.pool is not None]))
    cells = [monthly(amount(pool)) if pool.pool is None else next(parts) for pool in pools]
    return [cell if amount(pool) else _NONE for pool, cell in zip(pools, cells, strict=True)]


def _pool_tables(pools: Sequence[PoolSummary], figures: Sequence[_Figure]) -> Iterator[Table]:

    def made(own: Sequence[_Figure], gap: int, longest: int, *, short: bool) -> Table:
        names = tuple(name if len(name) <= longest else f"{name[: longest - 1]}…" for name in map(name_of, pools))
        titled = [replace(figure.column, title=_title(figure.column.title, short=short)) for figure in own]
        columns = (Column("pool", names), Column("nodes", tuple(f"{pool.nodes:,}" for pool in pools), right=True))
        cpu, memory = (tuple(map(percent, ratios)) for ratios in zip(*map(_ratios, pools), strict=True))
        full = (Column("cpu", cpu, right=True), Column(_title("memory", short=short), memory, right=True))
        meanings = (f"{one.title}: {figure.meaning}" for one, figure in zip(titled, own, strict=True) if figure.meaning)
        foot = "; ".join((f"cpu, {full[1].title}: requests", *meanings))
        styles = tuple(BOLD if pool.pool is None else "" for pool in pools)
        return Table((*columns, *full, *titled), styles, foot=foot, gap=gap)

    longest, spare = max(map(len, map(name_of, pools))), [figure for figure in figures if not figure.needed]
    shorter = min(longest, _LEAST_POOL)
    for name in dict.fromkeys((longest, shorter)):
        yield from (made(figures, gap, name, short=short) for short in (False, True) for gap in _GAPS)
    for out in range(1, len(spare) + 1):
        yield made([figure for figure in figures if figure not in spare[:out]], min(_GAPS), shorter, short=True)


def _ratios(pool: PoolSummary) -> tuple[Fraction | None, Fraction | None]:
    return pool.cpu_ratio, pool.memory_ratio


def _title(title: str, *, short: bool) -> str:
    return _SHORT.get(title, title) if short else title


_ABOUT: Final = "because of"
_LEAST_ABOUT: Final = 20
"""Narrower than this a pod's name would hardly ever fit."""
_COST: Final = "cost/mo"
_LAYOUTS: Final = (
    ("node", "pool", "cpu", "mem", _COST, "go?", "gone by", "verdict", "reason", "when (UTC)"),
    ("node", "pool", "cpu", "mem", "go?", "gone by", "verdict", "reason", "when (UTC)"),
    ("node", "pool", "cpu", "mem", "go?", "gone by", "reason", "when (UTC)"),
    ("short", "pool", "cpu", "mem", "go?", "gone by", "reason", "when (UTC)"),
    ("tail", "pool", "cpu", "mem", "go?", "gone by", "reason", "when (UTC)"),
    ("short", "cpu", "mem", "go?", "gone by", "reason", "when (UTC)"),
    ("short", "cpu", "mem", "go?", "reason", "when (UTC)"),
)
"""The widest first; what nodes are sorted by stays in each."""
GONE_BY: Final = {RemovedBy.EBB: "Ebb", RemovedBy.AUTOSCALER: "autoscaler", RemovedBy.STAYS: "", None: ""}
STYLES: Final = {Verdict.ORDER: _GREEN, Verdict.WOULD_ORDER: _GREEN, Verdict.WAITING: "yellow",
                  Verdict.IN_FLIGHT: "cyan", Verdict.KEEP: ""}  # fmt: skip


def node_table(given: Shown, width: int) -> Table:
    """Return a line for each node, in groups by verdict, with its whole reason at any width."""
    rows = given.nodes
    tables = _node_tables(given)
    whole, shorter = (max(len(row.about[min(place, len(row.about) - 1)]) for row in rows) for place in (0, 1))
    tightest = replace(tables[-1], gap=1)
    if not whole:
        return fit((*tables, tightest), width)
    for wording in filter(None, (whole, shorter)):
        for table in tables:
            room = width - table.width - table.gap
            if max(wording, len(_ABOUT)) <= room:
                return _with_about(table, rows, room)
    narrow = min(tables, key=lambda table: table.width)
    room = width - narrow.width - narrow.gap
    return _with_about(narrow, rows, room) if room >= _LEAST_ABOUT else fit((*tables, tightest), width)


def _node_tables(given: Shown) -> Sequence[Table]:
    rows = given.nodes
    names = NodeNames({row.name: row.decision.pool for row in rows})
    columns, lost = _node_columns(rows, names), {"short": names.lost_of_short, "tail": names.lost_of_tail}
    starts = accumulate((len(group.nodes) for group in given.groups), initial=0)
    groups = {at: group.title for at, group in zip(starts, given.groups, strict=False)}
    styles = tuple(STYLES[row.decision.verdict] for row in rows)
    chosen = [_with_cost(keys) if given.sort is Sort.COST else keys for keys in _LAYOUTS]
    return [
        Table(tuple(columns[key] for key in keys if key in columns), styles, groups, lead=lost.get(keys[0], ""))
        for keys in chosen
    ]


def _with_cost(keys: tuple[str, ...]) -> tuple[str, ...]:
    at = keys.index("mem") + 1
    return keys if _COST in keys else (*keys[:at], _COST, *keys[at:])


def _node_columns(rows: Sequence[NodeView], names: NodeNames) -> dict[str, Column]:
    def column(title: str, cell: Callable[[NodeView], str], *, right: bool = False) -> Column:
        return Column(title, tuple(map(cell, rows)), right=right, wraps=True)

    columns = {
        "node": column("node", lambda row: row.name),
        "short": column("node", lambda row: names.short(row.name)),
        "tail": column("node", lambda row: names.tail(row.name)),
        "pool": column("pool", lambda row: row.decision.pool or "-"),
        "cpu": column("cpu", lambda row: percent(row.decision.cpu_ratio), right=True),
        "mem": column("mem", lambda row: percent(row.decision.memory_ratio), right=True),
        _COST: column(_COST, lambda row: monthly(row.decision.cost) if row.decision.cost else _NONE, right=True),
        "go?": column("go?", lambda row: "yes" if row.could_go else ""),
        "gone by": column("gone by", lambda row: GONE_BY[row.removed_by]),
        "verdict": column("verdict", lambda row: row.verdict),
        "reason": column("reason", lambda row: row.reason),
        "when (UTC)": column("when (UTC)", lambda row: row.when),
    }
    empty = {key: not any(columns[key].cells) for key in ("go?", "gone by")}
    empty[_COST] = not any(row.decision.cost for row in rows)
    return {key: column for key, column in columns.items() if not empty.get(key)}


def _with_about(table: Table, rows: Sequence[NodeView], room: int) -> Table:
    """Add what stands in the way after the reason, each in the longest wording that has room."""
    cells = tuple(next(wording for wording in row.about if len(wording) <= room) for row in rows)
    at = next(number for number, column in enumerate(table.columns) if column.title == "reason") + 1
    return replace(table, columns=(*table.columns[:at], Column(_ABOUT, cells, wraps=True), *table.columns[at:]))


HEADINGS: Final[Mapping[WordKind, str]] = {
    WordKind.GOES: "Why nodes go",
    WordKind.NODE: "Why nodes were kept in this pass (each node counted once)",
    WordKind.POD: "Pods that keep nodes (a node may count in several lines)",
    WordKind.ALSO: "What else keeps nodes",
}
HOLDS: Final = "holds/mo is the cost of the nodes affected, not the saving; see ebb why-not."
_HELD: Final = (Column("holds/mo", right=True), Column("nodes", right=True), Column("reason"),
                Column("meaning", wraps=True), Column("about", style=DIM, wraps=True, below=True))  # fmt: skip


def held_table(entries: Sequence[LegendEntry], kind: WordKind, most: int, objects: int) -> Table | None:
    """Return the first reasons of a kind, each with the first objects that it is about; None where there are none."""
    own = [entry for entry in entries if entry.kind is kind]
    left = len(own) - most if len(own) > most + 1 else 0  # one row takes no more than "… 1 more"
    rows = [
        (entry.month, f"{entry.nodes:,}", entry.word, entry.sentence, entry.some_objects(objects))
        for entry in own[: len(own) - left]
    ]
    if not own:
        return None
    table = Table.of(_HELD, (*rows, *([("", "", f"… {left} more", "", "")] if left else ())))
    return table if any(entry.cost for entry in own) else table.without_columns((_HELD[0].title,))


NO_OWNER: Final = "(no {by})"
"""In the place of an owner where what keeps the nodes is about no pod, or the pod has no such label."""
REMEDY: Final = "what to do"
OWNERS: Final = "Who keeps nodes, by {by}"
COUNTED_ONCE: Final = "also keeps: a node that several keep counts once, in the line of its first reason."


def blocked_table(blocked: BlockedBy, most: int | None = None) -> Table:
    """Return a row for each owner and reason, `most` of them, and below what all sum up to."""
    figures = (Column("nodes", right=True), Column("cost/mo", right=True), Column("also keeps", right=True))
    reason = (Column("reason", wraps=True), Column(REMEDY, wraps=True, below=True, style=DIM))
    columns = (Column(blocked.by), *figures, *reason)
    rows = (_cells(row, NO_OWNER.format(by=blocked.by)) for row in blocked.rows[:most])
    return Table.of(columns, rows, foot=sum_of_owners(blocked))


def _cells(row: BlockedNodes, nobody: str) -> tuple[str, ...]:
    also = f"{row.also:,}" if row.also else ""
    return row.owner or nobody, f"{row.nodes:,}", monthly(row.cost), also, row.reason, row.remedy


def sum_of_owners(blocked: BlockedBy) -> str:
    """Return what all rows sum up to, and that a node counts once."""
    all_rows = f"All {len(blocked.rows)} lines: {count(blocked.nodes, 'node')}, {monthly(blocked.cost)} a month."
    return f"{all_rows} {COUNTED_ONCE}" if any(row.also for row in blocked.rows) else all_rows


OWNER_COLUMNS: Final = ("cluster", "owner", "reason", "nodes", "cost_per_month", "also_keeps", "remedy")


def owner_rows(cluster: str, blocked: BlockedBy) -> Iterable[Sequence[object]]:
    """Yield the rows for a spreadsheet, under `OWNER_COLUMNS`."""
    for row in blocked.rows:
        month = float(round(dollars_a_month(row.cost), 2))
        yield cluster, row.owner, row.reason, row.nodes, month, row.also, row.remedy


_BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_text(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values, without a line's end."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows((titles, *(map(_as_text, row) for row in rows)))
    return text.getvalue().rstrip("\n")


def _as_text(value: object) -> object:
    """Return a value that no spreadsheet takes for a formula: Kubernetes has no such names, but a file may."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_BEGINS_FORMULA) else value
