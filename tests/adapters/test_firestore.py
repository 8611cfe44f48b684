"""What Firestore's adapter does beyond the laws of `State`: naming refusals and outages, and lost answers."""

import socket
from collections.abc import Iterator
from uuid import uuid4

import pytest
from google.cloud import firestore

from shared.adapters.firestore import FirestoreState
from shared.core.records.state import ClusterState, PoolMarks
from shared.errors import EbbError, Retryable, Stale, Terminal
from shared.port_types import CLUSTER_KEY
from tests.adapters.scripted import patience
from tests.builders import CLUSTER as NAME
from tests.grpc_stand_in import GrpcStandIn
from tests.real.emulators import FirestoreEmulator


def state_at(host: str, monkeypatch: pytest.MonkeyPatch, call_seconds: float = 10) -> FirestoreState:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
    return FirestoreState("p", f"ebb-{uuid4().hex[:8]}", NAME, call_seconds)


@pytest.mark.parametrize(
    ("expected", "status", "sentence"),
    [
        pytest.param(Terminal, "PERMISSION_DENIED", "roles/datastore.user", id="no permission"),
        pytest.param(Terminal, "UNAUTHENTICATED", "roles/datastore.user", id="no identity"),
        pytest.param(Terminal, "NOT_FOUND", "EBB_FIRESTORE_DATABASE", id="no such database"),
        pytest.param(Retryable, "UNAVAILABLE", "Firestore database", id="an outage"),
        pytest.param(Retryable, "DEADLINE_EXCEEDED", "Firestore database", id="too slow"),
        pytest.param(Retryable, "INTERNAL", "Firestore database", id="a fault of the service"),
    ],
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
@pytest.mark.parametrize("fresh", [pytest.param(True, id="creating"), pytest.param(False, id="updating")])
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
def test_a_document_of_another_shape_is_named(
    firestore_emulator: FirestoreEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    database = f"ebb-{uuid4().hex[:8]}"
    firestore.Client(project="p", database=database).document("clusters/p_l_c").set(
        {"value": {"claims": 5}}, timeout=10
    )

    with pytest.raises(Terminal, match="document clusters/p_l_c"):
        FirestoreState("p", database, NAME).get(CLUSTER_KEY)


@pytest.mark.emulator
@pytest.mark.xdist_group("emulator")
def test_a_document_that_somebody_else_made_is_no_win_of_ours(
    firestore_emulator: FirestoreEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    database = f"ebb-{uuid4().hex[:8]}"
    firestore.Client(project="p", database=database).document("clusters/p_l_c").set({"foreign": 1}, timeout=10)

    with pytest.raises(Stale):
        FirestoreState("p", database, NAME).put(CLUSTER_KEY, ClusterState(), None)
