"""`ebb history`: what drains did, from their records, and what is still saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.cli.drains.status import InstallationStatus, read_status, status_of
from functions.cli.drains.status_table import history_document, show_history
from shared.adapters.sqlite import SqliteState
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import ClusterState, Reclaimed
from shared.ports import CLUSTER_KEY, drain_key
from tests.builders import CLUSTER, NOW, order
from tests.cli.drains.test_status import MINUTE, NAME, asked, settled
from tests.cli.running import on_terminal, run_ebb
from tests.depth import cases


def _past(order_id: str, minutes_ago: int = 0, **changes: Any) -> DrainRecord:
    begun = {"begun_at": NOW - (minutes_ago + 4) * MINUTE, "pods": {"shop/a": asked("granted")}}
    return settled(order_id, minutes_ago, **{**begun, **changes})


RECLAIMED = (Reclaimed("a", NOW, 2, 200_000),)


def _history(*records: DrainRecord) -> InstallationStatus:
    drains = {record.order.order_id: record for record in records}
    return status_of(CLUSTER, ClusterState(reclaimed=RECLAIMED), {}, drains, NOW)


def _shown(history: InstallationStatus, width: int = 120, most: int | None = None) -> str:
    return "\n".join(on_terminal(lambda console: show_history(console, history, most), width))


def test_drains_that_ended_are_shown_the_last_first_and_those_under_way_are_not() -> None:
    found = _history(_past("old", 9), _past("new", 1), _past("now", phase=DrainPhase.CLAIMED))
    assert [drain.record.order.order_id for drain in found.drains] == ["new", "old"]


def test_those_that_are_not_shown_are_counted() -> None:
    found = _history(_past("a", 1), _past("b", 2), _past("c", 3, outcome="given_back"))
    assert found.outcomes == {"removed": 2, "given_back": 1}
    assert "2 older ones are not shown" in _shown(found, most=1)
    assert len(history_document(found, 1)["drains"]) == 1


@cases(
    "expected, changes",
    ("how it ended", "removed", {}),
    ("how long it took", "4m", {}),
    ("why", "underutilized", {}),
    ("who asked for it", "alice", {"order": order(NAME, requested_by="alice")}),
    ("why it was returned", "deadline: ", {"outcome": "given_back", "why": "deadline"}),
    ("an order that was never begun", f"removed  {NAME}  -", {"begun_at": None}),
    ("an order that was refused", f"refused  {NAME}  -", {"outcome": "refused"}),
    ("what is still saved", "2 nodes removed within a day and not come back, $146 a month", {}),
)
def test_the_table_shows(expected: str, changes: dict[str, Any]) -> None:
    assert expected in _shown(_history(_past("a", **changes)), 200)


def test_without_drains_it_shows_it() -> None:
    assert "No drain has ended" in _shown(_history())


def test_tools_get_every_key() -> None:
    found = history_document(_history(_past("a", begun_at=None)), None)
    assert found["drains"] == [
        {
            "order_id": "a", "node": NAME, "reason": "underutilized", "origin": "planner", "requested_by": None,
            "ended_at": "2026-03-04T22:00:00Z", "seconds": None, "pods_moved": 1, "outcome": "removed", "why": None,
            "detail": None,
        }
    ]  # fmt: skip
    assert (found["saved_nodes"], found["saved_per_hour"]) == (2, 0.2)


def test_the_state_is_read_and_a_profile_finds_it(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = SqliteState(str(path), CLUSTER)
    state.put(CLUSTER_KEY, ClusterState(reclaimed=RECLAIMED), None)
    state.put(drain_key("a"), _past("a"), None)
    assert len(read_status(CLUSTER, state).drains) == 1

    (tmp_path / "ebb").mkdir()
    (tmp_path / "ebb" / "prod.env").write_text(f"export EBB_CLUSTER='{CLUSTER}'\nexport EBB_STATE='sqlite:{path}'\n")
    told = run_ebb("history", "--cluster", "prod", "-o", "json", XDG_CONFIG_HOME=str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["outcomes"] == {"removed": 1}


@pytest.mark.parametrize("width", [80, 120, 160])
def test_no_name_is_broken_by_no_matter_who_asked(width: int) -> None:
    names = [f"gke-production-ew4-highmem-pool-europe-1a2b3c4d-x1y{at}" for at in range(2)]
    who = "serviceaccount:platform-team@example.iam.gserviceaccount.com"
    drains = (_past(name, order=order(name, order_id=name, requested_by=who), why="deadline") for name in names)
    lines = _shown(_history(*drains), width).splitlines()
    assert sum(line.rstrip().endswith(("…x1y0", names[0])) or f"{names[0]} " in line for line in lines) == 1
    assert max(map(len, lines)) <= width
    assert len(lines) <= 14
