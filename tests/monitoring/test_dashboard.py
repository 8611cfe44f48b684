"""The dashboard shows what is made, in a form and a layout that the Dashboard API takes."""

import json
import re
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from shared.core.reasons import ReasonGroup
from tests.monitoring.alarm import NAME, VALUES, alerts, dashboard, fleet, fleet_dashboard, metrics
from tests.monitoring.histories import entries, outage, removal, returned, trouble
from tests.monitoring.log_filters import at, matches
from tests.pages import DOCS

Tiles = list[dict[str, Any]]
WHY_HERE, LAST_NIGHT = "Why is node X still here?", "What did Ebb do last night?"
"""Questions of which docs/run.md has the queries."""


def tiles_of(board: dict[str, Any]) -> Tiles:
    return [{"xPos": 0, "yPos": 0, **tile} for tile in board["mosaicLayout"]["tiles"]]


TILES, FLEET = tiles_of(dashboard()), tiles_of(fleet_dashboard())
BOTH = pytest.mark.parametrize("tiles", [pytest.param(TILES, id="one cluster"), pytest.param(FLEET, id="all clusters")])
COLUMNS, MOST_TILES = 48, 100
"""A dashboard may have 100 widgets (cloud.google.com/monitoring/quotas; 40 in older text)."""
WIDGETS = {"xyChart", "scorecard", "logsPanel", "text"}
PLOTS = {"LINE", "STACKED_AREA", "STACKED_BAR"}
REDUCERS = {"REDUCE_SUM", "REDUCE_MEAN", "REDUCE_PERCENTILE_50", "REDUCE_PERCENTILE_95"}


def names(text: str) -> set[str]:
    return set(re.findall(rf"logging\.googleapis\.com/user/(?:{NAME}|ebb-fleet)/(\w+)", text))


@BOTH
def test_tiles_fill_the_mosaic_row_by_row(tiles: Tiles) -> None:
    assert {board["mosaicLayout"]["columns"] for board in (dashboard(), fleet_dashboard())} == {COLUMNS}
    assert len(tiles) <= MOST_TILES
    ends = 0
    for top, row in groupby(sorted(tiles, key=lambda tile: (tile["yPos"], tile["xPos"])), key=itemgetter("yPos")):
        places = [(tile["xPos"], tile["width"], tile["height"]) for tile in row]
        *starts, end = accumulate((width for _, width, _ in places), initial=0)
        (height,) = {height for _, _, height in places}
        assert ([start for start, _, _ in places], end, top) == (starts, COLUMNS, ends)
        ends += height


def test_it_holds_nothing_that_the_api_leaves_out_of_its_answer() -> None:
    """Else every plan would show a change (hashicorp/terraform-provider-google#16173)."""

    def empty(value: Any, path: str) -> list[str]:
        if value in (0, "", [], {}, None):
            return [path]
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [found for key, part in parts for found in empty(part, f"{path}.{key}")]

    assert empty(dashboard(), "dashboard") + empty(fleet_dashboard(), "fleet") == []


@pytest.mark.parametrize("tile", [pytest.param(tile, id=tile["widget"]["title"]) for tile in [*TILES, *FLEET]])
def test_a_widget_is_of_one_kind_that_the_api_knows(tile: dict[str, Any]) -> None:
    widget = tile["widget"]

    assert widget.keys() - {"title"} <= WIDGETS
    assert len(widget) == 2
    for shown in widget.get("xyChart", {}).get("dataSets", []):
        query = shown["timeSeriesQuery"]
        assert shown["plotType"] in PLOTS
        assert len(query.keys() & {"timeSeriesFilter", "prometheusQuery"}) == 1
        if "timeSeriesFilter" in query:
            aggregation = query["timeSeriesFilter"]["aggregation"]
            assert aggregation["crossSeriesReducer"] in REDUCERS
            assert aggregation["perSeriesAligner"] in {"ALIGN_SUM", "ALIGN_DELTA"}


@pytest.mark.acceptance(107)
def test_every_name_in_dashboard_and_alerts_is_a_metric_and_what_is_owed_is_shown() -> None:
    shown = names(json.dumps(TILES).replace("_sum", "")) | names(json.dumps(TILES))
    watched = names(json.dumps(alerts()))

    assert {name.removesuffix("_sum") for name in shown} <= metrics().keys()
    assert watched <= metrics().keys()
    assert {
        "cluster_cpu_utilization", "cluster_memory_utilization", "pool_excess_nodes", "pool_marked_nodes",
        "pool_in_flight_nodes", "nodes_cordoned", "nodes_drained", "nodes_uncordoned", "reclaimed_dollars",
        "cluster_cost", "drains",
    } <= shown  # fmt: skip
    assert {f"kept_{group.value}" for group in ReasonGroup} <= shown


@BOTH
def test_a_chart_groups_and_filters_by_labels_that_its_metric_has(tiles: Tiles) -> None:
    made = metrics() if tiles is TILES else fleet()["metrics"]
    for shown in (shown for tile in tiles for shown in tile["widget"].get("xyChart", {}).get("dataSets", [])):
        text = json.dumps(shown)
        (name,) = {found.removesuffix("_sum") for found in names(text)}
        used = set(re.findall(r"metric\.labels?\.\W*(\w+)", text)) | set(re.findall(r"sum by \((\w+)\)", text))
        assert used <= made[name]["labels"].keys()
        assert tiles is TILES or "cluster" in used


