"""One drainer in a process of its own: a real state, the real code of a delivery, a cluster in memory.

Nodes are empty, so that a granted drain ends at once and its claim stands. Everything here is called in the process
of the claimer; what it is told and what it says again must be picklable.
"""

import base64
import json
import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Barrier
from typing import Final

from functions.drainer.main import PushReply, receive
from shared.adapters.firestore import FirestoreState
from shared.adapters.process import SystemClock, system_time
from shared.adapters.sqlite import SqliteState
from shared.core.cluster.node import Node
from shared.core.policy import Budget, Limit, Policy, Rate
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import Origin, encode
from shared.core.records.state import ClusterState
from shared.ports import CLUSTER_KEY, State, drain_key
from tests.builders import CLUSTER, node, order, policy
from tests.functions.fake_ebb import FakeEbb

PATIENCE: Final = 60.0
"""How long a claimer waits for the others to stand at the line."""
MOST_DELIVERIES: Final = 40
"""So often Pub/Sub brings the same message; then the race is lost."""


@dataclass(frozen=True)
class Race:
    """What all claimers are told: where the state is, how many they are, and how many may win."""

    place: str
    """`sqlite:PATH`, or `firestore:HOST/DATABASE`."""
    claimers: int
    limit: int
    picture_at: datetime
    strangers: bool = False
    """Each order stems from a pass of its own, so that every claim makes the others' proofs void."""

    @property
    def policy(self) -> Policy:
        most = Limit(count=self.claimers)
        return policy(budgets=(Budget(Limit(count=self.limit)),), rate=Rate(most, timedelta(hours=1)))


@dataclass(frozen=True)
class RaceResult:
    """What a claimer says after the race."""

    outcome: str
    why: str
    detail: str
    cordons: int
    retries: tuple[str, ...]
    """Why the message had to come again, each time."""
    seconds: float


_line: list[Barrier] = []


def line_up(barrier: Barrier) -> None:
    """Remember where this process waits for the others (a barrier can only be handed over at a process's start)."""
    _line.append(barrier)


def state_at(place: str, cluster: str = CLUSTER) -> State:
    """Open the state as a cold instance would."""
    kind, _, where = place.partition(":")
    if kind == "sqlite":
        return SqliteState(where, cluster)
    host, _, database = where.rpartition("/")
    os.environ["FIRESTORE_EMULATOR_HOST"] = host
    return FirestoreState("p", database, cluster)


def claims_in(place: str) -> ClusterState:
    return state_at(place).get(CLUSTER_KEY).value or ClusterState()


def claim(race: Race, number: int) -> RaceResult:
    """Wait for the others, then deliver this claimer's order until it is done with."""
    state, fake_ebb = state_at(race.place), FakeEbb(*nodes(race.claimers), policy=race.policy)
    ports = replace(fake_ebb.ports, state=state, clock=SystemClock())
    body = _message(race, number)
    state.get(CLUSTER_KEY)  # so that all are connected before the race begins
    _line[0].wait(PATIENCE)
    began = ports.clock.monotonic()
    for delivery in range(MOST_DELIVERIES):
        if receive(ports, fake_ebb.settings, body, f"claimer-{number}-{delivery}") is PushReply.DONE:
            break
    seconds = ports.clock.monotonic() - began
    return _race_result(state, fake_ebb, number, seconds)


def nodes(count: int) -> list[Node]:
    """Empty nodes, a day old by this machine's clock."""
    created = system_time() - timedelta(days=1)
    return [node(f"n{number}", created=created) for number in range(count)]


def _message(race: Race, number: int) -> bytes:
    now = system_time()
    wanted = order(
        f"n{number}",
        order_id=f"order-{number}",
        reason="empty",
        origin=Origin.PLANNER,
        issued_at=now,
        expires_at=now + timedelta(minutes=10),
        picture_at=race.picture_at + timedelta(microseconds=number if race.strangers else 0),
    )
    data = base64.b64encode(encode(wanted)).decode()
    message = {"data": data, "messageId": f"message-{number}", "publishTime": now.isoformat()}
    return json.dumps({"message": message, "subscription": "s"}).encode()


def _race_result(state: State, fake_ebb: FakeEbb, number: int, seconds: float) -> RaceResult:
    record = state.get(drain_key(f"order-{number}")).value or DrainRecord(order=order(f"n{number}"))
    cordons = sum(call[0] == "take" for call in fake_ebb.cluster.calls)
    retries = tuple(str(line["message"]) for line in fake_ebb.log.of("drain_step") if line["severity"] != "INFO")
    return RaceResult(record.outcome or record.phase.value, record.why, record.detail, cordons, retries, seconds)


def open_together(place: str) -> bool:
    """Open the state at the same moment as the others, and return whether it can be read."""
    _line[0].wait(PATIENCE)
    return state_at(place).get(CLUSTER_KEY).value is None
