"""What the Compute API's adapter does beyond the laws of `CommitmentList`: the address, pages, and odd answers."""

import socket

import pytest

from shared.adapters.compute import RegionCommitments
from shared.errors import Retryable, Terminal
from tests.adapters.scripted import Say, scripted
from tests.depth import cases

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


CLUSTER = "projects/p/locations/europe-west4/clusters/c"


def refused(reason: str) -> Say:
    return Say(403, {"error": {"code": 403, "message": "no", "errors": [{"message": "no", "reason": reason}]}})


@cases(
    "failure, sentence, answers",
    ("pages without end", Terminal, "pages", [Say(body={"nextPageToken": "more"})] * 30),
    ("no commitments", Retryable, "cannot be read", [Say(body={"items": [{"name": "a"}]})]),
    ("no object", Retryable, "cannot be read", [Say(body=[])]),
    ("too many calls: it passes", Retryable, "403", [refused("rateLimitExceeded")]),
    ("no right: it stays", Terminal, "403", [refused("forbidden")]),
    ("an API that is not enabled: it stays", Terminal, "403", [refused("accessNotConfigured")]),
)
def test_an_answer_that_is_no_list_has_its_name(failure: type[Exception], sentence: str, answers: list[Say]) -> None:
    with scripted() as script:
        script.says(*answers)
        with pytest.raises(failure, match=sentence):
            RegionCommitments(CLUSTER, api=script.address).read()


def test_a_deaf_service_is_left_in_time() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        api = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(Retryable):
            RegionCommitments(CLUSTER, api=api, call_seconds=0.3).read()
