"""A cluster of a cheap and a dear machine type at night, drawn from a seed: twice the same start, to the last pod."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from infra.local.world.pods import is_ready
from tests.real.control_plane import MERGE_PATCH
from tests.real.control_plane.api import Api
from tests.real.control_plane.manifests import (
    Manifest,
    allocatable_cpu,
    allocatable_memory,
    deployment,
    disruption_budget,
    node,
    paced,
)
from tests.real.installation import simulated_pool
from tests.real.waiting import until

KINDS: Final = {"cheap": ("e2-standard-4", 4, 16, 18), "dear": ("n2-standard-8", 8, 32, 6)}
"""By pool: machine type, CPUs, memory in GiB, and how many nodes there are."""
ZONE: Final = "europe-west4-a"
POOLS: Final = {
    pool: simulated_pool(pool, 0, 2 * count, machine_type=machine, zones=[ZONE])
    for pool, (machine, _, _, count) in KINDS.items()
}
_APPS, _DAY, _NIGHT = 24, 0.7, 0.6
"""By day the nodes' CPUs are filled so far; at night that part of the pods is left."""
_LETTERS: Final = "bcdfghjklmnpqrstvwxz0123456789"
_BUDGETS: Final[tuple[int | str | None, ...]] = (None, 1, "50%")
"""How many pods of an app may be away at once; None is no PodDisruptionBudget."""


@dataclass
class _Room:
    name: str
    cpu: int
    memory: int
    whole: int

    def takes(self, cpu: int, memory: int) -> bool:
        return self.cpu >= cpu and self.memory >= memory


class NightCluster:
    """What a seed draws: the nodes, the Deployments with their budgets, and the node of each pod."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a cluster that is the same every time
        self.nodes = list(self._draw_nodes())
        self._sizes = {f"app-{number}": self._draw_size() for number in range(_APPS)}
        self._budgets = {name: self._random.choice(_BUDGETS) for name in self._sizes}
        self.places = self._draw_places()

    @property
    def pods(self) -> int:
        return sum(map(len, self.places.values()))

    def populate(self, api: Api) -> None:
        """Make it: the nodes are cordoned until every pod is bound to its own, so the scheduler has no part in it."""
        api.create({**node, "spec": {**node["spec"], "unschedulable": True}} for node in self.nodes)
        api.create(self._workloads())
        until("every pod is there", lambda: len(api.pods()) == self.pods)
        for name, places in self.places.items():
            own = [pod for pod in api.pods() if pod["metadata"]["labels"]["app"] == name]
            for pod, place in zip(own, places, strict=True):
                _bind(api, pod["metadata"]["name"], place)
        until("every pod is Ready", lambda: sum(map(is_ready, api.pods())) == self.pods)
        until(
            "budgets that count them", lambda: all(budget["status"].get("currentHealthy") for budget in api.budgets())
        )
        for machine in self.nodes:
            api.request("PATCH", f"/api/v1/nodes/{machine['metadata']['name']}", _UNCORDONED, MERGE_PATCH)

    def _draw_nodes(self) -> Iterator[Manifest]:
        for pool, (machine, cpu, memory, count) in KINDS.items():
            for _ in range(count):
                name = f"gke-real-{pool}-{''.join(self._random.choices(_LETTERS, k=6))}"
                yield node(name, pool=pool, zone=ZONE, machine=machine, cpu=cpu, memory_gib=memory)

    def _draw_size(self) -> tuple[int, int]:
        return self._random.choice((150, 250, 400, 600, 900)), self._random.choice((256, 512, 1024, 2048))

    def _draw_places(self) -> dict[str, list[str]]:
        """Fill the nodes as the scheduler does by day, the emptiest first, and let some of the pods go."""
        rooms = [_Room(node["metadata"]["name"], *_allocatable(node)) for node in self.nodes]
        goal = (1 - _DAY) * sum(room.whole for room in rooms)
        placed = []
        while sum(room.cpu for room in rooms) > goal:
            name = self._random.choice(list(self._sizes))
            cpu, memory = self._sizes[name]
            room = max((room for room in rooms if room.takes(cpu, memory)), key=lambda room: room.cpu / room.whole)
            room.cpu, room.memory = room.cpu - cpu, room.memory - memory
            placed.append((name, room.name))
        left = self._random.sample(placed, round(_NIGHT * len(placed)))
        return {name: [place for app, place in left if app == name] for name in self._sizes}

    def _workloads(self) -> Iterator[Manifest]:
        for name, (cpu, memory) in self._sizes.items():
            replicas = len(self.places[name])
            app = deployment(name, replicas=replicas, cpu=f"{cpu}m", memory=f"{memory}Mi", grace=1)
            yield paced(app, readiness="1s")
            budget = self._budgets[name]
            if budget is not None and replicas:
                yield disruption_budget(name, maxUnavailable=budget)


_UNCORDONED: Final = {"spec": {"unschedulable": None}}


def _allocatable(made: Manifest) -> tuple[int, int, int]:
    _, cpu, memory, _ = KINDS[made["metadata"]["labels"]["cloud.google.com/gke-nodepool"]]
    return allocatable_cpu(cpu), allocatable_memory(memory), allocatable_cpu(cpu)


def _bind(api: Api, pod: str, place: str) -> None:
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"kind": "Node", "name": place}}
    answer = api.request("POST", f"/api/v1/namespaces/default/pods/{pod}/binding", body)
    assert answer.status == 201, answer
