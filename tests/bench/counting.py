"""Ports that count what Google would bill: documents, messages, objects and log lines."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import msgspec

from shared.core.policy import Policy
from shared.core.records.orders import DrainResult, Order, encode
from shared.port_types import DocumentKey, StoredDocument
from tests.fakes import FakeOrderBus, FakePolicySource, FakeState

T = TypeVar("T")
LEAST_MESSAGE = 1000
"""Bytes that each request of Pub/Sub counts as at least (cloud.google.com/pubsub/pricing)."""


class CountingState(FakeState):
    """A read, a write or a delete is one document; a query reads at least one."""

    def __init__(self, cluster: str, now: Callable[[], datetime]) -> None:
        super().__init__(cluster, now)
        self.counted: dict[str, int] = {"reads": 0, "writes": 0, "created to expire": 0}

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        self.counted["reads"] += 1
        return super().get(key)

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        self.counted["writes"] += 1
        self.counted["created to expire"] += expected is None and key.collection in {"runs", "drains"}
        return super().put(key, value, expected)

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        found = super().all(collection, type_)
        self.counted["reads"] += 0 if found else 1
        return found


@dataclass
class CountingPolicy(FakePolicySource):
    reads: int = 0

    def read(self) -> Policy:
        self.reads += 1
        return super().read()


@dataclass
class CountingBus(FakeOrderBus):
    """A message is billed when it is published and when it is pushed."""

    messages: int = 0
    billed_bytes: int = 0

    def publish(self, order: Order) -> None:
        self._count(len(encode(order)), deliveries=1)
        super().publish(order)

    def report(self, result: DrainResult) -> None:
        self._count(len(msgspec.json.encode(result)), deliveries=0)
        super().report(result)

    def _count(self, size: int, *, deliveries: int) -> None:
        self.messages += 1
        self.billed_bytes += max(size, LEAST_MESSAGE) * (1 + deliveries)


@dataclass
class CountingStream(io.StringIO):
    """Keeps each line with the minute in which it was written."""

    now: Callable[[], datetime]
    lines: list[tuple[datetime, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def write(self, text: str) -> int:
        self.lines.append((self.now().replace(second=0, microsecond=0), text))
        return len(text)
