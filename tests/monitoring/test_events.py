"""Each line that Ebb writes is in the table of events, also in trouble, and each metric counts of them what it says."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.errors import Retryable, Stale
from shared.log import LABELS
from shared.ports import pool_key
from tests.builders import GIB, NOW, claim, node, order, pod, policy
from tests.depth import cases
from tests.fakes import FakeLog
from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.mixtures import mixture
from tests.functions.fake_ebb import FakeEbb
from tests.monitoring.alarm import Entry, metrics, written
from tests.monitoring.events import EVENTS, PAGE, Event, section
from tests.monitoring.histories import HISTORIES, entries, fake_ebb, outage, removal, returned, tick
from tests.monitoring.log_filters import Series, faults, matches, series


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    logged = [entry for make in HISTORIES.values() for entry in entries(make())]
    return [*logged, *outage(Path(tmp_path_factory.mktemp("outage")))]


def test_every_line_has_only_declared_events_labels_and_fields_of_their_types(lines: list[Entry]) -> None:
    assert faults(lines) == []


@pytest.mark.parametrize("event", [pytest.param(event, id=event.name) for event in EVENTS])
def test_every_event_declared_is_written_with_all_it_declares(event: Event, lines: list[Entry]) -> None:
    own = [entry for entry in lines if entry["labels"]["event"] == event.name]

    labels = {name for entry in own for name in entry["labels"]}
    fields = {name for entry in own for name, value in entry["jsonPayload"].items() if value is not None}
    assert labels == {"cluster", "event", *event.labels, *event.other_labels}
    assert fields == {"message", *(field.name for field in event.fields)}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_each_section_says_of_an_event_what_the_index_does(event: Event) -> None:
    labels = ", ".join([f"`{label}`" for label in event.labels] + [f"`{label}`*" for label in event.other_labels])
    about, _, _ = section(event.name).partition(f" Labels: {labels}.\n\n| field | type | what |\n")

    assert f"| [`{event.name}`](#{event.name}) | {about} | {labels} |\n" in PAGE


def test_the_table_knows_no_label_that_the_log_does_not() -> None:
    declared = {label for event in EVENTS for label in (*event.labels, *event.other_labels)}

    assert declared | {"cluster", "event"} == set(LABELS)


AFTERWARDS = 3600.0
"""Seconds in which what was begun comes to its end."""


def logged(history: History) -> list[Entry]:
    """Return what is written while the history happens, but for what a pass tells; the planner's main names the run."""
    ebb = Installation(history.setting, history.seed, history.faults, history.message_faults, history.clock_skew)
    log = FakeLog()
    ebb.ports = replace(ebb.ports, log=log)
    for at, act in sorted(history.acts, key=lambda row: row[0]):
        ebb.live(max(0.0, at - ebb.passed))
        act(ebb)
    ebb.live(AFTERWARDS)
    return written(log.lines)


@pytest.mark.parametrize("first", [0, 10])
def test_no_fault_makes_a_line_that_the_table_does_not_know(first: int) -> None:
    lines = [entry for seed in range(first, first + 10) for entry in logged(mixture(seed, people=True))]

    events = {entry["labels"]["event"] for entry in lines}
    assert {"order_published", "drain_step", "eviction", "drain_result"} <= events
    assert [fault for fault in faults(lines) if "label run_id is missing" not in fault] == []


POOL_A = (("pool", "a"),)
POOL_B = (("pool", "b"),)


def read(name: str, logged: list[Entry]) -> Series:
    return series(metrics()[name], logged)


def last(name: str, logged: list[Entry]) -> dict[Any, float]:
    return {labels: values[-1] for labels, values in read(name, logged).items()}


def acts(name: str, logged: list[Entry]) -> dict[str, int]:
    return {dict(labels)["result"]: len(values) for labels, values in read(name, logged).items()}


