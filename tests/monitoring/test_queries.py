"""The queries for BigQuery give the figures of the lines that Ebb writes."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

from tests.builders import CLUSTER, NOW
from tests.monitoring.alarm import Entry
from tests.monitoring.histories import entries, summed_up
from tests.pages import ROOT

QUERIES = ROOT / "terraform" / "review" / "queries"
FIELDS = {
    "timestamp": "TIMESTAMP",
    "labels": "STRUCT(cluster VARCHAR, event VARCHAR, reason VARCHAR)",
    "jsonPayload": "STRUCT(ended VARCHAR, removed_by_ebb BIGINT, removed_by_others BIGINT, saved DOUBLE, "
    "older_removals DOUBLE, promised DOUBLE, currency VARCHAR, nodes BIGINT, per_hour DOUBLE)",
}
"""Of the table that a sink of Cloud Logging makes, those that the queries read."""


def answer(query: str, lines: list[Entry], folder: Path) -> list[dict[str, Any]]:
    file = folder / "lines.json"
    times = (NOW + number * timedelta(microseconds=1) for number in range(len(lines)))
    rows = [{"timestamp": f"{at:%Y-%m-%dT%H:%M:%S.%f}", **line} for at, line in zip(times, lines, strict=True)]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    text = (QUERIES / f"{query}.sql").read_text(encoding="utf-8").replace("`${table}`", "logs")
    with duckdb.connect() as database:
        columns = ", ".join(f"{name!r}: {kind!r}" for name, kind in FIELDS.items())
        database.execute(f"CREATE TABLE logs AS FROM read_json('{file}', columns = {{{columns}}})")
        found = database.execute(sqlglot.transpile(text, read="bigquery", write="duckdb")[0])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.fixture(scope="module")
def lines() -> list[Entry]:
    return entries(summed_up())


def test_each_week_has_one_row_also_if_its_summary_was_published_twice(lines: list[Entry], tmp_path: Path) -> None:
    weeks = [line for line in lines if line["labels"]["event"] == "weekly_summary" and "ended" in line["jsonPayload"]]
    rows = answer("nodes-and-money", [*lines, *weeks], tmp_path)
    assert len(rows) == len(weeks) > 1
    days = [week["jsonPayload"]["ended"][:10] for week in weeks]
    assert [row["week_to"] for row in rows] == sorted(days, reverse=True)
    assert rows[0]["promised"] == weeks[-1]["jsonPayload"]["promised"] > 0
    assert [row["older_removals"] for row in rows] == [week["jsonPayload"]["older_removals"] for week in weeks[::-1]]
    assert {(row["cluster"], row["currency"]) for row in rows} == {(CLUSTER, "USD")}


def test_reasons_have_what_they_kept_on_average_over_all_passes(lines: list[Entry], tmp_path: Path) -> None:
    missed = [line for line in lines if line["labels"]["event"] == "missed_saving"]
    passes = sum(line["labels"]["event"] == "cluster_state" for line in lines)
    rows = answer("reasons", lines, tmp_path)
    assert {row["reason"] for row in rows} == {line["labels"]["reason"] for line in missed}
    total = sum(line["jsonPayload"]["per_hour"] for line in missed) / passes
    assert sum(row["per_hour"] for row in rows) == pytest.approx(total, abs=0.01 * len(rows))
