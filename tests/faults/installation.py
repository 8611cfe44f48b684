"""Ebb installed on the simulated GKE, in one process and virtual time; nothing here judges."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from random import Random
from typing import Any

import msgspec

from functions.drainer.main import PushReply, receive
from functions.planner.main import Tick, passes
from functions.planner.plan_pass import PlannerDeps
from infra.local.google_apis import Push
from infra.local.http_messages import HttpAnswer, HttpRequest, RefusedCall, RefusedError
from infra.local.world.pods import is_ready, is_terminating, node_of
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.prices import load
from shared.core.cluster.node import NodePool
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.errors import EbbError
from shared.ports import CLUSTER_KEY, WAVE_KEY, Ports
from shared.settings import Settings
from tests.fakes import FakeCommitments, FakePolicySource, FakePools, FakeState
from tests.faults.call_faults import CallFault, CallGate, ClockSkew, MessageFaults
from tests.faults.outages import LOOKS, FaultOfEbb, KeptFromUndoing, Outage
from tests.faults.ports import (
    ActorClock,
    BrokerBus,
    DirectClient,
    GatedReading,
    GatedState,
    HistoryLog,
    RecordingState,
    Silent,
    moment,
    one_by_one,
)
from tests.faults.settled_worlds import SettledWorld, cpu_of
from tests.faults.thread_scheduler import Actor, ThreadScheduler
from tests.faults.ways_out import objects_of, returning_of
from tests.faults.worlds import STEP_SECONDS, TOPIC, Setting, policy

PRICES = load()
HOP = 5.0
"""Seconds at once while nothing runs and nothing is on its way; ticks and the autoscaler's loops lie on them."""


