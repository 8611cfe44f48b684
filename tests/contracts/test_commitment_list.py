"""The laws of the port `CommitmentList`, the same for the fake and the Compute API's adapter on a scripted server."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
import pytest

from shared.adapters.compute import RegionCommitments
from shared.core.records.commitments import ListedCommitment
from shared.errors import Retryable, Terminal
from shared.ports import CommitmentList
from tests.adapters.scripted import Say, scripted
from tests.builders import listed_commitment
from tests.depth import cases
from tests.fakes import FakeCommitments

CLUSTER = "projects/p/locations/europe-west4/clusters/c"


@dataclass
class Office:
    """A list of commitments, and the hand that writes it or closes it."""

    list: CommitmentList
    write: Callable[[tuple[ListedCommitment, ...]], None]
    forbid: Callable[[], None]
    close: Callable[[], None]


def fake() -> Office:
    fake = FakeCommitments()
    return Office(
        fake,
        lambda rows: setattr(fake, "rows", rows),
        lambda: setattr(fake, "failure", Terminal("Compute API", "403")),
        lambda: setattr(fake, "failure", Retryable("Compute API", "no answer in time")),
    )


@pytest.fixture(params=["fake", "compute"])
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    if request.param == "fake":
        yield fake()
        return
    with scripted() as script:
        yield Office(
            RegionCommitments(CLUSTER, api=script.address, call_seconds=1),
            lambda rows: script.says(Say(body={"items": [msgspec.to_builtins(row) for row in rows]})),
            lambda: script.says(Say(403, {"error": {"message": "no compute.commitments.list"}})),
            lambda: script.says(*[Say(503, {"error": {"message": "unavailable"}})] * 20),
        )


WHOLE = listed_commitment(
    "n2-base", family="N2", region="europe-west4", end_timestamp=datetime(2027, 5, 1, 7, tzinfo=UTC), auto_renew=True
)


@cases(
    "rows",
    ("none", ()),
    ("one", (WHOLE,)),
    ("whatever their status", (WHOLE, msgspec.structs.replace(WHOLE, name="b", status="EXPIRED"))),
)
def test_all_commitments_are_listed(rows: tuple[ListedCommitment, ...], office: Office) -> None:
    office.write(rows)
    assert office.list.read() == rows


@cases("failure, hand", ("a refusal is final", Terminal, "forbid"), ("an outage may pass", Retryable, "close"))
def test_a_list_that_cannot_be_read_is_named(failure: type[Exception], hand: str, office: Office) -> None:
    getattr(office, hand)()
    with pytest.raises(failure):
        office.list.read()
