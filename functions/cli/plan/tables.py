"""The tables of a plan: scenarios, pools, nodes, the reasons by what their nodes cost, and who keeps nodes.

A narrow terminal loses spare columns of pools; of nodes cost and verdict, what names of a pool share, then causes.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Final

from functions.cli.analysis.blocked import BlockedBy, BlockedNodes
from functions.cli.analysis.pools import GOING, PoolSummary
from functions.cli.input.options import Sort
from functions.cli.output.format import GAP, count, dollars_a_month, monthly, monthly_parts, percent, shorten_names
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


_SHORT: Final = {"memory": "mem", "in flight": "flight", "waiting": "wait", "could go": "could"}
_MEANINGS: Final = {"goes": "gone in steady state", "could go": "by the safety rules alone"}
_GREEN: Final = "bold green"
_NONE: Final = "-"
ALL: Final = "all pools"


def name_of(pool: PoolSummary) -> str:
    return ALL if pool.pool is None else pool.pool or "no pool"


def pool_table(view: PlanView, width: int) -> Table:
    """Return a row for each pool, and one for all where there are several; figures that are spare need room."""
    pools = (*view.pools, view.whole) if len(view.pools) > 1 else view.pools
    figures = tuple(_figures(view, pools))
    cpu = Column("cpu", tuple(percent(pool.cpu_ratio) for pool in pools), right=True)
    memory = Column("memory", tuple(percent(pool.memory_ratio) for pool in pools), right=True)
    nodes = Column("nodes", tuple(f"{pool.nodes:,}" for pool in pools), right=True)
    names = Column("pool", tuple(map(name_of, pools)), wraps=True)
    columns = (names, nodes, cpu, memory, *(column for column, _ in figures))
    spare = [_SHORT.get(column.title, column.title) for column, needed in figures if not needed]
    styles = tuple(BOLD if pool.pool is None else "" for pool in pools)
    whole, short = _with_titles(columns, styles, {}), replace(_with_titles(columns, styles, _SHORT), gap=1)
    return fit(
        (whole, replace(whole, gap=1), *(short.without_columns(spare[:out]) for out in range(len(spare) + 1))), width
    )


def _with_titles(columns: Sequence[Column], styles: tuple[str, ...], short: Mapping[str, str]) -> Table:
    titles = [short.get(column.title, column.title) for column in columns]
    meanings = [_MEANINGS.get(column.title, "") for column in columns]
    meant = (f"{title}: {meaning}" for title, meaning in zip(titles, meanings, strict=True) if meaning)
    foot = "; ".join((f"cpu, {short.get('memory', 'memory')}: requests", *meant))
    named = (replace(column, title=title) for column, title in zip(columns, titles, strict=True))
    return Table(tuple(named), styles, foot=foot)


def _figures(view: PlanView, pools: Sequence[PoolSummary]) -> Iterator[tuple[Column, bool]]:
    """Yield the columns besides name, nodes and requests that have something, and whether each stays at any width."""
    could, rest = view.potential is not None, view.scenarios is not None
    go, paid = not (could or rest), view.plan.cost > 0
    others = (Verdict.IN_FLIGHT, Verdict.WAITING, Verdict.KEEP)
    rows = (
        ("order", _counts(pools, *GOING), _GREEN, go),
        *((VERDICTS[verdict], _counts(pools, verdict), STYLES[verdict], False) for verdict in others),
        ("cost/mo", _money(pools, lambda pool: pool.cost), "", paid),
        ("order/mo", _money(pools, lambda pool: pool.saving), _GREEN, go and paid),
        ("goes", [pool.rest_go for pool in pools], _GREEN, rest),
        ("goes/mo", _money(pools, lambda pool: pool.rest_save), _GREEN, rest and paid),
        ("could go", [pool.could_go for pool in pools], "", could),
        ("could/mo", _money(pools, lambda pool: pool.could_save), "", could and paid),
    )
    for title, found, style, needed in rows:
        cells = tuple(cell if isinstance(cell, str) else f"{cell:,}" if cell else _NONE for cell in found)
        if needed or cells[-1] != _NONE:
            yield Column(title, cells, right=True, style=style), needed


def _counts(pools: Sequence[PoolSummary], *verdicts: Verdict) -> Sequence[int]:
    return [sum(pool.verdicts.get(verdict, 0) for verdict in verdicts) for pool in pools]


def _money(pools: Sequence[PoolSummary], amount: Callable[[PoolSummary], int]) -> Sequence[str]:
    """Return cells of which the pools' add up to that of all."""
    parts = iter(monthly_parts([amount(pool) for pool in pools if pool.pool is not None]))
    cells = [monthly(amount(pool)) if pool.pool is None else next(parts) for pool in pools]
    return [cell if amount(pool) else _NONE for pool, cell in zip(pools, cells, strict=True)]


