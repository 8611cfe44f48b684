"""A day of 200 nodes on counting ports, with the real functions; the world is coarse where nothing is billed for it."""

import base64
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec
from msgspec import structs

from functions.drainer.main import PushReply, receive
from functions.planner.main import Tick, tick
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from shared.adapters.prices import load
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.records.orders import DrainResult, Order, encode
from shared.log import JsonLog
from shared.ports import DocumentKey, Ports, StoredDocument
from shared.settings import Settings
from tests.builders import CLUSTER, node, pod, pod_class
from tests.fakes import FakeClock, FakeCluster, FakeCommitments, FakeOrderBus, FakePolicySource, FakePools, FakeState

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
        self.counted["created to expire"] += expected is None and key.collection == "drains"
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


NODES, POOLS, PODS_A_NODE = 200, 4, 9
EVERY = timedelta(minutes=5)
DELETED_AFTER = timedelta(minutes=10)
DUSK, DAWN = 20, 7
"""Hours: replicas go at dusk, and are back at dawn."""
POLICY = b"""
dryRun: false
nodePools:
  pool-0: {enabled: true}
  pool-1: {enabled: true}
  pool-2: {enabled: true}
  pool-3: {enabled: true}
"""
_SIZE = 0.33
"""Cores of a pod: nine fill a node of four cores to three quarters."""


class Day:
    def __init__(self, start: datetime) -> None:
        self.clock = FakeClock(start)
        self.cluster = FakeCluster(now=self.clock.now)
        self.state = CountingState(CLUSTER, self.clock.now)
        self.policy = CountingPolicy(parse(POLICY))
        self.bus = CountingBus()
        self.stream = CountingStream(self.clock.now)
        self.settings = Settings(cluster=CLUSTER)
        self.requests = {"planner": 0, "drainer": 0}
        self.drainer_seconds = 0
        """Of an instance that is at work."""
        pools = FakePools({f"pool-{number}": NodePool(f"pool-{number}") for number in range(POOLS)})
        log = JsonLog(self.stream, "DEBUG", CLUSTER, "p")
        self.ports = Ports(
            self.cluster, pools, self.state, self.policy, self.bus, self.clock, log, load(), FakeCommitments()
        )
        self._teller = PassLog(everything=False)
        self._classes = [pod_class(owner=f"ReplicaSet/web-{number}", cpu=_SIZE, memory=1) for number in range(60)]
        self._empty_since: dict[str, datetime] = {}
        self._looked_at = start
        self._born = 0
        self._grow()

    def run(self, hours: int = 24) -> None:
        end = self.clock.now() + timedelta(hours=hours)
        following = self.clock.now()
        while following < end:
            self.clock.passed = max(self.clock.passed, (following - self.clock.start).total_seconds())
            self._demand()
            self._autoscaler()
            self._tick()
            self._drain()
            following += EVERY

    def _drain(self) -> None:
        """Deliver all orders; drains of one pass go on side by side in one instance: the longest is what is billed."""
        lasted: Counter[str] = Counter()
        while self.bus.published:
            order = self.bus.published.pop(0)
            lasted[order.order_id] += self._deliver(order)
        self.drainer_seconds += max(lasted.values(), default=0)

    def _tick(self) -> None:
        self.requests["planner"] += 1
        at = self.clock.now().isoformat()
        ports = replace(self.ports, log=self.ports.log.bind(run_id=at))
        desk = PlannerDeps(ports, self.settings, self._teller)
        tick(desk, Tick(owner=at, schedule_time=at))

    def _deliver(self, order: Order) -> int:
        self.requests["drainer"] += 1
        message = {"data": base64.b64encode(encode(order)).decode(), "messageId": "m",
                   "publishTime": self.clock.now().isoformat()}  # fmt: skip
        before = self.clock.monotonic()
        owner = f"step-{self.requests['drainer']}"
        ports = replace(self.ports, clock=_Moving(self))
        assert receive(ports, self.settings, json.dumps({"message": message}).encode(), owner) is PushReply.DONE
        return round(self.clock.monotonic() - before)

    def _demand(self) -> None:
        now = self.clock.now()
        if (now.hour, now.minute) == (DUSK, 0):
            running = [pod for pod in self.cluster.pods.values() if _moves(pod)]
            # a third: if more went, the autoscaler alone would do as well, and Ebb would order nothing
            self.cluster.finish(*(pod.key for number, pod in enumerate(running) if number % 3 == 0))
            self._count()
        if (now.hour, now.minute) == (DAWN, 0):
            self._grow()

    def _grow(self) -> None:
        for number in range(NODES - len(self.cluster.nodes)):
            self._born += 1
            self._add(node(f"n{self._born}", pool=f"pool-{number % POOLS}", created=self.clock.now()))
        by_node = Counter(pod.node for pod in self.cluster.pods.values() if _moves(pod))
        for name in self.cluster.nodes:
            for _ in range(PODS_A_NODE - by_node[name]):
                self._put_pod(name, self._born % len(self._classes))
        self._count()

    def _count(self) -> None:
        """Let the workloads ask for as many replicas as there are; a replacement is Ready as soon as it is bound."""
        replicas = Counter(pod.spec.workload for pod in self.cluster.pods.values() if _moves(pod))
        self.cluster.workloads = {
            name: Workload(name, number, number, created=number) for name, number in replicas.items()
        }

    def _add(self, fresh: Node) -> None:
        agents = (pod(f"{name}-{fresh.name}", on=fresh.name, owner=f"DaemonSet/{name}") for name in ("logs", "net"))
        self.cluster.put(fresh, *agents)

    def _put_pod(self, name: str, kind: int) -> None:
        self._born += 1
        spec = self._classes[(kind + self._born) % len(self._classes)]
        self.cluster.put(pod(f"web-{self._born}", on=name, kind=spec, created=self.clock.now()))

    def _autoscaler(self) -> None:
        now = self.clock.now()
        for emptied in [held for held in self.cluster.nodes.values() if held.drain_taint]:
            if (
                not any(map(_moves, self.cluster.pods_on(emptied.name)))
                and now - self._empty_since.setdefault(emptied.name, now) >= DELETED_AFTER
            ):
                del self.cluster.nodes[emptied.name]
                self.cluster.finish(*(one.key for one in self.cluster.pods_on(emptied.name)))

    def replace_evicted(self) -> None:
        """End pods whose grace is over and start others in their place, where there is room."""
        now = self.clock.now()
        if now < self._looked_at + timedelta(seconds=5):
            return
        self._looked_at = now
        for gone in [row for row in self.cluster.pods.values() if row.deleting and row.deleting <= now]:
            self.cluster.finish(gone.key)
            self._place(gone)

    def _place(self, gone: Pod) -> None:
        room = {node.name: 11 for node in self.cluster.nodes.values() if not node.unschedulable}
        for there in self.cluster.pods.values():
            if there.node in room and _moves(there):
                room[there.node] -= 1
        self._born += 1
        fresh = structs.replace(
            gone, name=f"web-{self._born}", uid=f"uid-{self._born}", node=max(room, key=room.__getitem__)
        )
        self.cluster.put(structs.replace(fresh, deleting=None, created=self.clock.now()))


def _moves(each: Pod) -> bool:
    return each.spec.owner is not None and each.spec.owner.kind != "DaemonSet"


class _Moving:
    """The drainer's clock: the world moves on while it waits."""

    def __init__(self, day: Day) -> None:
        self._day = day

    def monotonic(self) -> float:
        return self._day.clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self._day.clock.sleep(seconds)
        self._day.replace_evicted()
