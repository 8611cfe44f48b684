"""What Ebb asks of an API server that would delete a pod or a node if it were told to: drains on the simulated GKE."""

from typing import Any

import pytest

from tests.faults.history import History, run
from tests.faults.ports import AGENT
from tests.faults.worlds import settings

Entry = dict[str, Any]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """The record of a world in which nodes are drained and the autoscaler deletes them."""
    found: list[Entry] = run(History(settings()[0])).cloud.world.record.entries
    return found


def of_ours(entries: list[Entry], verb: str) -> list[str]:
    asked = (entry for entry in entries if entry["type"] == "request" and entry["user_agent"].startswith(AGENT))
    return [entry["path"] for entry in asked if entry["verb"] == verb]


def changes(entries: list[Entry], kind: str, verb: str) -> list[Entry]:
    return [entry for entry in entries if entry["type"] == "change" and (entry["kind"], entry["verb"]) == (kind, verb)]


@pytest.mark.acceptance(83)
def test_every_pod_that_ebb_ends_was_evicted_and_none_deleted(entries: list[Entry]) -> None:
    ended = {entry["name"] for entry in changes(entries, "pods", "update") if entry["terminating"] and ours(entry)}
    granted = {entry["name"] for entry in entries if entry["type"] == "eviction" and ours(entry)}

    assert ended == granted != set()
    assert [entry["name"] for entry in changes(entries, "pods", "delete") if ours(entry)] == []
    assert of_ours(entries, "DELETE") == []
    assert {path.rpartition("/")[2] for path in of_ours(entries, "POST")} <= {"eviction", "events"}


@pytest.mark.acceptance(93)
def test_a_drained_node_stays_cordoned_and_tainted_until_somebody_else_deletes_it(entries: list[Entry]) -> None:
    drained = {entry["name"] for entry in changes(entries, "nodes", "update") if ours(entry)}
    gone = {entry["name"]: entry for entry in changes(entries, "nodes", "delete")}

    assert drained
    for name in drained:
        assert gone[name]["unschedulable"]
        assert any("/ebb=" in taint for taint in gone[name]["taints"])
    assert [name for name, entry in gone.items() if ours(entry)] == []
    assert of_ours(entries, "DELETE") == []
    assert {path.split("/")[3] for path in of_ours(entries, "PATCH")} == {"nodes"}


def ours(entry: Entry) -> bool:
    return str(entry["actor"]).startswith(AGENT)
