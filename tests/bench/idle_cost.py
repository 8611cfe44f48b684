"""What one installation costs, counted over a simulated day; `python -m tests.bench.idle_cost` writes docs/cost.md."""

import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from infra.monitoring.__main__ import ALERTS
from tests.bench.bill import DAYS, ITEMS, PRICES_AS_OF
from tests.bench.day import Day
from tests.monitoring.alarm import Entry, metrics, stored
from tests.monitoring.log_filters import series

PAGE: Final = Path(__file__).parents[2] / "docs" / "cost.md"
START, END = "<!-- cost -->\n", "<!-- /cost -->"
PASS_SECONDS: Final = 10
"""Assumed, not counted: reading 200 nodes and their pods over the network, and planning."""
PLANNER_GIB, DRAINER_GIB = 1.0, 0.5
"""Terraform's defaults; each has one vCPU."""
ADDED_BYTES: Final = 600
"""What Cloud Logging adds to an entry (names of service and revision, times, ids), and a request's own line has."""
SCALAR_BYTES, DISTRIBUTION_BYTES = 8, 80
"""What a point of a metric counts as (cloud.google.com/stackdriver/pricing; not verified)."""
FLEETS: Final = (1, 2, 3, 5, 10)
OF_STATE: Final = tuple(name for name, item in ITEMS.items() if item.of_one_cluster)
Count = dict[str, float]
Lines = list[tuple[datetime, str, Entry]]
"""When, as written, as stored."""


@cache
def counted() -> tuple[Count, Count]:
    """Return a day's use, with changed verdicts and with all of them in the log."""
    day = Day(datetime(2026, 3, 4, 12, tzinfo=UTC))
    day.run()
    lines = [(at, text, stored(text)) for at, text in day.stream.lines if text.strip()]
    told = [row for row in lines if row[2]["severity"] != "DEBUG"]
    usual = {**_operations(day), **_seen(told, day, per_node=False)}
    return usual, {**usual, **_seen(lines, day, per_node=True)}


def _operations(day: Day) -> Count:
    planned = day.requests["planner"] * PASS_SECONDS
    return {
        "requests": sum(day.requests.values()),
        "vcpu seconds": planned + day.drainer_seconds,
        "gib seconds": planned * PLANNER_GIB + day.drainer_seconds * DRAINER_GIB,
        "jobs": 2,
        "message bytes": day.bus.billed_bytes,
        "reads": day.state.counted["reads"],
        "writes": day.state.counted["writes"],
        "deletes": day.state.counted["created to expire"],
        "objects": day.policy.reads,
    }


def _seen(lines: Lines, day: Day, *, per_node: bool) -> Count:
    requests = sum(day.requests.values())
    written = sum(len(text.encode()) for _, text, _ in lines) + ADDED_BYTES * (len(lines) + requests)
    nodes = sum(entry["labels"]["event"] == "node_decision" for _, _, entry in lines) if per_node else 0
    points = nodes * sum(metric["per_node"] for metric in metrics().values())
    return {"log bytes": written, "metric bytes": _metric_bytes(lines) + points * DISTRIBUTION_BYTES}


def _metric_bytes(lines: Lines) -> int:
    """Sum the points, without those of nodes: one for each series and minute in which there was a line for it."""
    by_event: dict[str, dict[datetime, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for at, _, entry in lines:
        by_event[entry["labels"]["event"]][at].append(entry)
    total = 0
    for metric in metrics().values():
        if metric["per_node"]:
            continue
        size = SCALAR_BYTES if metric["value_type"] == "INT64" else DISTRIBUTION_BYTES
        events = re.findall(r'labels\.event="(\w+)"', metric["filter"]) or list(by_event)
        total += size * sum(len(series(metric, told)) for event in events for told in by_event[event].values())
    return total


def table() -> str:
    usual, everything = counted()
    head = "| what | a day, counted | free each month | beyond | a month | a month without free tier |\n"
    rows = [_row(name, ITEMS[name].what, usual) for name in ITEMS]
    rows += [
        _row("log bytes", "log bytes with `EBB_DECISION_LOG=all`", everything),
        _row("metric bytes", "metric bytes with `EBB_DECISION_LOG=all`", everything),
        f"| alert conditions | {sum(len(alert['conditions']) for alert in ALERTS.values())} | | | | |",
    ]
    most = sum(ITEMS[name].dollars_at_most(usual[name]) for name in ITEMS)
    least = sum(ITEMS[name].dollars(usual[name]) for name in ITEMS)
    rows.append(f"| **all, with changed verdicts only** | | | | **${least:.2f}** | **${most:.2f}** |")
    pages = ", ".join(sorted({item.page for item in ITEMS.values()}))
    sources = f"Prices and free tiers as of {PRICES_AS_OF}: {pages}."
    return head + "|---|---|---|---|---|---|\n" + "\n".join(rows) + f"\n\n{sources}\n\n{_fleet(usual)}"


def _fleet(usual: Count) -> str:
    """Return what several clusters of one project cost, and which free tier is at its end first."""
    counts = ", ".join(f"{clusters}: ${month(clusters, usual):.2f}" for clusters in FLEETS)
    shares = {ITEMS[name].what: 100 * usual[name] * DAYS / ITEMS[name].free for name in ITEMS if ITEMS[name].free}
    first = sorted(shares, key=lambda what: -shares[what])[:3]
    told = ", ".join(f"{shares[what]:.0f} % of the {what}" for what in first)
    state = sum(ITEMS[name].dollars_at_most(usual[name]) for name in OF_STATE)
    return (
        f"**Several clusters** of this size in one project, a month: {counts}.\n"
        f"Of what is free each month one cluster alone uses {told}.\n"
        f"The second one costs ${month(2, usual) - month(1, usual):.2f}. In a project whose free Firestore tier "
        f"another database has, add ${state:.2f}.\n"
    )


def month(clusters: int, a_day: Count) -> float:
    return sum(ITEMS[name].dollars_of(clusters, a_day[name]) for name in ITEMS)


def _row(name: str, what: str, count: Count) -> str:
    item, a_day = ITEMS[name], count[name]
    return (
        f"| {what} | {a_day:,.0f} | {item.free_as_listed} | {item.listed} | ${item.dollars(a_day):.2f} | "
        f"${item.dollars_at_most(a_day):.2f} |"
    )


def written(text: str) -> str:
    before, _, rest = text.partition(START)
    return before + START + table() + END + rest.partition(END)[2]


def numbers(text: str) -> dict[str, float]:
    shown = text.partition(START)[2].partition(END)[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+) \|", shown, re.MULTILINE)
    return {what: float(number.replace(",", "")) for what, number in rows}


def several(text: str) -> dict[int, float]:
    return {int(clusters): float(dollars) for clusters, dollars in re.findall(r"\b(\d+): \$(\d+\.\d\d)", text)}


def run(*, quick: bool) -> None:
    del quick
    print(table(), flush=True)  # noqa: T201 - this is what the command is for


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} is up to date; counted: {json.dumps(counted()[0])}\n")
