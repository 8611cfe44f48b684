"""What the bucket's adapter does beyond the laws of `PolicySource`: naming refusals, and no credentials on loopback."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.storage import BucketPolicy, FilePolicy
from shared.core.policy import Policy
from shared.errors import BadPolicy, EbbError, Retryable, Terminal
from tests.adapters.scripted import patience
from tests.depth import cases
from tests.loopback_bucket import LoopbackBucket


def parse(data: bytes) -> Policy:
    return Policy(hash=data.decode())


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackBucket]:
    with LoopbackBucket() as served:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", served.address)
        yield served


@cases(
    "expected, status, sentence",
    ("no permission", Terminal, 403, "roles/storage.objectViewer"),
    ("no valid identity", Terminal, 401, "credentials cannot be refreshed"),
    ("an outage", Retryable, 503, "gs://policies/policy.yaml"),
    ("a fault of the service", Retryable, 500, "gs://policies/policy.yaml"),
    ("out of quota", Retryable, 429, "gs://policies/policy.yaml"),
)
def test_a_refusal_is_named(bucket: LoopbackBucket, expected: type[EbbError], status: int, sentence: str) -> None:
    bucket.status = status

    with pytest.raises(expected, match=sentence):
        BucketPolicy("policies", "policy.yaml", parse, call_seconds=patience(expected)).read()


def test_an_outage_is_named_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{deaf.getsockname()[1]}")

        with pytest.raises(Retryable, match="no answer in time"):
            BucketPolicy("policies", "policy.yaml", parse, call_seconds=0.5).read()


def test_a_stand_in_is_asked_once_and_without_credentials(bucket: LoopbackBucket) -> None:
    bucket.data = b"one"

    BucketPolicy("policies", "a folder/policy.yaml", parse).read()

    [(path, authorization)] = bucket.requests
    assert path == "/storage/v1/b/policies/o/a%20folder%2Fpolicy.yaml?alt=media"
    assert authorization is None


@cases("path", ("a folder", ""), ("below a file", "file/policy.yaml"))
def test_a_path_that_is_no_file_is_a_persons_mistake(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one")

    with pytest.raises(BadPolicy, match="no such file"):
        FilePolicy(str(tmp_path / path), parse).read()


def test_a_passing_fault_of_the_service_is_not_shown(bucket: LoopbackBucket) -> None:
    bucket.data = b"one"
    bucket.status, bucket.faults = 503, 1

    assert BucketPolicy("policies", "policy.yaml", parse).read().hash == "one"


def test_without_an_identity_the_start_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))

    with pytest.raises(Terminal, match=r"missing\.json was not found"):
        BucketPolicy("policies", "policy.yaml", parse)


def test_a_file_that_cannot_be_reached_is_an_outage(tmp_path: Path) -> None:
    loop = tmp_path / "policy.yaml"
    loop.symlink_to(loop)

    with pytest.raises(Retryable, match=r"policy\.yaml"):
        FilePolicy(str(loop), parse).read()