@pytest.mark.parametrize("name", metrics())
def test_every_metric_finds_lines_with_values_and_labels_that_it_can_read(name: str, lines: list[Entry]) -> None:
    found = read(name, lines)

    assert found
    assert any(all(value for _, value in labels) for labels in found)


def test_a_metric_counts_no_line_of_another_cluster(lines: list[Entry]) -> None:
    others = [
        {**entry, "labels": {**entry["labels"], "cluster": "projects/p/locations/l/clusters/d"}} for entry in lines
    ]

    assert not any(matches(metric["filter"], entry) for metric in metrics().values() for entry in others)


def two_pools() -> FakeEbb:
    """Pool a: one full node, one half empty and marked, one half empty and new, one in flight. Pool b: one node."""
    nodes = [node(name, cpu=4, memory=16) for name in ("full", "marked", "young", "held")]
    nodes[2] = node("young", cpu=4, memory=16, created=NOW)
    pods = [pod("big", on="full", cpu=3.5, memory=1), pod("small", on="marked", cpu=1, memory=4)]
    rules = policy(minimum_node_age=timedelta(minutes=20), consolidate_after=timedelta(hours=1))
    ebb = FakeEbb(*nodes, node("other", cpu=2, memory=8, pool="b"), *pods, policy=rules)
    ebb.state.put(pool_key("a"), PoolMarks(marks={"uid-marked": Mark("marked", NOW - timedelta(minutes=7))}), None)
    ebb.remember(ClusterState(claims={"uid-held": claim("held")}, last_pass=NOW - timedelta(minutes=5)))
    return ebb


@pytest.mark.acceptance(100)
def test_the_gauges_of_a_pool_are_what_the_pool_is() -> None:
    ebb = two_pools()
    tick(ebb)
    logged = entries(ebb, "INFO")

    assert last("pool_nodes", logged) == {POOL_A: 4, POOL_B: 1}
    assert last("pool_underutilized_nodes", logged) == {POOL_A: 1, POOL_B: 0}
    assert last("pool_marked_nodes", logged) == {POOL_A: 1, POOL_B: 0}
    assert last("pool_in_flight_nodes", logged) == {POOL_A: 1, POOL_B: 0}
    assert last("pool_cpu_utilization", logged) == {POOL_A: 4.5 / 16, POOL_B: 0}
    assert last("pool_memory_utilization", logged) == {POOL_A: 5 / 64, POOL_B: 0}


def of_node(name: str, logged: list[Entry]) -> dict[str, float]:
    return {dict(labels)["node"]: values[-1] for labels, values in read(name, logged).items()}


@pytest.mark.acceptance(22, 101)
def test_the_gauges_of_a_node_are_what_it_is_and_end_with_it() -> None:
    ebb = two_pools()
    tick(ebb)
    logged = entries(ebb, "INFO")

    names = {"full", "marked", "young", "held", "other"}
    assert of_node("node_allocatable_cpu", logged) == {**dict.fromkeys(names, 4), "other": 2}
    assert of_node("node_allocatable_memory", logged) == {**dict.fromkeys(names, 16 * GIB), "other": 8 * GIB}
    assert of_node("node_requested_cpu", logged) == {**dict.fromkeys(names, 0), "full": 3.5, "marked": 1}
    assert of_node("node_requested_memory", logged) == {**dict.fromkeys(names, 0), "full": GIB, "marked": 4 * GIB}
    assert of_node("node_cpu_ratio", logged) == {**dict.fromkeys(names, 0), "full": 0.875, "marked": 0.25}
    assert of_node("node_memory_ratio", logged) == {**dict.fromkeys(names, 0), "full": 1 / 16, "marked": 0.25}

    del ebb.cluster.nodes["full"]
    before = len(ebb.log.lines)
    ebb.pass_time(minutes=5)
    tick(ebb, "r2")
    ebb.log.lines[:before] = []
    assert set(of_node("node_cpu_ratio", entries(ebb, "INFO"))) == names - {"full"}


