"""The promise where pods name who answers for their eviction: requested, waited for, withdrawn with the drain."""

import pytest

from infra.local.workloads.eviction_requests import IMPERATIVE
from shared.core.records.drain_record import DrainRecord
from tests.faults.answered_worlds import MOVER, PROMPT, answered_settings
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.oracle import breaches
from tests.faults.people import Act

WORLDS = {each.name: each for each in answered_settings()}


def actors(end: Installation) -> set[str]:
    """Return who evicted the pods that name a responder."""
    rows = end.cloud.world.record.of("eviction")
    return {each["actor"] for each in rows if each["name"].startswith("db")}


def intents(end: Installation) -> list[str]:
    return [each["spec"]["intent"] for each in end.cloud.world.store.all("evictionrequests")]


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        pytest.param({MOVER}, PROMPT, id="it lets go"),
        pytest.param({IMPERATIVE}, "a responder that says nothing", id="it says nothing"),
        pytest.param(set(), "nothing acts on requests", id="no controller"),
    ],
)
def test_who_answers_moves_the_pod_and_nobody_past_them(expected: set[str], name: str) -> None:
    end = run(History(WORLDS[name]))

    assert breaches(end) == []
    assert actors(end) == expected


def test_where_nothing_acts_the_node_is_given_back_within_minutes_and_says_why() -> None:
    end = run(History(WORLDS["nothing acts on requests"]))
    (record,) = (found.value for found in end.state.all("drains", DrainRecord).values())

    assert record is not None
    assert (record.why, "no controller has seen" in record.detail) == ("eviction_forbidden", True)
    assert intents(end) == ["Withdrawn"]


@pytest.mark.parametrize("act", ["pause", "release", "take back", "lose the state"])
def test_whoever_ends_the_drain_ends_its_requests(act: str) -> None:
    end = run(History(WORLDS["a responder that says nothing"], acts=((40.0, Act(act)), (45.0, Act("pause")))))

    assert breaches(end) == []
    assert set(intents(end)) == {"Withdrawn"}
    assert actors(end) == set()
