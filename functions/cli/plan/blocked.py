"""Who keeps nodes, as a table, as JSON and for a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, Final

from functions.cli.analysis.blocked import BlockedBy, BlockedNodes
from functions.cli.output.format import count, dollars, dollars_a_month, monthly
from functions.cli.output.tables import DIM, Column, Table

NOBODY: Final = "(no pod)"
"""In the place of an owner where what keeps the nodes is about no pod, or the pod has no such label."""
REMEDY: Final = "what to do"
TITLE: Final = "Who keeps nodes, by {by}"
ONCE: Final = "also keeps: a node that several keep counts once, in the line of its first reason."


def blocked_table(blocked: BlockedBy, most: int | None = None) -> Table:
    """Return a row for each owner and reason, `most` of them, and below what all sum up to."""
    figures = (Column("nodes", right=True), Column("cost/mo", right=True), Column("also keeps", right=True))
    reason = (Column("reason", wraps=True), Column(REMEDY, wraps=True, below=True, style=DIM))
    columns = (Column(blocked.by), *figures, *reason)
    return Table.of(columns, map(_cells, blocked.rows[:most]), foot=sum_sentence(blocked))


def _cells(row: BlockedNodes) -> tuple[str, ...]:
    also = f"{row.also:,}" if row.also else ""
    return row.owner or NOBODY, f"{row.nodes:,}", monthly(row.cost), also, row.reason, row.remedy


def sum_sentence(blocked: BlockedBy) -> str:
    """Return what all rows sum up to, and that a node counts once."""
    all_rows = f"All {len(blocked.rows)} lines: {count(blocked.nodes, 'node')}, {monthly(blocked.cost)} a month."
    return f"{all_rows} {ONCE}" if any(row.also for row in blocked.rows) else all_rows


def blocked_document(blocked: BlockedBy) -> dict[str, Any]:
    return {
        "by": blocked.by,
        "nodes": blocked.nodes,
        "cost_per_hour": _money(blocked.cost),
        "rows": [
            {
                "owner": row.owner or None,
                "reason": row.reason,
                "nodes": row.nodes,
                "cost_per_hour": _money(row.cost),
                "also_keeps": row.also,
                "remedy": row.remedy or None,
            }
            for row in blocked.rows
        ],
    }


def _money(micro: int) -> float:
    return float(round(dollars(micro), 4))


COLUMNS: Final = ("cluster", "owner", "reason", "nodes", "cost_per_month", "also_keeps", "remedy")


def csv_rows(cluster: str, blocked: BlockedBy) -> Iterable[Sequence[object]]:
    """Yield the rows for a spreadsheet, under `COLUMNS`."""
    for row in blocked.rows:
        month = float(round(dollars_a_month(row.cost), 2))
        yield cluster, row.owner, row.reason, row.nodes, month, row.also, row.remedy


def csv_text(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values, without a line's end."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows((titles, *rows))
    return text.getvalue().rstrip("\n")
