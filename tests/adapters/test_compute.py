"""What the Compute API's adapter does beyond the laws of `CommitmentList`: the address, pages, and odd answers."""

import socket

import pytest

from shared.adapters.compute import RegionCommitments
from shared.errors import Retryable, Terminal
from tests.adapters.scripted import Say, scripted

ROW = {"name": "a", "status": "ACTIVE", "plan": "TWELVE_MONTH", "resources": [{"type": "VCPU", "amount": "8"}]}
PATH = "/compute/v1/projects/p/regions/europe-west4/commitments"


@pytest.mark.parametrize("location", ["europe-west4", "europe-west4-b"])
def test_the_region_of_the_cluster_is_read_page_by_page(location: str) -> None:
    with scripted() as script:
        script.says(Say(body={"items": [ROW], "nextPageToken": "more"}), Say(body={"items": [ROW]}))
        found = RegionCommitments(f"projects/p/locations/{location}/clusters/c", api=script.address).read()

    assert [row.amount("VCPU") for row in found] == [8, 8]
    assert script.calls == [("GET", PATH)] * 2
    assert [asked.query.get("pageToken") for asked in script.asked] == [None, "more"]


def test_pages_without_end_end_with_a_failure() -> None:
    with scripted() as script:
        script.says(*[Say(body={"items": [], "nextPageToken": "more"})] * 30)
        with pytest.raises(Terminal, match="pages"):
            RegionCommitments("projects/p/locations/europe-west4/clusters/c", api=script.address).read()


@pytest.mark.parametrize(
    "answer",
    [pytest.param({"items": [{"name": "a"}]}, id="no commitments"), pytest.param([], id="no object")],
)
def test_an_answer_of_another_shape_is_an_outage(answer: object) -> None:
    with scripted() as script:
        script.says(Say(body=answer))
        with pytest.raises(Retryable, match="cannot be read"):
            RegionCommitments("projects/p/locations/europe-west4/clusters/c", api=script.address).read()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        pytest.param(Retryable, "rateLimitExceeded", id="too many calls: it passes"),
        pytest.param(Terminal, "forbidden", id="no right: it stays"),
        pytest.param(Terminal, "accessNotConfigured", id="an API that is not enabled: it stays"),
    ],
)
def test_a_403_is_what_its_reason_names(failure: type[Exception], reason: str) -> None:
    refused = {"error": {"code": 403, "message": "no", "errors": [{"message": "no", "reason": reason}]}}
    with scripted() as script:
        script.says(Say(403, refused))
        with pytest.raises(failure):
            RegionCommitments("projects/p/locations/europe-west4/clusters/c", api=script.address).read()


def test_a_deaf_service_is_left_in_time() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        api = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(Retryable):
            RegionCommitments("projects/p/locations/europe-west4/clusters/c", api=api, call_seconds=0.3).read()
