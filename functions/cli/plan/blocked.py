"""Who keeps nodes, as a table, as JSON and for a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, Final

from functions.cli.analysis.blocked import BlockedNodes
from functions.cli.output.format import count, dollars, dollars_a_month, monthly
from functions.cli.output.tables import DIM, Column, Table
from functions.cli.plan.as_json import money

NOT_POD: Final = "(no pod)"
"""In the place of an owner where what keeps the nodes is about no pod, or the pod has no such label."""
_CSV: Final = ("owner", "reason", "nodes", "cost_per_month", "also_keeps", "remedy")


def blocked_table(rows: Sequence[BlockedNodes], by: str, most: int | None = None) -> Table:
    """Return a row for each owner and reason, and what they sum up to; all are in the sum, also those not shown."""
    cells = [_cells(row) for row in rows[:most]]
    return Table.of(
        (
            Column(by),
            Column("reason"),
            Column("nodes", right=True),
            Column("cost/mo", right=True),
            Column("also keeps", right=True),
            Column("remedy", wraps=True, below=True, style=DIM),
        ),
        cells,
        foot=total_sentence(rows),
    )


def _cells(row: BlockedNodes) -> tuple[str, ...]:
    also = f"{row.also:,}" if row.also else ""
    return row.owner or NOT_POD, row.reason, f"{row.nodes:,}", monthly(row.cost), also, row.remedy


def total_sentence(rows: Sequence[BlockedNodes]) -> str:
    """Return the sum, and that a node counts once."""
    nodes, cost = sum(row.nodes for row in rows), sum(row.cost for row in rows)
    also = "also keeps: nodes that several keep count once, in the row of their first reason."
    sum_ = f"{count(nodes, 'node')} for {monthly(cost)} a month in all."
    return f"{sum_} {also}" if any(row.also for row in rows) else sum_


def blocked_documents(rows: Iterable[BlockedNodes]) -> list[dict[str, Any]]:
    return [
        {
            "owner": row.owner or None,
            "reason": row.reason,
            "nodes": row.nodes,
            "cost_per_hour": money(dollars(row.cost)),
            "also_keeps": row.also,
            "remedy": row.remedy or None,
        }
        for row in rows
    ]


def blocked_csv(rows: Iterable[BlockedNodes]) -> str:
    """Return the rows for a spreadsheet."""
    return csv_text(
        _CSV,
        (
            (row.owner, row.reason, row.nodes, float(round(dollars_a_month(row.cost), 2)), row.also, row.remedy)
            for row in rows
        ),
    )


def csv_text(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values, without a line's end."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((titles, *rows))
    return text.getvalue().rstrip("\n")
