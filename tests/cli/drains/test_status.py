"""`ebb status`: what the state holds, as a table for eyes and as JSON for tools."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from functions.cli.drains import status_table
from functions.cli.drains.status import NO_RECORD, PUBLISHED, RESULTS, InstallationStatus, read_status, status_of
from shared.adapters.process import system_time
from shared.adapters.sqlite import SqliteState
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.state import Backoff, Breaker, ClusterState, Mark, PoolMarks, Published, Wave, WaveNode
from shared.ports import CLUSTER_KEY, DocumentKey, drain_key
from tests.builders import CLUSTER, NOW, claim, node, order, pod
from tests.cli.running import on_terminal, run_ebb
from tests.depth import cases
from tests.functions.fake_ebb import FakeEbb

NAME = "gke-prod-default-pool-1a2b3c4d-x1y2"
MINUTE = timedelta(minutes=1)


def record(name: str = NAME, order_id: str = "order", **changes: Any) -> DrainRecord:
    return DrainRecord(**{"order": order(name, order_id=order_id), "updated_at": NOW, **changes})


def settled(order_id: str, minutes_ago: float = 0, **changes: Any) -> DrainRecord:
    ended = {"phase": DrainPhase.SETTLED, "outcome": "removed", "updated_at": NOW - minutes_ago * MINUTE}
    return record(order_id=order_id, **{**ended, **changes})


def asked(answer: str, detail: str = "") -> PodProgress:
    return PodProgress(uid="u", answer=answer, detail=detail, at=NOW)


def status(
    state: ClusterState | None = None, *records: DrainRecord, pools: Mapping[str, PoolMarks] | None = None
) -> InstallationStatus:
    drains = {one.order.order_id: one for one in records}
    return status_of(CLUSTER, state or ClusterState(last_pass=NOW), pools or {}, drains, NOW)


def rich_in_everything() -> InstallationStatus:
    state = ClusterState(
        claims={"u1": claim(NAME, pool="default-pool", since=NOW - 4 * MINUTE)},
        last_pass=NOW - 3 * MINUTE,
        paused=True,
        pause_reason="release week",
        backoffs={"u2": Backoff("n2", NOW + 25 * MINUTE, 30 * MINUTE, "deadline")},
        breakers={"spot-pool": Breaker(NOW + 9 * MINUTE, "shop/api found no place")},
    )
    held = record(
        phase=DrainPhase.CORDONED,
        deadline=NOW + 6 * MINUTE,
        pods={"shop/db-0": asked("budget", "shop/db"), "shop/api": asked("granted")},
    )
    ended = settled("old", 10, outcome="given_back", why="deadline", detail="held by shop/db")
    marks = PoolMarks(marks={"a": Mark("a", NOW - 7 * MINUTE), "b": Mark("b", NOW - MINUTE)})
    found = status(state, held, ended, pools={"default-pool": marks, "empty": PoolMarks()})
    nodes = (WaveNode("u7", NAME),)
    wave = Wave(id="w", nodes=nodes, policy_hash="h", began=NOW - 4 * MINUTE, deadline=NOW + 86 * MINUTE, costly=nodes)
    return dataclasses.replace(found, wave=wave)


def printed(shown: InstallationStatus, width: int, *, terminal: bool = True) -> list[str]:
    return on_terminal(lambda console: status_table.show(console, shown), width, terminal=terminal)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_node_is_cut(width: int) -> None:
    lines = printed(rich_in_everything(), width)
    assert max(map(len, lines)) <= width
    assert sum(NAME in line for line in lines) == 2


@pytest.mark.parametrize("width", [80, 120])
@cases(
    "expected",
    ("the pause with its reason", "Paused     yes: release week"),
    ("how long ago the last pass was", "Last pass  2026-03-04 21:57:00 UTC, 3m ago"),
    ("a claim with phase, deadline and what holds it", "21:56  cordoned  22:06  shop/db"),
    ("how many marks, and the oldest", "default-pool  2      21:53, 7m ago"),
    ("a back-off", "n2    22:25  deadline"),
    ("a breaker", "spot-pool  22:09  shop/api found no place"),
    ("why a drain was returned", "deadline: The drain deadline passed;"),
)
def test_the_table_shows(expected: str, width: int) -> None:
    assert expected in "\n".join(printed(rich_in_everything(), width))


def test_a_state_that_holds_nothing_shows_it() -> None:
    lines = printed(status(), 80)
    assert [line for line in lines if line.endswith(": none")] == [
        "Claims: none",
        "Marks: none",
        "Back-offs: none",
        "Breakers: none",
        "Last results: none",
    ]


@cases(
    "expected, last_pass, interval",
    ("under fifteen minutes are not too long", "", NOW - 14 * MINUTE, MINUTE),
    ("a silence", "15m", NOW - 15 * MINUTE, MINUTE),
    ("under three long intervals", "", NOW - 29 * MINUTE, 10 * MINUTE),
    ("three long ones", "30m", NOW - 30 * MINUTE, 10 * MINUTE),
    ("never", "ever", None, MINUTE),
)
def test_a_planner_that_fell_silent_is_warned_about_when_marks_start_again(
    expected: str, last_pass: datetime | None, interval: timedelta
) -> None:
    shown = status_of(CLUSTER, ClusterState(last_pass=last_pass), {}, {}, NOW, interval)
    assert (len(shown.warnings), expected in "".join(shown.warnings)) == (1 if expected else 0, True)
    assert any("warning:" in line for line in printed(shown, 80)) is bool(shown.warnings)


def test_status_knows_the_interval_from_the_environment(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    SqliteState(path, CLUSTER).put(CLUSTER_KEY, ClusterState(last_pass=system_time() - 20 * MINUTE), None)
    environment = {"EBB_CLUSTER": CLUSTER, "EBB_STATE": f"sqlite:{path}"}
    assert "warning:" in run_ebb("status", **environment).stdout
    assert "warning:" not in run_ebb("status", EBB_INTERVAL_SECONDS="600", **environment).stdout


def test_what_is_over_is_not_shown() -> None:
    over = NOW - timedelta(seconds=1)
    state = ClusterState(
        backoffs={"u": Backoff("n", over, MINUTE, "deadline")}, breakers={"a": Breaker(over, "why")}, last_pass=NOW
    )
    assert (status(state).backoffs, status(state).breakers) == ([], [])


def test_the_last_ten_results_are_shown_newest_first() -> None:
    shown = status(None, *(settled(f"o{number}", number) for number in range(RESULTS + 5)))
    assert [row["order_id"] for row in status_table.document(shown)["results"]] == [
        f"o{number}" for number in range(RESULTS)
    ]


def test_a_drained_claims_time_is_its_watchdogs_and_the_budget_that_held_a_pod_is_forgotten() -> None:
    held = ClusterState(claims={"u": claim(NAME)}, last_pass=NOW)
    pods = {"shop/db-0": asked("budget", "shop/db")}
    drained = record(phase=DrainPhase.DRAINED, drained_at=NOW, deadline=NOW + MINUTE, pods=pods)
    (row,) = status(held, drained).claims
    assert (row.deadline, row.held_by) == (NOW + claim(NAME).settings.watchdog, ())


def test_an_order_that_nobody_has_claimed_yet_is_shown_until_it_expires() -> None:
    on_its_way = Published(claim=claim(NAME, since=NOW - 2 * MINUTE), expires_at=NOW + MINUTE)
    held = ClusterState(published={"u": on_its_way}, last_pass=NOW - MINUTE)

    assert [(row.phase, row.deadline) for row in status(held).claims] == [(PUBLISHED, NOW + MINUTE)]
    assert status(replace(held, published={"u": replace(on_its_way, expires_at=NOW)})).claims == ()


def test_the_keys_of_the_json_are_stable() -> None:
    shown = status_table.document(rich_in_everything())
    assert list(shown) == [
        "schema", "cluster", "read_at", "paused", "pause_reason", "last_pass", "last_pass_seconds_ago", "warnings",
        "claims", "marks", "backoffs", "breakers", "results", "wave",
    ]  # fmt: skip
    times = {"began": "2026-03-04T21:56:00Z", "deadline": "2026-03-04T23:26:00Z"}
    nodes = [{"node": NAME, "node_uid": "u7"}]
    assert shown["wave"] == {"id": "w", **times, "nodes": nodes, "costly": nodes}
    assert shown["claims"] == [{
        "node": NAME, "node_uid": "u1", "pool": "default-pool", "zone": "z", "order_id": "order",
        "reason": "underutilized", "origin": "planner", "requested_by": "", "since": "2026-03-04T21:56:00Z",
        "phase": "cordoned", "held_by": ["shop/db"], "deadline": "2026-03-04T22:06:00Z",
    }]  # fmt: skip
    assert shown["marks"] == [{"pool": "default-pool", "nodes": 2, "oldest": "2026-03-04T21:53:00Z"}]
    assert list(shown["results"][0]) == [
        "node", "order_id", "ended_at", "outcome", "reason", "sentence", "detail", "origin", "requested_by", "dry_run",
    ]  # fmt: skip


def test_an_empty_state_has_the_same_keys() -> None:
    empty, full = status_table.document(status(ClusterState())), status_table.document(rich_in_everything())
    assert list(empty) == list(full)
    assert (empty["last_pass"], empty["last_pass_seconds_ago"]) == (None, None)


def test_what_the_functions_wrote_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    fake_ebb = FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1"))
    fake_ebb.state = SqliteState(str(path), CLUSTER, fake_ebb.clock.now)  # type: ignore[assignment]  # in the fake one's place
    fake_ebb.tick()
    fake_ebb.drain(order("n1"))

    ended = run_ebb("status", "-o", "json", EBB_CLUSTER=CLUSTER, EBB_STATE=f"sqlite:{path}")

    assert (ended.returncode, ended.stderr) == (0, "")
    shown = json.loads(ended.stdout)
    assert [(row["node"], row["phase"]) for row in shown["claims"]] == [("n1", "drained")]
    assert [(row["pool"], row["nodes"]) for row in shown["marks"]] == [("a", 3)]
    assert (shown["last_pass"], shown["paused"]) == ("2026-03-04T22:00:00Z", False)


def test_a_pipe_gets_each_line_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    ended = settled("old", outcome="given_back", why="deadline", detail="held by shop/db")
    SqliteState(path, CLUSTER).put(drain_key("old"), ended, None)

    shown = run_ebb("status", EBB_CLUSTER=CLUSTER, EBB_STATE=f"sqlite:{path}").stdout

    (line,) = (line for line in shown.splitlines() if "given_back" in line)
    assert line.endswith(f"{ReturnReason.DEADLINE.sentence} held by shop/db")


def test_a_document_of_another_version_is_a_warning_and_hides_nothing(tmp_path: Path) -> None:
    documents = SqliteState(str(tmp_path / "state"), CLUSTER, now=lambda: NOW)
    claims = {"u1": claim("n1", order_id="one"), "u2": claim("n2", order_id="two")}
    documents.put(CLUSTER_KEY, ClusterState(claims=claims, last_pass=NOW), None)
    documents.put(drain_key("one"), record("n1", "one", phase=DrainPhase.CORDONED), None)
    documents.put(DocumentKey("drains", "two", PoolMarks), PoolMarks(), None)

    found = read_status(CLUSTER, documents)

    assert [(row.claim.node, row.phase) for row in found.claims] == [("n1", "cordoned"), ("n2", NO_RECORD)]
    (warning,) = found.warnings
    assert "document drains 'two'" in warning
