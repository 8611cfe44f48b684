"""The simulated GKE that a history begins on: built and settled once for each setting, then copied."""

import pickle
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from infra.local.clocks import ManualClock
from infra.local.google_apis import Subscription
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.simulated_gke import SimulatedGke
from infra.local.world.kinds import Json
from infra.local.world.pods import pod_requests, units
from infra.local.world.store import ObjectChange, Store
from tests.faults.worlds import ACK_DEADLINE, TOPIC, Setting
from tests.local.admission import admit

T = TypeVar("T")
SUBSCRIPTION = Subscription(
    "projects/local/subscriptions/drain", TOPIC, "drain", ack_deadline=ACK_DEADLINE, max_backoff=60
)
_built: dict[int, tuple[Setting, bytes]] = {}
"""By identity; the setting is kept with its world, so that no other comes to bear its identity."""


@dataclass(frozen=True)
class SettledWorld:
    clock: ManualClock
    cloud: SimulatedGke
    autoscaler: Autoscaler | None

    @classmethod
    def of(cls, setting: Setting) -> "SettledWorld":
        if id(setting) not in _built:
            _built[id(setting)] = setting, pickle.dumps(cls._new(setting), pickle.HIGHEST_PROTOCOL)
        settled: SettledWorld = pickle.loads(_built[id(setting)][1])  # noqa: S301 - what this process has just written
        return settled

    @classmethod
    def _new(cls, setting: Setting) -> "SettledWorld":
        clock = ManualClock()
        cloud = SimulatedGke(setting.scenario, clock)
        admit(cloud.world, setting.webhooks)
        cloud.broker.subscribe(SUBSCRIPTION)
        cloud.world.settle()
        return cls(clock, cloud, cloud.autoscaler() if setting.scenario.autoscaler.enabled else None)


def cpu_of(store: Store) -> dict[str, int]:
    return gathered(store, ("pods", "nodes"), _cpu)


def gathered(store: Store, plurals: Collection[str], make: Callable[[str, Json], T]) -> dict[str, T]:
    """Return by UID what is made of each object as it is created: what stands and, as time goes on, what comes."""
    found = {thing["metadata"]["uid"]: make(plural, thing) for plural in plurals for thing in store.all(plural)}

    def take(change: ObjectChange) -> None:
        if change.before is None and change.after is not None and change.plural in plurals:
            found[change.after["metadata"]["uid"]] = make(change.plural, change.after)

    store.listen(take)
    return found


def _cpu(plural: str, thing: Json) -> int:
    if plural == "pods":
        return pod_requests(thing).get("cpu", 0)
    return units("cpu", (thing.get("status") or {}).get("allocatable", {}).get("cpu", 0))
