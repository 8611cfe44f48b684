"""The log contract: one JSON object a line in Cloud Logging's form, whatever is to be written."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.log import LABELS, JsonLog, trace_id
from shared.ports import Log
from tests.builders import CLUSTER, NOW
from tests.depth import cases

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PREFIX = "logging.googleapis.com"


def log(level: str = "DEBUG") -> tuple[JsonLog, io.StringIO]:
    stream = io.StringIO()
    return JsonLog(stream, level, CLUSTER, "p"), stream


def written(*, message: Any = "m", severity: str = "INFO", **fields: Any) -> dict[str, Any]:
    to, stream = log()
    to.event("node_decision", message, severity=severity, **fields)
    [line, rest] = stream.getvalue().split("\n")  # as Cloud Logging does: other breaks may stand in a field
    assert not rest
    return dict(json.loads(line))


def labels(entry: Mapping[str, Any]) -> dict[str, str]:
    return dict(entry[f"{PREFIX}/labels"])


class TwoPieces(io.StringIO):
    """Takes a line in two pieces, as functions-framework writes one with its execution id, and lets another log try."""

    def __init__(self, between: Callable[[], None]) -> None:
        super().__init__()
        self._between = between

    def write(self, text: str, /) -> int:
        between, self._between = self._between, lambda: None
        super().write(text.removesuffix("\n"))
        between()
        return super().write("\n")


def test_two_requests_never_write_into_one_line() -> None:
    """Each request of a function has a log of its own, and all of them one standard output."""
    other = Thread(target=lambda: JsonLog(stream, "DEBUG", CLUSTER, "p").event("b", "second"))

    def another_request() -> None:
        other.start()
        other.join(timeout=0.5)  # it is let in at once, or not before this line is whole

    stream = TwoPieces(another_request)
    JsonLog(stream, "DEBUG", CLUSTER, "p").event("a", "first")
    other.join()

    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["first", "second"]


@pytest.mark.acceptance(105)
def test_cluster_state_and_candidate_are_lines_of_the_schema() -> None:
    to, stream = log()
    port: Log = to.bind(run_id="r1", trace=TRACE, policy_hash="abc")
    port.event("cluster_state", "60 nodes, 12 could go", nodes=60, cpu_ratio=0.55, excess=12.5)
    port.event("node_decision", "keep: too young", node="gke-a", pool="nodepool1", reason="too_young", cpu_ratio=0.4)

    state, candidate = (json.loads(line) for line in stream.getvalue().splitlines())

    common = {"severity": "INFO", f"{PREFIX}/trace": f"projects/p/traces/{TRACE}", "policy_hash": "abc"}
    assert state == {
        **common,
        "message": "60 nodes, 12 could go",
        f"{PREFIX}/labels": {"cluster": CLUSTER, "run_id": "r1", "event": "cluster_state"},
        "nodes": 60,
        "cpu_ratio": 0.55,
        "excess": 12.5,
    }
    assert candidate == {
        **common,
        "message": "keep: too young",
        f"{PREFIX}/labels": {
            "cluster": CLUSTER, "run_id": "r1", "node": "gke-a", "pool": "nodepool1", "event": "node_decision",
            "reason": "too_young",
        },
        "cpu_ratio": 0.4,
    }  # fmt: skip


def test_a_drains_lines_are_one_operation() -> None:
    assert written(order_id="0a1b")[f"{PREFIX}/operation"] == {"id": "0a1b", "producer": "ebb"}
    assert f"{PREFIX}/operation" not in written(node="gke-a")


def test_a_label_that_was_not_given_is_left_out() -> None:
    assert labels(written(node="", pool=None)) == {"cluster": CLUSTER, "event": "node_decision"}


class Reason(StrEnum):
    TOO_YOUNG = "too_young"


@cases(
    "expected, value",
    ("an enum", "too_young", Reason.TOO_YOUNG),
    ("a number", "5", 5),
    ("a truth", "true", True),
    ("a list", '["a"]', ["a"]),
    ("half a character", "?", "\ud800"),
    ("a long name", "n" * 1000, "n" * 5000),
)
def test_a_label_is_always_text(expected: str, value: object) -> None:
    assert labels(written(node=value))["node"] == expected


@cases(
    "expected, level",
    ("debug", ["DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"], "DEBUG"),
    ("info", ["INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"], "INFO"),
    ("warning", ["WARNING", "ERROR", "CRITICAL"], "WARNING"),
    ("error", ["ERROR", "CRITICAL"], "ERROR"),
)
def test_only_lines_from_the_level_up_are_written(expected: list[str], level: str) -> None:
    to, stream = log(level)
    for severity in ("DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"):
        to.event("e", "m", severity=severity)

    assert [json.loads(line)["severity"] for line in stream.getvalue().splitlines()] == expected


def test_a_bound_log_adds_to_what_its_parent_shows_and_leaves_the_parent_alone() -> None:
    to, stream = log()
    to.bind(run_id="r1").bind(node="gke-a", run_id="r2").event("e", "m")
    to.event("e", "m")

    child, parent = (labels(json.loads(line)) for line in stream.getvalue().splitlines())
    assert (child["run_id"], child["node"]) == ("r2", "gke-a")
    assert "run_id" not in parent


def test_what_is_added_to_a_log_stands_in_its_later_lines_and_in_nobody_elses() -> None:
    to, stream = log()
    child = to.bind(order_id="o")
    child.event("e", "m", pool="")
    child.add(pool="a")
    child.event("e", "m")
    to.event("e", "m")

    assert ["pool" in labels(json.loads(line)) for line in stream.getvalue().splitlines()] == [False, True, False]


def test_a_field_of_a_name_that_cloud_logging_reads_itself_is_set_aside() -> None:
    to, stream = log()
    to.bind(severity="x", message="y").event("e", "m", time="z", timestamp=5, httpRequest={})

    entry = json.loads(stream.getvalue())
    assert (entry["severity"], entry["message"]) == ("INFO", "m")
    assert (entry["time_"], entry["timestamp_"], entry["severity_"], entry["message_"]) == ("z", 5, "x", "y")
    assert not {"time", "timestamp", "httpRequest"} & set(entry)


class Unspeakable:
    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


@dataclass
class Value:
    number: int


def circle() -> list[object]:
    round_: list[object] = []
    round_.append(round_)
    return round_


@cases(
    "expected, value",
    ("a time", "2026-03-04T22:00:00Z", NOW),
    ("a duration", "PT300S", timedelta(minutes=5)),
    ("a dataclass", {"number": 5}, Value(5)),
    ("a set", ["a"], frozenset({"a"})),
    ("a failure", "x: y", ValueError("x: y")),
    ("a path", "/a", Path("/a")),
    ("no number", None, float("nan")),
    ("a mapping whose keys are pairs", {"('a', 'b')": 1}, {("a", "b"): 1}),
    ("a number too large for JSON readers", str(2**70), 2**70),
    ("half a character", "a?b", "a\ud800b"),
    ("something unspeakable", "<Unspeakable that cannot be written: ValueError>", Unspeakable()),
    ("a circle", "[[...]]", circle()),
)
def test_an_odd_value_is_written_as_well_as_it_can_be(expected: object, value: object) -> None:
    entry = written(odd=value, plain=1)

    assert str(entry["odd"]) == str(expected)
    assert entry["plain"] == 1


@given(st.dictionaries(st.sampled_from([*LABELS[1:5], "trace", "pods", "severity_", "detail"]), st.from_type(object)))
def test_any_fields_give_one_line_with_labels_of_text(fields: dict[str, Any]) -> None:
    entry = written(**fields)

    assert all(isinstance(value, str) for value in labels(entry).values())


@cases(
    "fields",
    ("one long text", {"detail": "x" * 1_000_000}),
    ("a text of quotes", {"detail": '"\\' * 500_000}),
    ("a text of wide characters", {"detail": "é日" * 300_000}),
    ("a long list", {"nodes": [{"name": f"gke-{number}"} for number in range(50_000)]}),
    ("two long texts", {"a": "x" * 200_000, "b": "y" * 200_000, "c": 5}),
    ("a long message", {"message": "m" * 500_000}),
    ("very many short texts", {f"field_{number}": "x" * 1500 for number in range(400)}),
)
def test_an_entry_stays_under_256_kb_and_shows_what_was_cut(fields: dict[str, Any]) -> None:
    to, stream = log()
    to.event("e", fields.pop("message", "m"), **fields)

    line = stream.getvalue()
    assert len(line.encode()) < 256 * 1000
    assert "(cut: " in line
    assert json.loads(line).get("c", 5) == 5


@cases(
    "expected, headers",
    ("W3C", TRACE, {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}),
    ("Google's", TRACE, {"X-Cloud-Trace-Context": f"{TRACE}/1234;o=1"}),
    ("Google's, bare", TRACE, {"x-cloud-trace-context": TRACE.upper()}),
    ("one of two is readable", TRACE, {"Traceparent": "no", "X-Cloud-Trace-Context": TRACE}),
    ("malformed", "", {"traceparent": "00-xyz-01"}),
    ("none", "", {}),
)
def test_the_trace_is_read_from_either_header(expected: str, headers: dict[str, str]) -> None:
    assert trace_id(headers) == expected
