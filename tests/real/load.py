"""The world of the killed drainers. Workloads with a PDB keep their size; the others rise and fall in turns."""

import itertools
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from infra.local.world.pods import is_healthy
from shared.core.cluster.names import HELD_TAINT
from tests.depth import DEEP
from tests.real.control_plane.api import MERGE_PATCH, Api
from tests.real.control_plane.manifests import Manifest, deployment, disruption_budget, namespace, node, paced
from tests.real.installation import simulated_pool
from tests.real.waiting import until

POOL = "load"
NAMESPACE = "load"
NODES = 100 if DEEP else 40
GUARDED, REPLICAS = (12 if DEEP else 5), 8
TIDAL, LOW, HIGH = (8 if DEEP else 4), 6, 18
MOST_CORDONED = 4
RISES_IN = 120.0
"""Seconds in which every pod is Ready; it takes five on a machine that is idle, seven on a busy one."""
POOLS = {POOL: simulated_pool(POOL, 5, 6)}
"""No scale-up comes of a maximum that is reached: one for a pod that Ebb moved opens a breaker for half an hour."""
_TAINT = "status-taint.cluster-autoscaler.kubernetes.io/ebb"


class ChangingLoad:
    def __init__(self, api: Api, publish: Callable[[Mapping[str, Any]], None], random: Random) -> None:
        self._api, self._publish, self._random = api, publish, random
        self._numbers = itertools.count()
        self._high = {name: number % 2 == 0 for number, name in enumerate(_tidal())}
        self.cordoned: set[str] = set()
        """Nodes that a person has cordoned and not uncordoned since."""
        self.asked: list[str] = []
        """What persons did, for the story."""

    def rise(self) -> None:
        """Make the world and wait until all of it is ready; the autoscaler may take nodes that are empty until then."""
        self._api.create([namespace(NAMESPACE)])
        self.top_up()
        self._api.create(_guarded_workloads())
        self._api.create(_workload(name, HIGH if high else LOW) for name, high in self._high.items())
        until("every pod ready", self._has_risen, RISES_IN)

    def _has_risen(self) -> bool:
        self.top_up()
        return self.is_calm()

    def top_up(self) -> None:
        """Let somebody resize the pool: nodes that went come anew, under new names."""
        missing = NODES - len(self._api.nodes())
        self._api.create(node(f"gke-local-{POOL}-{next(self._numbers):05d}", pool=POOL) for _ in range(missing))

    def turn(self, pairs: int = 1) -> None:
        rising = self._random.sample([name for name, high in self._high.items() if not high], pairs)
        falling = self._random.sample([name for name, high in self._high.items() if high], pairs)
        for name in [*rising, *falling]:
            self._high[name] = not self._high[name]
            self._api.request("PATCH", _path(name), {"spec": {"replicas": self._replicas(name)}}, MERGE_PATCH)

    def interfere(self) -> None:
        nodes = self._api.nodes()
        free = [node for node in nodes if not node["spec"].get("unschedulable") and not _is_held(node)]
        held = [node for node in nodes if _is_held(node)]
        act, among = self._random.choice(
            [(self._cordon, free), (self._order, free), (self._order, nodes), (self._overrule, held),
             (self._release, held)]
        )  # fmt: skip
        if among:
            act(self._random.choice(among))

    def is_calm(self) -> bool:
        pods = self._api.pods(NAMESPACE)
        wanted = GUARDED * REPLICAS + sum(map(self._replicas, self._high))
        return len(pods) == wanted and all(map(is_healthy, pods))

    def is_free(self) -> bool:
        nodes = self._api.nodes()
        return all(taint["key"] != HELD_TAINT for node in nodes for taint in node["spec"].get("taints") or ())

    def held(self) -> list[str]:
        return [_name(node) for node in self._api.nodes() if _is_held(node)]

    def _replicas(self, name: str) -> int:
        return HIGH if self._high[name] else LOW

    def _cordon(self, thing: Manifest) -> None:
        """Cordon a node as it was read, so that nobody else's cordon is taken for a person's."""
        if len(self.cordoned) < MOST_CORDONED and self._patch(thing, {"unschedulable": True}):
            self.cordoned.add(_name(thing))
            self.asked.append(f"cordon {_name(thing)}")

    def _overrule(self, thing: Manifest) -> None:
        if self._patch(thing, {"unschedulable": None}):
            self.asked.append(f"uncordon {_name(thing)}")

    def _order(self, thing: Manifest) -> None:
        self._publish({"node": _name(thing)})
        self.asked.append(f"drain {_name(thing)}")

    def _release(self, thing: Manifest) -> None:
        self._publish({"kind": "release", "node": _name(thing)})
        self.asked.append(f"release {_name(thing)}")

    def _patch(self, thing: Manifest, spec: Mapping[str, Any]) -> bool:
        version = {"resourceVersion": thing["metadata"]["resourceVersion"]}
        body = {"metadata": version, "spec": spec}
        return self._api.patch(f"/api/v1/nodes/{_name(thing)}", body)


def _guarded_workloads() -> list[Manifest]:
    names = [f"guarded-{number}" for number in range(GUARDED)]
    guards = [disruption_budget(name, namespace=NAMESPACE, maxUnavailable=2 + number % 3) for number, name in
              enumerate(names)]  # fmt: skip
    return [*guards, *(_workload(name, REPLICAS) for name in names)]


def _tidal() -> list[str]:
    return [f"tidal-{number}" for number in range(TIDAL)]


def _workload(name: str, replicas: int) -> Manifest:
    made = deployment(name, namespace=NAMESPACE, replicas=replicas, cpu="400m", memory="600Mi", grace=2)
    return paced(made, **({} if DEEP else {"readiness": "1s"}))


def _path(name: str) -> str:
    return f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}"


def _name(thing: Manifest) -> str:
    return str(thing["metadata"]["name"])


def _is_held(thing: Manifest) -> bool:
    return any(taint["key"] == _TAINT for taint in thing["spec"].get("taints", []))