class Installation:
    acknowledges_first = False
    """How a careless subscriber would do it; only the mutants switch this on."""

    def __init__(
        self,
        setting: Setting,
        seed: int,
        faults: Mapping[int, CallFault],
        message_faults: MessageFaults,
        clock_skew: ClockSkew,
    ) -> None:
        self.setting, self.message_faults, self.clock_skew = setting, message_faults, clock_skew
        self.random = Random(seed)  # noqa: S311 - the order of events, not a secret
        settled = SettledWorld.of(setting)
        self.clock, self.cloud, self.autoscaler = settled.clock, settled.cloud, settled.autoscaler
        self.cpu = cpu_of(self.cloud.world.store)
        self.objects = objects_of(self.cloud.world.store)
        self.returning = returning_of(self.cloud.world.store)
        self.threads = ThreadScheduler(self.clock, self.random)
        self.call_gate = CallGate(self.threads, faults)
        self.state = FakeState(setting.scenario.cluster, now=lambda: moment(self.clock))
        self.policy = FakePolicySource(policy(setting.limits.text()))
        self.pools = FakePools({"web": NodePool("web", min_per_zone=setting.limits.pool_minimum)})
        self.bus = BrokerBus(self.cloud.broker, TOPIC, self.call_gate)
        self.log = HistoryLog(self.call_gate)
        self.ports = self._ports()
        self.settings = Settings(
            cluster=setting.scenario.cluster,
            topic=TOPIC,
            step_seconds=STEP_SECONDS,
            interval_seconds=setting.limits.interval,
        )
        self.replies: dict[str, str] = {}
        """What each call ended with, by actor."""
        self.begun = self.clock.now()
        self.acted_at: list[float] = []
        """When others than Ebb acted upon the world."""
        self.hindered_at: list[float] = []
        """When Ebb was kept from its work: messages lost and late, a lost state."""
        self.turned_away_at: list[float] = []
        """When what a look rests on began to fail, and when it ended, by turns."""
        self.made = len(self.cloud.world.store.all("nodes"))
        """Counts the nodes, for the names of new ones."""
        self.kept = KeptFromUndoing()
        self.came_again: list[str] = []
        """Messages that came again though they had expired."""
        self.in_trouble: list[tuple[str, str]] = []
        """What GKE has begun to do to which nodes, and will end later."""
        self.overloaded_until = self.begun
        """Until when the API server turns Ebb away."""
        self.lost_orders: set[str] = set()
        self.unanswered: dict[str, float] = {}
        """Messages that still come again, with the time of their first delivery."""
        self.acknowledged: dict[str, float] = {}
        """Messages that never come again, but for copies on their way, with the time of their acknowledgement."""
        self.late_copies: dict[str, float] = {}
        """Orders of which a copy came after its message was acknowledged, and when that was: nobody sends it again."""
        self.lost_state_at = float("-inf")
        self.found_nothing = False
        """Whether the last pass was completed and ordered and healed nothing."""
        self._next_tick = self.begun
        self._seen = -1
        self._lively = (-1, True)
        self._pushes = 0
        self._ticks = 0
        self._late: list[tuple[float, Push, int]] = []

    def _ports(self) -> Ports:
        return Ports(
            cluster=KubernetesCluster(DirectClient(self._answer, self.call_gate), lambda: moment(self.clock)),
            pools=GatedReading("read pools", self.pools.read, self.call_gate),
            state=GatedState(RecordingState(self.state, self.cloud.world.record, self.call_gate), self.call_gate),
            policy=GatedReading("read policy", self.policy.read, self.call_gate),
            orders=self.bus,
            clock=ActorClock(self.call_gate),
            log=self.log,
            prices=PRICES,
            commitments=GatedReading("list commitments", FakeCommitments().read, self.call_gate),
            together=one_by_one,
        )

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        """What the API server says to Ebb; a request that was long on its way is written down with when it set out."""
        if (began := self.call_gate.began_at()) < self.clock.now():
            self.cloud.world.record.add("late request", {"actor": request.headers["user-agent"], "began": began})
        if self.clock.now() < self.overloaded_until:
            message = "too many requests, please try again later"
            return RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "TooManyRequests", message, retry_after=1).answer()
        return self.cloud.api.handle(request)

    @property
    def outages(self) -> list[Outage]:
        return self.call_gate.outages

    @property
    def steers(self) -> bool:
        found = self.policy.policy
        return isinstance(found, Policy) and any(pool.steer_scale_in for pool in found.pools.values())

    @property
    def passed(self) -> float:
        return self.clock.now() - self.begun

    def live(self, seconds: float) -> None:
        until = self.clock.now() + seconds
        while self.clock.now() < until:
            self._step(until)

    def _step(self, most: float) -> None:
        self._dispatch()
        self.threads.run()
        until = min(most, self.clock.now() + (1.0 if self.is_busy() or self.is_lively() else HOP))
        while (due := self.threads.wakes_at()) is not None and due < until:
            self.clock.advance(max(0.0, due - self.clock.now()))
            self.threads.run()
        self.clock.advance(until - self.clock.now())
        self._world()

    def _world(self) -> None:
        store = self.cloud.world.store
        if store.revision != self._seen or self.is_lively():
            self._seen = store.revision  # what the step itself changes is for the controllers to see in the next one
            self.cloud.world.step()
        try:
            if self.autoscaler is not None:
                self.autoscaler.step()
        except RefusedCall as error:
            raise AssertionError(f"the simulated autoscaler met a failure nobody injected: {error}") from error

    def is_lively(self) -> bool:
        store = self.cloud.world.store
        if self._lively[0] != store.revision:
            nodes = store.all("nodes")
            names = {"", *(node["metadata"]["name"] for node in nodes)}
            pods = store.all("pods")
            lively = any(not is_ready(pod) or is_terminating(pod) or node_of(pod) not in names for pod in pods)
            self._lively = store.revision, lively or not all(map(is_ready, nodes))
        return self._lively[1]

    def _dispatch(self) -> None:
        now = self.clock.now()
        if now >= self._next_tick:
            self._next_tick += self.setting.limits.interval
            self._tick()
        for push in self.cloud.broker.due():
            self._arrived(push)
        due, self._late = [row for row in self._late if row[0] <= now], [row for row in self._late if row[0] > now]
        for at, push, copy in due:
            self.hindered_at.append(at)
            self._push(push, copy)

    def _tick(self) -> None:
        self._ticks += 1
        name = f"tick-{self._ticks}"
        desk = PlannerDeps(self.ports, self.settings, Silent(everything=False))
        call = Tick(owner=name, schedule_time=str(int(self.clock.now())))
        self.found_nothing = False  # one that is killed or turned away has found nothing out

        def act() -> None:
            try:
                self._passed(name, passes(desk, call))
            except (EbbError, FaultOfEbb) as fault:
                self.replies[name] = f"failed: {fault}"

        self.threads.start(self._actor(name), act)

    def _passed(self, name: str, summary: Mapping[str, Any]) -> None:
        self.replies[name] = "duplicate" if "duplicate" in summary else "pass"
        idle = not any(summary.get(name) for name in ("orders", "healed", "costs_written", "costs_taken_back"))
        self.found_nothing = self.replies[name] == "pass" and idle

    def _arrived(self, push: Push) -> None:
        self._pushes += 1
        number = self._pushes
        if number in self.message_faults.lost:
            self.hindered_at.append(self.clock.now())
            self.unanswered.pop(push.message.message_id, None)
            self.lost_orders.add(push.message.attributes.get("order_id", push.message.message_id))
            self.cloud.broker.settle(push.number, 204)
            return
        self.unanswered.setdefault(push.message.message_id, self.clock.now())
        wait = self.message_faults.late.get(number, 0.0)
        copies = 2 if number in self.message_faults.doubled else 1
        for copy in range(copies):
            self._late.append((self.clock.now() + wait + copy, push, copy))
        if wait:
            self.hindered_at.append(self.clock.now())
        else:
            _, first, copy = self._late.pop(-copies)
            self._push(first, copy)

    def _push(self, push: Push, copy: int) -> None:
        name = f"push-{push.number}" + (f"-copy{copy}" if copy else "")
        body = msgspec.json.encode(push.envelope())
        if (at := self.acknowledged.get(push.message.message_id)) is not None:
            self.late_copies[push.message.attributes.get("order_id", push.message.message_id)] = at

        def act() -> None:
            try:
                reply = receive(self.ports, self.settings, body, name)
            except FaultOfEbb:  # the entry point answers 500
                reply = PushReply.AGAIN
            self.replies[name] = reply.name
            if reply is PushReply.DONE:
                self.unanswered.pop(push.message.message_id, None)
                self.acknowledged.setdefault(push.message.message_id, self.clock.now())
            else:
                self._note_expired(push)
            self.cloud.broker.settle(push.number, reply.value)

        if self.acknowledges_first:
            self.cloud.broker.settle(push.number, PushReply.DONE.value)
        self.threads.start(self._actor(name), act)

    def _note_expired(self, push: Push) -> None:
        """Note a release or an order of a wave that comes again after its expiry, which the state's time shows."""
        order = msgspec.json.decode(push.message.data)
        expires = order.get("expires_at")
        now = self.clock.now()
        knows_time = not any(outage.strikes_at(now) and outage.what == "get cluster" for outage in self.outages)
        if order.get("kind", "drain") != "drain" and expires and knows_time:
            late = now - datetime.fromisoformat(expires).timestamp()
            if late > STEP_SECONDS:
                self.came_again.append(f"{order['kind']} comes again {late:.0f} s after it has expired")

    def _actor(self, name: str) -> Actor:
        clock_skew = self.clock_skew
        rate = 1.0 + self.random.uniform(-clock_skew.rate, clock_skew.rate) if clock_skew.rate else 1.0
        return Actor(
            name, rate, self.random.uniform(-clock_skew.offset, clock_skew.offset) if clock_skew.offset else 0.0
        )

    def lose_wave(self) -> None:
        self.state.documents.pop((self.state.cluster, WAVE_KEY.collection, WAVE_KEY.id), None)
        self.cloud.world.record.add("wave", {"after": None})

    def hindrances(self) -> list[float]:
        """When Ebb itself was kept from its work: what struck its calls, its messages, its documents."""
        return [*self.call_gate.struck_at, *self.hindered_at, *self.turned_away_at]

    def stops(self) -> list[float]:
        """When Ebb could not look at all: killed, paused, without its message or its documents."""
        return [*self.call_gate.stopped_at, *self.hindered_at]

    def begin(self, outage: Outage) -> None:
        begun = replace(outage, begin=self.clock.now())
        self.outages.append(begun)
        self.call_gate.most_calls *= 5  # each pass of these hours publishes its repairs, and all of them come again
        self.acted_at.append(begun.end)
        if outage.keeps_from(LOOKS):
            self.turned_away_at += [begun.begin, begun.end + self.setting.limits.interval]
        self.kept.add(outage)

    def disturbances(self) -> list[float]:
        """When something went wrong from outside: hindrances, and acts of others."""
        return [*self.hindrances(), *self.acted_at]

    def completed_passes(self) -> frozenset[str]:
        return frozenset(name for name, reply in self.replies.items() if reply == "pass")

    def remembered(self) -> ClusterState:
        return self.state.get(CLUSTER_KEY).value or ClusterState()

    def is_busy(self) -> bool:
        return bool(self.threads.actors or self._late or not self.cloud.broker.idle())
