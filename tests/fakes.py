"""Hand-written fakes of the ports: short, honest, and held to the contract tests of the real adapters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Lock
from typing import Any, TypeVar

import msgspec

from shared.core.cluster.node import NodePool
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.policy import Policy
from shared.core.records.commitments import ListedCommitment
from shared.core.records.orders import DrainResult, Order, OrderKind, decode, encode
from shared.errors import BadPolicy, EbbError, Stale, Unreadable
from shared.ports import DocumentKey, PoolsReading, StoredDocument
from tests.builders import CLUSTER, NOW
from tests.fake_cluster import FakeCluster

T = TypeVar("T")


def once(happens: Callable[[], object]) -> Callable[[], None]:
    """Return what happens at the first call alone, for `meanwhile`."""
    waiting = [happens]

    def happen() -> None:
        if waiting:
            waiting.pop()()

    return happen


def failing(fault: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise fault

    return fail


class FakeClock:
    """Time stands still until somebody sleeps or the test advances it; `now` is for a store's read time."""

    def __init__(self, start: datetime = NOW) -> None:
        self.start = start
        self.passed = 0.0

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        self.passed += seconds


def _may_have_nested_arrays(data: bytes) -> bool:
    """Whether a JSON text has what an array within an array begins with; a string may have it, too."""
    return b"[[" in data or b",[" in data


def _has_nested_arrays(value: object) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    is_array = isinstance(value, list | tuple)
    return any((is_array and isinstance(part, list | tuple)) or _has_nested_arrays(part) for part in parts)


class FakeState:
    """Documents in memory; give two states one `documents` to let two clusters share a database."""

    _lock = Lock()
    _versions = count(1)  # of all states: two may share their documents

    def __init__(
        self,
        cluster: str = CLUSTER,
        now: Callable[[], datetime] = lambda: NOW,
        documents: dict[tuple[str, str, str], tuple[bytes, str]] | None = None,
    ) -> None:
        self.cluster = cluster
        self.now = now
        self.documents = {} if documents is None else documents
        self.writes = 0
        self.meanwhile: dict[tuple[str, str], Callable[[], object]] = {}
        """What happens at each `get`, `put`, `delete` or `all` of a collection; it may raise."""
        self._latest = datetime.min.replace(tzinfo=UTC)

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        self._meet("get", key.collection)
        return self._got(key)

    def _got(self, key: DocumentKey[T]) -> StoredDocument[T]:
        self._latest = max(self._latest, self.now())
        data, version = self.documents.get(self._place(key), (None, None))
        try:
            value = None if data is None else msgspec.json.decode(data, type=key.type)
        except msgspec.DecodeError as error:
            raise Unreadable(f"document {key.collection} {key.id!r}", str(error)) from error
        return StoredDocument(value, version, self._latest)

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        self._meet("put", key.collection)
        with self._lock:
            self._check(key, expected)
            data = msgspec.json.encode(value)
            nested = _may_have_nested_arrays(data) and _has_nested_arrays(msgspec.to_builtins(value))
            assert not nested, "Firestore refuses an array within an array"
            self.writes += 1
            version = str(next(self._versions))
            self.documents[self._place(key)] = (data, version)
            return version

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        self._meet("delete", key.collection)
        with self._lock:
            self._check(key, expected)
            del self.documents[self._place(key)]

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        self._meet("all", collection)
        ids = [id_ for cluster, kind, id_ in self.documents if (cluster, kind) == (self.cluster, collection)]
        return {id_: self._listed(DocumentKey(collection, id_, type_)) for id_ in ids}

    def _listed(self, key: DocumentKey[T]) -> StoredDocument[T]:
        try:
            return self._got(key)
        except Unreadable as fault:
            return StoredDocument(None, self.documents[self._place(key)][1], self._latest, fault=str(fault))

    def _meet(self, method: str, collection: str) -> None:
        self.meanwhile.get((method, collection), lambda: None)()

    def _check(self, key: DocumentKey[Any], expected: str | None) -> None:
        if self.documents.get(self._place(key), (b"", None))[1] != expected:
            raise Stale(f"document {key.collection} {key.id!r} was written by somebody else")

    def _place(self, key: DocumentKey[Any]) -> tuple[str, str, str]:
        return self.cluster, key.collection, key.id


@dataclass
class FakePolicySource:
    policy: Policy | Exception | None = None

    def read(self) -> Policy:
        if self.policy is None:
            raise BadPolicy("policy: no such object; upload it, or correct EBB_POLICY.")
        if isinstance(self.policy, Exception):
            raise self.policy
        return self.policy


@dataclass
class FakeCommitments:
    rows: tuple[ListedCommitment, ...] = ()
    failure: EbbError | None = None
    reads: int = 0

    def read(self) -> tuple[ListedCommitment, ...]:
        self.reads += 1
        if self.failure is not None:
            raise self.failure
        return self.rows


@dataclass
class FakeOrderBus:
    """Keeps what was sent, as a reader sees it; `results_failure` is what the results topic alone meets."""

    published: list[Order] = field(default_factory=list)
    rejected: list[tuple[bytes, Mapping[str, str], str]] = field(default_factory=list)
    reported: list[Mapping[str, object]] = field(default_factory=list)
    announced: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    failure: EbbError | None = None
    results_failure: EbbError | None = None

    @property
    def drains(self) -> list[Order]:
        return [order for order in self.published if order.kind is OrderKind.DRAIN]

    def publish(self, order: Order) -> None:
        self._reach()
        self.published.append(decode(encode(order), order.cluster, "message", order.issued_at))

    def reject(self, data: bytes, attributes: Mapping[str, str], why: str) -> None:
        self._reach()
        self.rejected.append((data, dict(attributes), why))

    def report(self, result: DrainResult) -> None:
        self._reach()
        if self.results_failure is not None:
            raise self.results_failure
        self.reported.append(msgspec.json.decode(msgspec.json.encode(result)))

    def announce(self, kind: str, message: Mapping[str, object]) -> None:
        self._reach()
        if self.results_failure is not None:
            raise self.results_failure
        self.announced.append((kind, msgspec.json.decode(msgspec.json.encode(message))))

    def _reach(self) -> None:
        if self.failure is not None:
            raise self.failure


@dataclass
class FakeLog:
    """Keeps lines as mappings; a bound log writes into the same list."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    context: Mapping[str, object] = field(default_factory=dict)

    def event(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        self.lines.append({**self.context, **fields, "event": event, "message": message, "severity": severity})

    def bind(self, **fields: object) -> "FakeLog":
        return FakeLog(self.lines, {**self.context, **fields})

    def add(self, **fields: object) -> None:
        self.context = {**self.context, **fields}

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]


@dataclass
class FakePools:
    pools: Mapping[str, NodePool] = field(default_factory=dict)
    known: bool = True
    profile: str = "BALANCED"
    minimum: Resources = NOTHING
    failure: Exception | None = None

    def read(self) -> PoolsReading:
        if self.failure is not None:
            raise self.failure
        return PoolsReading(self.pools, self.known, self.profile, self.minimum)


__all__ = (
    "FakeClock", "FakeCluster", "FakeLog", "FakeOrderBus", "FakePolicySource", "FakePools", "FakeState",
)  # fmt: skip