_ABOUT: Final = "because of"
_LEAST_ABOUT: Final = 20
"""Narrower than this a pod's name would hardly ever fit."""
_COST: Final = "cost/mo"
GONE_BY: Final = {RemovedBy.EBB: "Ebb", RemovedBy.AUTOSCALER: "autoscaler", RemovedBy.STAYS: "", None: ""}
STYLES: Final = {Verdict.ORDER: _GREEN, Verdict.WOULD_ORDER: _GREEN, Verdict.WAITING: "yellow",
                  Verdict.IN_FLIGHT: "cyan", Verdict.KEEP: ""}  # fmt: skip
_NODE: Final = (
    *(Column(title, wraps=True) for title in ("node", "pool")),
    *(Column(title, wraps=True, right=True) for title in ("cpu", "mem", _COST)),
    *(Column(title, wraps=True) for title in ("go?", "gone by", "verdict", "reason", "when (UTC)")),
)


def node_table(given: Shown, width: int) -> Table:
    """Return a line for each node, in groups by verdict, with its whole reason at any width."""
    tables, longest = _node_tables(given), max(len(row.about) for row in given.nodes)
    wanted = max(longest, len(_ABOUT))
    found = fit(tables, width - wanted - GAP)
    room = width - found.width - GAP
    if longest and room >= min(wanted, _LEAST_ABOUT):
        return _with_about(found, given.nodes, room)
    return fit((*tables, replace(tables[-1], gap=1)), width)


def _node_tables(given: Shown) -> Sequence[Table]:
    """Return the table and narrower ones; what nodes are sorted by stays in each."""
    rows = given.nodes
    whole = Table.of(_NODE, map(_node_cells, rows), styles=tuple(STYLES[row.decision.verdict] for row in rows))
    spare = [column.title for column in whole.columns if not set(column.cells) - {"", _NONE}]
    whole = replace(whole.without_columns({"go?", "gone by", _COST} & {*spare}), groups=_groups(rows))
    tight = _with_short_names(whole, {row.name: row.decision.pool for row in rows})
    bare = _with_short_names(whole, {row.name: "" for row in rows})  # two pools may have nodes of one ending
    cost = () if given.sort is Sort.COST else (_COST,)
    return (
        whole,
        whole.without_columns(cost),
        whole.without_columns((*cost, "verdict")),
        tight.without_columns((*cost, "verdict")),
        tight.without_columns((*cost, "verdict", "gone by")),
        bare.without_columns((*cost, "verdict", "gone by", "pool")),
    )


def _with_short_names(whole: Table, pools: Mapping[str, str]) -> Table:
    short, lost = shorten_names(pools)
    names = replace(whole.columns[0], cells=tuple(short.values()))
    return replace(whole, columns=(names, *whole.columns[1:]), lead=lost)


def _node_cells(row: NodeView) -> tuple[str, ...]:
    decision = row.decision
    full = percent(decision.cpu_ratio), percent(decision.memory_ratio)
    cost = monthly(decision.cost) if decision.cost else _NONE
    goes = "yes" if row.could_go else "", GONE_BY[row.removed_by]
    return row.name, decision.pool or _NONE, *full, cost, *goes, row.verdict, row.reason, row.when


def _groups(rows: Sequence[NodeView]) -> dict[int, str]:
    verdicts = [row.verdict for row in rows]
    return {verdicts.index(verdict): f"{verdict} ({number:,})" for verdict, number in Counter(verdicts).items()}


def _with_about(table: Table, rows: Sequence[NodeView], room: int) -> Table:
    """Add what stands in the way after the reason, cut to the room."""
    cells = tuple(row.about if len(row.about) <= room else f"{row.about[: room - 1]}…" for row in rows)
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