def test_a_counter_is_summed_and_a_gauge_is_read_as_its_mean() -> None:
    for tile in TILES:
        for shown in tile["widget"].get("xyChart", {}).get("dataSets", []):
            query = shown["timeSeriesQuery"].get("timeSeriesFilter")
            if query is None:
                continue
            (name,) = names(json.dumps(query))
            counted = metrics()[name]["value_type"] == "INT64"
            assert (query["aggregation"]["perSeriesAligner"] == "ALIGN_SUM") == counted
            assert (query["aggregation"]["crossSeriesReducer"] == "REDUCE_SUM") == counted


def panel(question: str) -> str:
    (found,) = [tile["widget"]["logsPanel"]["filter"] for tile in TILES if question in tile["widget"]["title"]]
    return str(found)


def texts(tiles: Tiles) -> str:
    return "\n".join(tile["widget"]["text"]["content"] for tile in tiles if "text" in tile["widget"])


def test_panels_and_texts_hold_what_the_runbook_and_the_alerts_hold() -> None:
    _, _, queries = (DOCS / "run.md").read_text(encoding="utf-8").partition("### Queries for Cloud Logging")
    written = dict(re.findall(r"#### ([^\n]+)\n\n[^\n]+\n\n```\n(.+?)\n```", queries, re.DOTALL))

    for question in (WHY_HERE, LAST_NIGHT):
        assert panel(question) == written[question].replace("CLUSTER", VALUES["cluster"])
    assert [key for key, alert in alerts().items()
            if f"**{alert['title']}**: {alert['conditions'][0]['title']}" not in texts(TILES)] == []  # fmt: skip


def test_the_panel_on_a_node_finds_verdict_steps_and_end() -> None:
    query = panel(WHY_HERE).replace("NODE", "n1")

    found = [entry for entry in entries(removal()) if matches(query, entry)]
    assert {entry["labels"]["node"] for entry in found} == {"n1"}
    events = [entry["labels"]["event"] for entry in found]
    assert {"node_decision", "order_published", "drain_step", "drain_result"} <= set(events)


def test_the_panel_on_the_night_finds_each_order_and_each_end() -> None:
    logged = [*entries(removal()), *entries(returned())]
    found = [entry for entry in logged if matches(panel(LAST_NIGHT), entry)]

    outcomes = [entry["jsonPayload"].get("outcome") for entry in found]
    assert sorted(filter(None, outcomes)) == ["given_back", "removed"]
    assert "order_published" in {entry["labels"]["event"] for entry in found}
    assert VALUES["cluster"] in panel(LAST_NIGHT)


WEEKLY = re.compile(
    r"### ([^\n]+)\n\n```sh\ngcloud logging read '(.+?)' .+? 'value\((.+?)\)'.+?\n```\n\n"
    r"- \*\*Normal\*\*: ([^\n]+)\n- \*\*Act\*\*: ([^\n]+)\n"
)
REVIEWS = WEEKLY.findall((DOCS / "review.md").read_text(encoding="utf-8"))
"""Of each query the question, the filter, the fields that are counted, what is normal, when to act."""


def test_the_page_the_saved_queries_and_the_dashboard_hold_the_same_reviews() -> None:
    panels = [tile["widget"]["logsPanel"]["filter"] for tile in FLEET if "logsPanel" in tile["widget"]]
    saved = [(row["title"], row["description"], row["filter"]) for row in fleet()["queries"].values()]

    assert saved == [
        (question, f"Normal: {normal} Act: {act}", terms.replace(" AND ", "\n"))
        for question, terms, _, normal, act in REVIEWS
    ]
    assert panels == [terms for _, _, terms in saved]
    assert all(f"**{question}** {text}" in texts(FLEET) for question, text, _ in saved)


def test_a_metric_of_all_clusters_is_that_of_one_by_cluster() -> None:
    ours = f'labels.cluster="{VALUES["cluster"]}"'
    for name, metric in fleet()["metrics"].items():
        one = metrics()[name]
        labels = {"cluster": "EXTRACT(labels.cluster)", **one["labels"]}
        assert metric == {**one, "labels": labels, "filter": one["filter"].replace(ours, "labels.cluster:*")}


@pytest.mark.parametrize(("terms", "fields"), [pytest.param(row[1], row[2], id=row[0]) for row in REVIEWS])
def test_a_weekly_query_finds_lines_and_counts_by_fields_that_they_have(
    terms: str, fields: str, tmp_path: Path
) -> None:
    lines = [*entries(removal()), *entries(returned()), *entries(trouble()), *outage(tmp_path)]
    found = [entry for entry in lines if matches(terms.replace(" AND ", "\n"), entry)]

    assert found
    assert [path for path in fields.split(", ") if not any(at(entry, path) for entry in found)] == []
    assert all(at(entry, "labels.cluster") == VALUES["cluster"] for entry in found)
