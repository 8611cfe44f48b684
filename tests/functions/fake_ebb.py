"""A whole Ebb on fakes: one cluster, one state, one bus, and the two functions' calls upon them."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from functions.drainer.main import PushReply, receive
from functions.planner.main import Tick, passes, summarize, tick
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from shared.adapters.prices import load
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Policy
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, OrderKind, encode
from shared.core.records.state import ClusterState
from shared.errors import EbbError, Retryable
from shared.ports import CLUSTER_KEY, Ports, drain_key
from shared.readings import SharedReadings
from shared.settings import Settings
from tests.builders import CLUSTER, policy
from tests.fakes import (
    FakeClock,
    FakeCluster,
    FakeCommitments,
    FakeLog,
    FakeOrderBus,
    FakePolicySource,
    FakePools,
    FakeState,
)

EFFECTS = {"take", "return_node"}


class MovingClock(FakeClock):
    """A clock that lets the world move on while somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[Callable[[], None]] = []

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        for move in self.moves:
            move()


class FakeEbb:
    """Everything in reach of a test. Evicted pods end when their grace does."""

    def __init__(
        self,
        *things: Node | Pod | PodDisruptionBudget,
        policy: Policy | EbbError | None = policy(),  # noqa: B008 - an immutable value
        step_seconds: float = 480,
        one_instance: bool = False,
        **pools: NodePool,
    ) -> None:
        self.clock = MovingClock()
        self.clock.moves.append(self._pods_end)
        self.cluster = FakeCluster(*things, now=self.clock.now)
        self.state = FakeState(now=self.clock.now)
        self.policy = FakePolicySource(policy)
        self.bus = FakeOrderBus()
        self.log = FakeLog()
        self.commitments = FakeCommitments()
        self.pools = FakePools({"a": NodePool("a"), **pools})
        self.settings = Settings(cluster=CLUSTER, step_seconds=step_seconds)
        self._shared = SharedReadings() if one_instance else None
        self._calls = 0

    @property
    def ports(self) -> Ports:
        """Return what a call works with; each call is an instance of its own unless there is only one."""
        shared = self._shared or SharedReadings()
        own = (self.cluster, self.pools, self.state, self.policy, self.bus, self.clock, self.log)
        return Ports(*own, load(), self.commitments, shared=shared)

    def tick(self, schedule_time: str = "") -> dict[str, Any]:
        return tick(self._desk, Tick(owner=self._owner("tick"), schedule_time=schedule_time))

    def passes(self, schedule_time: str = "") -> dict[str, Any]:
        """Run one planner call with the pass that may follow half-way to the next."""
        return passes(self._desk, Tick(owner=self._owner("tick"), schedule_time=schedule_time))

    def summarize(self) -> dict[str, Any]:
        """Run one planner call that asks for the weekly summary alone."""
        return summarize(self._desk, Tick(owner=self._owner("summary")))

    @property
    def _desk(self) -> PlannerDeps:
        return PlannerDeps(self.ports, self.settings, PassLog(everything=True))

    def deliver(self, order: Order | bytes, **envelope: Any) -> PushReply:
        """Push one message to the drainer."""
        data = order if isinstance(order, bytes) else encode(order)
        message = {
            "data": base64.b64encode(data).decode(),
            "messageId": "message",
            "publishTime": self.clock.now().isoformat(),
            **envelope,
        }
        return self.push(json.dumps({"message": message, "subscription": "s"}).encode())

    def push(self, body: bytes) -> PushReply:
        """Post a raw request body to the drainer."""
        return receive(self.ports, self.settings, body, self._owner("step"))

    def drain(self, order: Order) -> PushReply:
        """Deliver an order issued now."""
        now = self.clock.now()
        return self.deliver(replace(order, issued_at=now, picture_at=now, expires_at=now + timedelta(minutes=10)))

    def pass_time(self, **duration: float) -> None:
        self.clock.advance(timedelta(**duration).total_seconds())

    def later(self, seconds: float, happens: Callable[[], object]) -> None:
        """Let something happen once, so long after the beginning."""
        waiting = [happens]

        def look() -> None:
            if waiting and self.clock.passed >= seconds:
                waiting.pop()()

        self.clock.moves.append(look)

    def remembered(self) -> ClusterState:
        return self.state.get(CLUSTER_KEY).value or ClusterState()

    def remember(self, state: ClusterState) -> None:
        self.state.put(CLUSTER_KEY, state, self.state.get(CLUSTER_KEY).version)

    def record(self, order_id: str = "order") -> DrainRecord:
        """Return the drain's record, which is there."""
        found = self.find_record(order_id)
        assert found is not None
        return found

    def find_record(self, order_id: str = "order") -> DrainRecord | None:
        return self.state.get(drain_key(order_id)).value

    def drain_to_end(self, order: Order, *ends: DrainPhase) -> None:
        """Deliver the order and all that follows, until the drain has ended."""
        assert self.drain(order) is PushReply.DONE
        while (found := self.find_record(order.order_id)) and found.phase not in (ends or (DrainPhase.SETTLED,)):
            assert self.deliver(self.bus.published[-1]) is PushReply.DONE

    def carry_on(self, after: float = 0) -> int:
        """Deliver what is published, each so many seconds after the last, until nothing is; return how many."""
        count = 0
        while self.bus.published:
            self.pass_time(seconds=after)
            assert self.deliver(self.bus.published.pop(0)) is PushReply.DONE
            count += 1
        return count

    def releases(self) -> list[Order]:
        return [order for order in self.bus.published if order.kind is OrderKind.RELEASE]

    def effects(self) -> list[tuple[object, ...]]:
        """Return the calls that changed the cluster, in order (dry-run evictions change nothing)."""
        return [call for call in self.cluster.calls if call[0] in EFFECTS or (call[0] == "evict" and not call[3])]

    def reasons(self, event: str) -> list[str]:
        return [str(line.get("reason", "")) for line in self.log.of(event)]

    def _pods_end(self) -> None:
        now = self.clock.now()
        for key in [pod.key for pod in self.cluster.pods.values() if pod.deleting and pod.deleting <= now]:
            self.cluster.finish(key)

    def _owner(self, kind: str) -> str:
        self._calls += 1
        return f"{kind}-{self._calls}"


def fail_next_puts(ebb: FakeEbb, collection: str, after: int) -> None:
    """Let the state take so many writes of a collection, and refuse each further one until `meanwhile` is cleared."""
    left = iter(range(after))

    def refuse() -> None:
        if next(left, None) is None:
            raise Retryable("state", "no answer")

    ebb.state.meanwhile["put", collection] = refuse