def test_a_series_for_each_node_is_made_on_request_only() -> None:
    assert {name for name, metric in metrics().items() if metric["per_node"]} == {
        name for name in metrics() if name.startswith("node_")
    }


@pytest.mark.acceptance(102)
def test_the_gauges_of_the_cluster_are_what_the_cluster_is() -> None:
    ebb = two_pools()
    ebb.cluster.put(node("cordoned", unschedulable=True), pod("lost", unschedulable_since=NOW))
    tick(ebb)
    logged = entries(ebb, "INFO")

    expected = {
        "cluster_nodes": 6,
        "cluster_non_tainted_nodes": 5,
        "cluster_unschedulable_nodes": 1,
        "cluster_pods": 3,
        "cluster_unschedulable_pods": 1,
        "cluster_cpu_utilization": round(4.5 / 22, 9),
        "cluster_memory_utilization": round(5 / 88, 9),
        "cluster_excess_nodes": 3.375,  # 13.5 of 18 cores are free, in units of the emptiest unclaimed node of 4
        "claims": 1,
        "oldest_mark": 7 * 60,
        "kept_full": 1,
        "kept_trouble": 1,
    }
    assert {name: last(name, logged)[()] for name in expected} == expected


ONCE = {"attempted": 1, "succeeded": 1}


@pytest.mark.acceptance(103)
@cases(
    "history, drained, uncordoned, end",
    ("one that fails: only an attempt", returned, {"attempted": 1}, ONCE, ("reason", "deadline")),
    ("one that goes well: a success, too", removal, ONCE, {}, ("outcome", "removed")),
)
def test_a_drain_counts_as_attempt_and_success(
    history: Callable[[], FakeEbb], drained: dict[str, int], uncordoned: dict[str, int], end: tuple[str, str]
) -> None:
    logged = entries(history())

    assert acts("nodes_cordoned", logged) == ONCE
    assert acts("nodes_drained", logged) == drained
    assert acts("nodes_uncordoned", logged) == uncordoned
    assert {dict(labels)[end[0]] for labels in read("drains", logged)} == {end[1]}


def test_a_cordon_and_an_uncordon_that_fail_count_as_attempts_only() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["take"] = [Stale("changed"), Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    assert acts("nodes_cordoned", entries(ebb)) == {"attempted": 2}

    ebb.policy.policy = policy(cluster_wide={"paused": True})
    ebb.cluster.put(node("n1", unschedulable=True))
    ebb.drain(order())
    assert acts("nodes_uncordoned", entries(ebb)) == {}


def test_time_behind_a_disruption_budget_is_shown_by_its_name() -> None:
    ebb = returned()
    blocked = read("blocked_seconds", entries(ebb))

    assert set(blocked) == {(("pdb", "default/r1"),)}
    record = ebb.record()
    assert record.deadline is not None
    assert record.cordoned_at is not None
    whole = (record.deadline - record.cordoned_at).total_seconds()
    assert whole - 15 <= sum(blocked[("pdb", "default/r1"),]) <= whole


def test_a_removed_node_counts_as_reclaimed_in_hours_and_money() -> None:
    logged = entries(removal())
    price = 0.1340  # e2-standard-4 in shared/data/prices.yaml, to a tenth of a cent

    assert read("reclaimed_nodes", logged)[()] == [0, 0, 1]
    assert read("reclaimed_node_hours", logged)[()][-1] == pytest.approx(5 / 60, abs=1e-6)
    assert read("reclaimed_cost", logged)[()][-1] == pytest.approx(price, abs=2e-3)
    assert read("reclaimed_dollars", logged)[()][-1] == pytest.approx(price * 5 / 60, abs=2e-4)
    assert len(read("drain_seconds", logged)[POOL_A]) == 1
    assert read("deletion_seconds", logged)[POOL_A] == [pytest.approx(300, abs=60)]
