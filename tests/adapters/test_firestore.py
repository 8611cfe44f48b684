"""Firestore's documents, and what its adapter does beyond the laws of `State`: refusals, outages and lost answers."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest
from google.cloud import firestore
from hypothesis import example, given
from hypothesis import strategies as st

from shared.adapters.firestore import (
    FirestoreState,
    cluster_key,
    escape_id,
    from_document,
    path,
    to_document,
    unescape_id,
)
from shared.core.policy import PodRules
from shared.core.records.drain_record import DrainRecord, Objection, PodProgress
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.errors import EbbError, Retryable, Stale, Terminal, Unreadable
from shared.ports import CLUSTER_KEY, drain_key, pool_key, week_key
from tests.adapters.scripted import patience
from tests.builders import CLUSTER as NAME
from tests.builders import order
from tests.depth import cases
from tests.grpc_stand_in import GrpcStandIn
from tests.real.emulators import FirestoreEmulator

C = "projects/p/locations/l/clusters/c"
WHEN = datetime(2026, 3, 4, 22, 0, 0, 123456, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(["", ".", "..", "__a__", "%"])


@given(TEXT)
@example("__a b__")
def test_an_id_survives_escaping_and_is_one_firestore_takes(text: str) -> None:
    escaped = escape_id(text)

    assert unescape_id(escaped) == text
    assert escaped not in {"", ".", ".."}
    assert "/" not in escaped
    assert not (escaped.startswith("__") and escaped.endswith("__"))


@given(st.tuples(TEXT, TEXT, TEXT), st.tuples(TEXT, TEXT, TEXT))
def test_no_two_clusters_share_a_key(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    keys = {cluster_key(name(*parts)) for parts in (one, other)}

    assert len(keys) == len({name(*one), name(*other)})
    assert not any("/" in key for key in keys)


def name(project: str, location: str, cluster: str) -> str:
    return f"projects/{project}/locations/{location}/clusters/{cluster}"


@cases(
    "expected, key",
    ("the cluster's own", "clusters/p_l_c", CLUSTER_KEY),
    ("a pool", "clusters/p_l_c/pools/a-pool", pool_key("a-pool")),
    ("the nodes without a pool", "clusters/p_l_c/pools/%", pool_key("")),
    ("a drain", "clusters/p_l_c/drains/0a1b", drain_key("0a1b")),
    ("a week", "clusters/p_l_c/weeks/2026-03-04T22:00:00.123456%2B00:00", week_key(WHEN)),
)
def test_a_document_stands_where_the_design_shows(expected: str, key: object) -> None:
    assert expected == path(C, key)  # type: ignore[arg-type]  # a table of keys of several types


@given(st.dictionaries(TEXT, st.datetimes(timezones=st.just(UTC)), max_size=5))
def test_a_value_survives_the_document(marks: dict[str, datetime]) -> None:
    value = PoolMarks(marks={key: Mark(key, since) for key, since in marks.items()})

    assert from_document(to_document(value, "w"), PoolMarks, "pools/a") == value


def test_a_drain_of_a_version_that_requested_evictions_can_be_read() -> None:
    kept = DrainRecord(
        order=order(),
        rules=PodRules(),
        pods={"default/p": PodProgress(uid="u", answer="granted", at=WHEN)},
        objections=(
            Objection("responders_need_time", "default/p", "example.com/mover: a drain.timeout of at least 20m"),
        ),
    )
    stored = to_document(kept, "w")
    (row,) = stored["value"]["pods"].values()
    row["requested"] = True
    stored["value"]["rules"]["eviction_responders"] = "request"

    assert from_document(stored, DrainRecord, "drains/a") == kept


def test_the_ttl_reads_a_native_time_at_the_top() -> None:
    assert to_document(DrainRecord(order=order(), expire_at=WHEN), "w")["expire_at"] == WHEN
    assert to_document(ClusterState(), "w")["expire_at"] is None


def test_times_of_another_zone_are_stored_in_utc() -> None:
    amsterdam = WHEN.astimezone(timezone(timedelta(hours=1)))

    stored = to_document(ClusterState(last_pass=amsterdam), "w")["value"]["last_pass"]

    assert stored == WHEN
    assert stored.tzinfo is UTC


def test_a_document_of_another_shape_is_named_with_its_remedy() -> None:
    with pytest.raises(Unreadable, match=r"clusters/p_l_c.*Expected `bool`.*Delete it"):
        from_document({"value": {"paused": "yes"}}, ClusterState, "clusters/p_l_c")


def state_at(host: str, monkeypatch: pytest.MonkeyPatch, call_seconds: float = 10) -> FirestoreState:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
    return FirestoreState("p", f"ebb-{uuid4().hex[:8]}", NAME, call_seconds)


@cases(
    "expected, status, sentence",
    ("no permission", Terminal, "PERMISSION_DENIED", "roles/datastore.user"),
    ("no identity", Terminal, "UNAUTHENTICATED", "roles/datastore.user"),
    ("no such database", Terminal, "NOT_FOUND", "EBB_FIRESTORE_DATABASE"),
    ("an outage", Retryable, "UNAVAILABLE", "Firestore database"),
    ("too slow", Retryable, "DEADLINE_EXCEEDED", "Firestore database"),
    ("a fault of the service", Retryable, "INTERNAL", "Firestore database"),
)
def test_every_refusal_is_named_in_every_call(
    expected: type[EbbError], status: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GrpcStandIn(status=status) as service:
        state = state_at(service.host, monkeypatch, call_seconds=patience(expected))
        for call in (
            lambda: state.get(CLUSTER_KEY),
            lambda: state.put(CLUSTER_KEY, ClusterState(), None),
            lambda: state.put(CLUSTER_KEY, ClusterState(), "2026-03-04T22:00:00.123456Z"),
            lambda: state.all("pools", PoolMarks),
        ):
            with pytest.raises(expected, match=sentence):
                call()


def test_an_outage_is_named_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        state = state_at(f"127.0.0.1:{deaf.getsockname()[1]}", monkeypatch, call_seconds=0.5)

        with pytest.raises(Retryable, match="Firestore database"):
            state.get(CLUSTER_KEY)


@pytest.fixture
def lossy(firestore_emulator: FirestoreEmulator) -> Iterator[GrpcStandIn]:
    with GrpcStandIn(behind=firestore_emulator.host) as service:
        yield service


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
@cases("fresh", ("creating", True), ("updating", False))
def test_a_write_whose_answer_was_lost_still_wins(
    lossy: GrpcStandIn, monkeypatch: pytest.MonkeyPatch, *, fresh: bool
) -> None:
    state = state_at(lossy.host, monkeypatch)
    expected = None if fresh else state.put(CLUSTER_KEY, ClusterState(), None)
    lossy.lost_answers = 1

    version = state.put(CLUSTER_KEY, ClusterState(paused=True), expected)

    assert (state.get(CLUSTER_KEY).value, state.get(CLUSTER_KEY).version) == (ClusterState(paused=True), version)
    assert lossy.calls.count("Commit") == (2 if fresh else 3)


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_a_document_that_is_none_of_ours_is_named_and_no_win_of_ours(
    firestore_emulator: FirestoreEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    database = f"ebb-{uuid4().hex[:8]}"
    foreign = {"value": {"claims": 5}}
    firestore.Client(project="p", database=database).document("clusters/p_l_c").set(foreign, timeout=10)
    state = FirestoreState("p", database, NAME)

    with pytest.raises(Terminal, match="document clusters/p_l_c"):
        state.get(CLUSTER_KEY)
    with pytest.raises(Stale):
        state.put(CLUSTER_KEY, ClusterState(), None)
