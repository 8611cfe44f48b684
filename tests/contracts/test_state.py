"""The laws of the port `State`, the same for the fake, the file and Firestore."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from functions.planner.lease import MOST_FINISHED
from shared.adapters.firestore import FirestoreState
from shared.adapters.sqlite import SqliteState
from shared.core.records.commitments import CommitmentReading
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.state import Claim, ClusterState, Lease, Mark, PoolMarks, Wave, WaveNode
from shared.core.rules.workload_limits import MOST_MOVING_PODS
from shared.errors import Stale, Unreadable
from shared.ports import CLUSTER_KEY, COMMITMENTS_KEY, WAVE_KEY, DocumentKey, State, drain_key, pool_key
from tests.builders import claim, listed_commitment, order
from tests.depth import cases
from tests.fakes import FakeState

Open = Callable[[str], State]
"""Opens the state of a cluster; clusters opened by one test share one database."""

EMULATOR = (pytest.mark.emulator, pytest.mark.xdist_group("emulator"))
WHEN = datetime(2026, 3, 4, 22, 0, 0, 123456, tzinfo=UTC)
ODD_KEYS = ("a.b.c", "ns/pod", "`tick`", "é日本", "", "__reserved__", "%25", "with space", ".", "..", "~[]*")


@pytest.fixture(params=["fake", "sqlite", pytest.param("firestore", marks=EMULATOR)])
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    if request.param == "fake":
        documents: dict[tuple[str, str, str], tuple[bytes, str]] = {}
        return lambda cluster: FakeState(cluster, documents=documents)
    if request.param == "sqlite":
        return lambda cluster: SqliteState(str(tmp_path / "state"), cluster)
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator").host)
    database = f"ebb-{uuid4().hex[:12]}"
    return lambda cluster: FirestoreState("p", database, cluster)


@pytest.fixture
def state(opened: Open) -> State:
    return opened("projects/p/locations/l/clusters/c")


def paused(*, yes: bool = True) -> ClusterState:
    return ClusterState(paused=yes)


def test_what_was_never_written_is_absent_and_read_at_the_stores_time(state: State) -> None:
    found = state.get(CLUSTER_KEY)

    assert (found.value, found.version) == (None, None)
    assert found.read_at.utcoffset() == timedelta(0)


def test_what_is_put_is_read_back_with_its_version(state: State) -> None:
    version = state.put(CLUSTER_KEY, paused(), None)

    found = state.get(CLUSTER_KEY)

    assert (found.value, found.version) == (paused(), version)


def test_only_the_version_that_stands_is_overwritten(state: State) -> None:
    old = state.put(CLUSTER_KEY, paused(), None)
    state.put(CLUSTER_KEY, paused(yes=False), old)

    for version in (None, old):
        with pytest.raises(Stale):
            state.put(CLUSTER_KEY, paused(), version)

    assert state.get(CLUSTER_KEY).value == paused(yes=False)


def test_a_version_is_of_no_use_once_the_document_is_gone(state: State) -> None:
    version = state.put(CLUSTER_KEY, paused(), None)
    state.delete(CLUSTER_KEY, version)

    with pytest.raises(Stale):
        state.put(CLUSTER_KEY, paused(), version)
    with pytest.raises(Stale):
        state.delete(CLUSTER_KEY, version)


def test_every_put_gives_a_new_version_even_if_it_changes_nothing(state: State) -> None:
    first = state.put(CLUSTER_KEY, paused(), None)
    second = state.put(CLUSTER_KEY, paused(), first)
    third = state.put(CLUSTER_KEY, paused(), second)

    assert len({first, second, third}) == 3


def test_a_put_replaces_the_whole_document(state: State) -> None:
    version = state.put(pool_key("a"), PoolMarks(marks={"uid-1": Mark("n1", WHEN)}), None)

    state.put(pool_key("a"), PoolMarks(marks={"uid-2": Mark("n2", WHEN)}), version)

    assert state.get(pool_key("a")).value == PoolMarks(marks={"uid-2": Mark("n2", WHEN)})


def test_the_read_time_never_goes_backwards(state: State) -> None:
    times = [state.get(CLUSTER_KEY).read_at]
    version: str | None = None
    for _ in range(5):
        version = state.put(CLUSTER_KEY, paused(), version)
        times.append(state.get(CLUSTER_KEY).read_at)

    assert times == sorted(times)


def test_any_map_key_and_an_empty_map_survive(state: State) -> None:
    marks = PoolMarks(marks={key: Mark(key, WHEN) for key in ODD_KEYS})
    state.put(pool_key("odd"), marks, None)
    state.put(pool_key("empty"), PoolMarks(), None)

    assert state.get(pool_key("odd")).value == marks
    assert state.get(pool_key("empty")).value == PoolMarks()


def test_any_id_is_a_document_of_its_own(state: State) -> None:
    for key in ODD_KEYS:
        state.put(pool_key(key), PoolMarks(marks={"uid": Mark(key, WHEN)}), None)

    found = state.all("pools", PoolMarks)

    assert set(found) == set(ODD_KEYS)
    assert all(own.value and own.value.marks["uid"].name == key for key, own in found.items())


def test_times_keep_their_microseconds_and_are_in_utc(state: State) -> None:
    state.put(drain_key("a"), DrainRecord(order=order(), lease=Lease("me", WHEN), expire_at=LATER), None)

    record = state.get(drain_key("a")).value

    assert record
    assert record.lease
    assert (record.lease.until, record.expire_at) == (WHEN, LATER)
    assert record.lease.until.utcoffset() == timedelta(0)
    assert type(record.lease.until) is datetime


def test_a_whole_collection_is_read_with_versions_that_hold(state: State) -> None:
    version = state.put(pool_key("a"), PoolMarks(), None)
    state.put(pool_key("b"), PoolMarks(marks={"uid": Mark("n", WHEN)}), None)

    found = state.all("pools", PoolMarks)

    assert sorted(found) == ["a", "b"]
    assert found["a"].version == version
    assert state.all("drains", PoolMarks) == {}


def test_a_document_of_another_version_is_named_and_hides_no_other(state: State) -> None:
    state.put(drain_key("a"), DrainRecord(order=order("gke-a")), None)
    version = state.put(DocumentKey("drains", "b", Lease), Lease("me", WHEN), None)

    found = state.all("drains", DrainRecord)
    with pytest.raises(Unreadable, match="drains"):
        state.get(drain_key("b"))

    assert found["a"].value is not None
    assert found["a"].fault == ""
    assert (found["b"].value, found["b"].version) == (None, version)
    assert "order" in found["b"].fault


def test_a_delete_holds_only_for_the_version_read(state: State) -> None:
    old = state.put(CLUSTER_KEY, paused(), None)
    new = state.put(CLUSTER_KEY, paused(yes=False), old)

    with pytest.raises(Stale):
        state.delete(CLUSTER_KEY, old)
    assert state.get(CLUSTER_KEY).value == paused(yes=False)

    state.delete(CLUSTER_KEY, new)
    assert state.get(CLUSTER_KEY).value is None


def test_two_clusters_never_see_each_other(opened: Open) -> None:
    places = (("p", "l", "c"), ("q", "l", "c"), ("p", "l", "d"), ("p_l", "l", "c"), ("p", "l_l", "c"))
    states = [opened(f"projects/{project}/locations/{location}/clusters/{name}") for project, location, name in places]
    for number, state in enumerate(states):
        state.put(CLUSTER_KEY, ClusterState(planner=Lease(str(number), WHEN)), None)
        state.put(pool_key(str(number)), PoolMarks(), None)

    owners = [found.planner.owner for own in states if (found := own.get(CLUSTER_KEY).value) and found.planner]

    assert owners == ["0", "1", "2", "3", "4"]
    assert [list(own.all("pools", PoolMarks)) for own in states] == [["0"], ["1"], ["2"], ["3"], ["4"]]


@cases("equal", ("each its own", False), ("all the same", True))
@cases("fresh", ("creating", True), ("updating", False))
def test_of_eight_that_race_one_compare_and_set_exactly_one_wins(opened: Open, *, fresh: bool, equal: bool) -> None:
    cluster = f"projects/p/locations/l/clusters/{uuid4().hex[:8]}"
    version = None if fresh else opened(cluster).put(CLUSTER_KEY, paused(), None)
    shared = opened(cluster)

    def wins(number: int) -> bool:
        try:
            shared.put(CLUSTER_KEY, ClusterState(planner=Lease("x" if equal else str(number), WHEN)), version)
        except Stale:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(wins, range(8))) == [False] * 7 + [True]


def test_the_document_of_500_claims_stays_under_256_kib(state: State) -> None:
    claims = {f"6f1c2a9e-8b7d-4c3f-9a1e-{number:012d}": full_claim(number) for number in range(500)}
    document = ClusterState(claims=claims, starts=(), finished=("2026-03-04T22:00:00Z+",) * MOST_FINISHED)

    state.put(CLUSTER_KEY, document, None)

    assert state.get(CLUSTER_KEY).value == document
    assert len(msgspec.json.encode(document)) < 256 * 1024


def full_claim(number: int) -> Claim:
    name = f"gke-production-europe-west1-nodepool-standard-{number:08x}-abcd"
    return claim(
        name,
        pool="nodepool-standard",
        zone="northamerica-northeast1-a",
        order_id=f"{number:020x}",
        policy_hash="0" * 12,
        picture_at=WHEN,
        moving_pods={f"{index:04}": 1 for index in range(MOST_MOVING_PODS // 500)},
    )


LATER = datetime(2999, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
RECORD = DrainRecord(
    order=order("gke-a", ignore=("windows",)),
    phase=DrainPhase.CORDONED,
    pods={"ns/web-1.a": PodProgress(uid="u", answer="budget", detail="ns/web", at=WHEN)},
    expire_at=LATER,
)
ROW = listed_commitment(end_timestamp=LATER)
READING = CommitmentReading(rows=(ROW, ROW), read_at=WHEN, tried_at=LATER, fault="Compute API: 503")
WAVE = Wave(id="w", nodes=(WaveNode("u2", "n2"), WaveNode("u1", "n1")), policy_hash="h", began=WHEN, deadline=LATER)


@cases(
    "key, value",
    ("a drain's record", drain_key("0a"), RECORD),
    ("a list of commitments as Google wrote it", COMMITMENTS_KEY, READING),
    ("a wave with its nodes in order: Firestore refuses an array within an array", WAVE_KEY, WAVE),
)
def test_a_document_survives_with_all_its_parts(state: State, key: DocumentKey[Any], value: object) -> None:
    state.put(key, value, None)

    assert state.get(key).value == value
    assert state.get(DocumentKey(key.collection, "another", key.type)).value is None
