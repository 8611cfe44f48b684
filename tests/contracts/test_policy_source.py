"""The laws of the port `PolicySource`, the same for the fake, a file and a bucket's object."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.adapters.storage import BucketPolicy, FilePolicy
from shared.core.policy import Policy
from shared.core.policy.values import MOST_POLICY_BYTES
from shared.errors import BadPolicy
from shared.ports import PolicySource
from tests.depth import cases
from tests.fakes import FakePolicySource
from tests.loopback_bucket import LoopbackBucket


@dataclass
class Shelf:
    """A source, and the hand that changes what stands there; None takes it away."""

    source: PolicySource
    lay: Callable[[bytes | None], None]


def parse(data: bytes) -> Policy:
    if data == b"bad":
        raise BadPolicy("cluster.rate.nodes: 'many' is no number; write for example 20%.")
    return Policy(hash=data.decode())


def fake_shelf() -> Shelf:
    source = FakePolicySource()

    def lay(data: bytes | None) -> None:
        try:
            source.policy = None if data is None else parse(data)
        except BadPolicy as error:
            source.policy = error

    return Shelf(source, lay)


def file_shelf(path: Path) -> Shelf:
    def lay(data: bytes | None) -> None:
        path.unlink(missing_ok=True) if data is None else path.write_bytes(data)

    return Shelf(FilePolicy(str(path), parse), lay)


@contextmanager
def bucket_shelf() -> Iterator[Shelf]:
    with LoopbackBucket() as bucket, pytest.MonkeyPatch.context() as environment:
        environment.setenv("STORAGE_EMULATOR_HOST", bucket.address)
        policy = BucketPolicy("policies", "prod/policy.yaml", parse)
        yield Shelf(policy, lambda data: setattr(bucket, "data", data))


@pytest.fixture(params=["fake", "file", "bucket"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    if request.param == "fake":
        yield fake_shelf()
    elif request.param == "file":
        yield file_shelf(tmp_path / "policy.yaml")
    else:
        with bucket_shelf() as made:
            yield made


def test_each_read_sees_what_stands_there_and_an_empty_policy_is_for_the_parser_to_judge(shelf: Shelf) -> None:
    for text in (b"one", b"two", b""):
        shelf.lay(text)

        assert shelf.source.read().hash == text.decode()


@cases(
    "remedy, text",
    ("it is missing", "correct EBB_POLICY", None),
    ("its faults come through as they are", r"cluster\.rate\.nodes", b"bad"),
)
def test_a_policy_of_no_use_is_a_persons_mistake_with_its_remedy(remedy: str, text: bytes | None, shelf: Shelf) -> None:
    shelf.lay(text)

    with pytest.raises(BadPolicy, match=remedy):
        shelf.source.read()


@pytest.mark.parametrize("shelf", ["file", "bucket"], indirect=True)
def test_a_policy_that_is_a_byte_too_long_is_refused_and_never_cut_short(shelf: Shelf) -> None:
    shelf.lay(b"x" * MOST_POLICY_BYTES)
    assert len(shelf.source.read().hash) == MOST_POLICY_BYTES

    shelf.lay(b"x" * (MOST_POLICY_BYTES + 1))

    with pytest.raises(BadPolicy, match="larger than 256 KiB"):
        shelf.source.read()
