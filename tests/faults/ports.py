"""Ebb's ports over the simulated GKE, every call through the call gate: the production Kubernetes adapter, documents in
memory, the simulated broker.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import msgspec

from functions.planner import pass_log as lines
from functions.planner.pass_log import PassLog, PassReport
from infra.local.clocks import ManualClock
from infra.local.google_apis import Broker
from infra.local.http_messages import Handler, HttpRequest
from infra.local.world.store import Record
from shared.adapters.kubernetes.client import PAGE, Item, KubernetesClient, Pages, TrafficMeter, readable
from shared.adapters.kubernetes.transport import ApiReply, Call
from shared.core.records.orders import DrainResult, Order, encode
from shared.core.records.state import ClusterState, Wave
from shared.ports import WAVE_KEY, DocumentKey, Log, State, StoredDocument
from tests.faults.call_faults import CallGate
from tests.rights.used_rights import DRAINER, PLANNER, USED_RIGHTS

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
AGENT = "ebb"
_IDENTITIES = {"tick": PLANNER, "push": DRAINER}
_MANY = {"run_summary"}


def moment(clock: ManualClock) -> datetime:
    return datetime.fromtimestamp(clock.now(), UTC)


class DirectClient(KubernetesClient):
    """Carries each request to the API's handler in this process instead of over a socket."""

    def __init__(self, handler: Handler, call_gate: CallGate) -> None:
        self._handler, self._call_gate = handler, call_gate
        self.meter = TrafficMeter()
        self._read: dict[tuple[bytes, object], Any] = {}

    def read_list(self, call: Call, decoder: Pages[Item], gather: Callable[[Iterator[Item]], T]) -> T:
        """What equal bytes were read as is remembered, since most come again; a list of several pages is read anew."""
        body = self.ask(replace(call, query={**call.query, "limit": str(PAGE)}))
        if (body, gather) not in self._read:
            with readable(call):
                page = decoder.decode(body)
                if page.metadata.continue_:
                    return super().read_list(call, decoder, gather)
                self._read[body, gather] = gather(iter(page.items or ()))
        found: T = self._read[body, gather]
        return found

    def send(self, call: Call) -> ApiReply:
        kind = "application/merge-patch+json" if call.verb == "patch" else "application/json"
        body = b"" if call.body is None else msgspec.json.encode(call.body)
        headers = {"content-type": kind, "user-agent": f"{AGENT}/{self._call_gate.actor}"}
        request = HttpRequest(call.method, urlsplit(call.path).path, call.query, headers, body)
        USED_RIGHTS.note(_IDENTITIES[self._call_gate.actor.partition("-")[0]], request.method, request.path)
        return self._call_gate.call(f"{call} {_place(call)}", lambda: self._reply(request))

    def _reply(self, request: HttpRequest) -> ApiReply:
        answer = self._handler(request)
        return ApiReply(answer.status, answer.body)


def _place(call: Call) -> str:
    selector = call.query.get("fieldSelector", "")
    return selector or call.path.rpartition("/")[2]


class GatedState:
    def __init__(self, inner: State, call_gate: CallGate) -> None:
        self._inner, self._call_gate = inner, call_gate

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        return self._call_gate.call(f"get {key.collection} {key.id}", lambda: self._inner.get(key))

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        return self._call_gate.call(f"put {key.collection} {key.id}", lambda: self._inner.put(key, value, expected))

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        self._call_gate.call(f"delete {key.collection} {key.id}", lambda: self._inner.delete(key, expected))

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        return self._call_gate.call(f"all {collection}", lambda: self._inner.all(collection, type_))


class RecordingState:
    """Puts every write of the cluster's document and the wave's into the world's record, in order with what happens."""

    def __init__(self, inner: State, record: Record, call_gate: CallGate) -> None:
        self._inner, self._record, self._call_gate = inner, record, call_gate

    def get(self, key: DocumentKey[T]) -> StoredDocument[T]:
        return self._inner.get(key)

    def put(self, key: DocumentKey[T], value: T, expected: str | None) -> str:
        if not isinstance(value, ClusterState):
            version = self._inner.put(key, value, expected)
            if isinstance(value, Wave):
                self._record.add("wave", {"after": value})
            return version
        before = self._inner.get(key).value
        version = self._inner.put(key, value, expected)
        old = before if isinstance(before, ClusterState) else ClusterState()
        call = {"actor": self._call_gate.actor, "began": self._call_gate.began_at()}
        self._record.add("state", {**call, "before": old, "after": value})
        return version

    def delete(self, key: DocumentKey[T], expected: str) -> None:
        self._inner.delete(key, expected)
        if key == WAVE_KEY:
            self._record.add("wave", {"after": None})

    def all(self, collection: str, type_: type[T]) -> Mapping[str, StoredDocument[T]]:
        return self._inner.all(collection, type_)


class GatedReading(Generic[T]):
    def __init__(self, what: str, read: Callable[[], T], call_gate: CallGate) -> None:
        self._what, self._read, self._call_gate = what, read, call_gate

    def read(self) -> T:
        return self._call_gate.call(self._what, self._read)


class BrokerBus:
    """The OrderBus over the simulated broker; results are kept, all else but orders is dropped."""

    def __init__(self, broker: Broker, topic: str, call_gate: CallGate) -> None:
        self._broker, self._topic, self._call_gate = broker, topic, call_gate
        self.results: list[DrainResult] = []

    def publish(self, order: Order) -> None:
        def send() -> None:
            self._broker.publish(self._topic, encode(order), order.attributes)

        self._call_gate.call(f"publish {order.kind.value} {order.node}", send)

    def reject(self, data: bytes, attributes: Mapping[str, str], why: str) -> None:
        del data, attributes, why
        self._call_gate.call("reject", lambda: None)

    def report(self, result: DrainResult) -> None:
        self._call_gate.call("report", lambda: self.results.append(result))

    def announce(self, kind: str, message: Mapping[str, object]) -> None:
        del kind, message
        self._call_gate.call("announce", lambda: None)


class ActorClock:
    """The clock of the instance that runs: its offset and rate are the actor's."""

    def __init__(self, call_gate: CallGate) -> None:
        self._call_gate = call_gate

    def monotonic(self) -> float:
        actor = self._call_gate.threads.current
        assert actor is not None
        return actor.offset + self._call_gate.threads.clock.now() * actor.rate

    def sleep(self, seconds: float) -> None:
        actor = self._call_gate.threads.current
        assert actor is not None
        lasts = max(0.0, seconds) / actor.rate
        self._call_gate.call("sleep", lambda: self._call_gate.threads.pause(lasts), can_fail=False)


class HistoryLog:
    def __init__(self, call_gate: CallGate, lines: list[str] | None = None) -> None:
        self._call_gate = call_gate
        self.lines: list[str] = [] if lines is None else lines

    def event(self, event: str, message: str, *, severity: str = "INFO", **fields: object) -> None:
        del fields
        actor = self._call_gate.threads.current
        if event in _MANY:
            return
        if severity != "DEBUG" and actor is not None and not actor.killed:
            self.lines.append(f"{self._call_gate.threads.clock.now():.1f} {actor.name} {event}: {message}")

    def bind(self, **fields: object) -> "HistoryLog":
        del fields
        return self

    def add(self, **fields: object) -> None:
        del fields


class Silent(PassLog):
    def write(self, log: Log, report: PassReport) -> dict[str, Any]:
        del log
        return lines.summary(report)


def one_by_one(act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
    del most
    return [act(item) for item in items]
