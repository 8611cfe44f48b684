"""A population of clusters and demands by which money over days is judged, drawn from seeds.

Each case is one cluster by day, as the scheduler has filled it, and two days of demand. The machines, the rules and
budgets of its workloads, how full it is, the hours, the profile and the names are drawn; a row of `MIXES` is met again
in every twelve cases.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from math import ceil
from random import Random
from typing import Any, Final

from functions.cli.analysis.simulated_days.patterns import OFFICE_DAY, Curve, Demand, by_curve, by_hours, swinging
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.resources import GPU
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint, Taint, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments
from tests.builders import GIB, cluster, node, pdb, pod, pod_class, resources

MORNING: Final = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
"""A Thursday at noon, when demand is highest; with a weekend the days begin on Friday."""
DAYS: Final = timedelta(days=2)
_ZONES: Final = ("europe-west4-a", "europe-west4-b", "europe-west4-c")
_OFFERED: Final = {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0}
_SIZES: Final = (0.05, 0.1, 0.1, 0.2, 0.25, 0.25, 0.5, 0.5, 0.75, 1.0, 1.5)
_REPLICAS: Final = (1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 20)


@dataclass(frozen=True)
class Machines:
    """One pool: its machine type, and its share of the nodes."""

    machine: str
    share: float
    labels: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 0

    @property
    def cpu(self) -> int:
        return int(self.machine.rpartition("-")[2])

    @property
    def memory(self) -> float:
        return self.cpu * _OFFERED[self.machine.split("-")[1]]


_SPOT: Final = {names.SPOT_LABELS[0]: "true"}
MIXES: Final[Mapping[str, tuple[Machines, ...]]] = {
    "one small type": (Machines("e2-standard-4", 1),),
    "one large type": (Machines("n2-standard-8", 1),),
    "cheap, few dear": (Machines("e2-standard-4", 0.77), Machines("n2-standard-8", 0.23)),
    "dear, few cheap": (Machines("n2-standard-8", 0.7), Machines("e2-standard-4", 0.3)),
    "two sizes": (Machines("e2-standard-4", 0.6), Machines("e2-standard-16", 0.4)),
    "three families": (Machines("e2-standard-4", 0.4), Machines("n2-standard-8", 0.3), Machines("n2d-standard-8", 0.3)),
    "spot and on demand": (Machines("e2-standard-8", 0.5), Machines("n2-standard-8", 0.5, _SPOT)),
    "GPUs beside": (Machines("e2-standard-8", 0.85), Machines("g2-standard-8", 0.15, gpus=1)),
    "dear one committed": (Machines("n2-standard-8", 0.5), Machines("e2-standard-4", 0.5)),
    "cheap one committed": (Machines("e2-standard-8", 0.6), Machines("n2d-standard-8", 0.4)),
    "memory and CPU": (Machines("e2-highmem-4", 0.5), Machines("e2-standard-8", 0.5)),
    "large and small": (Machines("n2-standard-16", 0.3), Machines("e2-standard-4", 0.7)),
}
_COMMITTED: Final = {"dear one committed": "n2", "cheap one committed": "e2"}


class Budgets(StrEnum):
    """How many workloads have PodDisruptionBudgets."""

    NONE = "none"
    SOME = "some"
    DENSE = "dense"


PROFILES: Final = ("BALANCED", "OPTIMIZE_UTILIZATION")
"""Of the autoscaler; a quarter of the cases has the second."""


@dataclass(frozen=True)
class Case:
    """One cluster with the demand of two days."""

    name: str
    snapshot: Snapshot
    demand: Demand
    commitments: Commitments
    budgets: Budgets


def case(number: int, *, nodes: int = 0, budgets: Budgets | None = None) -> Case:
    """Return the case of that number; `nodes` and `budgets` replace what is drawn."""
    dice = Random(number)  # noqa: S311 - a world that is the same every time
    mix = list(MIXES)[number % len(MIXES)]
    size = nodes or dice.choice((30, 40, 60, 60, 80, 120, 200, 300))
    kept = tuple(Budgets)[number // len(MIXES) % 3] if budgets is None else budgets
    fill, rich = dice.uniform(0.4, 0.75), dice.random() < 0.5
    profile = PROFILES[dice.random() < 0.25]
    hours, begins = dice.choice(_HOURS), MORNING + timedelta(days=dice.random() < 0.3)
    night = dice.randrange(40, 95, 5)
    seen = _cluster(dice, MIXES[mix], size, fill, rich=rich, budgets=kept, profile=profile, now=begins)
    words = f"{size} nodes, {mix}, {'rich' if rich else 'plain'}, budgets {kept}, fill {fill:.2f}"
    about = f"{number}: {words}, {hours.__name__[1:]} to {night} %, {profile.lower()}"
    return Case(about, seen, hours(seen, night), _commitments(dice, mix, seen), kept)


def _office(seen: Snapshot, night: int) -> Demand:
    return _curved(seen, night, OFFICE_DAY)


def _two_peaks(seen: Snapshot, night: int) -> Demand:
    return _curved(seen, night, ((0, 0), (6, 0), (9, 100), (12, 90), (14, 30), (17, 40), (20, 100), (23, 0), (24, 0)))


def _steps(seen: Snapshot, night: int) -> Demand:
    """Full from 8 to 18 h, half from 18 to 21 h, and at night from one minute to the next."""
    shares = [100 if 8 <= hour < 18 else (100 + night) // 2 if 18 <= hour < 21 else night for hour in range(24)]
    hours = {key: [ceil(each.most * share / 100) for share in shares] for key, each in swinging(seen, night).items()}
    return by_hours(hours, seen.taken_at, DAYS)


_HOURS: Final[Sequence[Callable[[Snapshot, int], Demand]]] = (_office, _office, _two_peaks, _steps)


def _curved(seen: Snapshot, night: int, points: Sequence[tuple[int, int]]) -> Demand:
    return by_curve(swinging(seen, night), Curve(points), seen.taken_at, DAYS)


def _commitments(dice: Random, mix: str, seen: Snapshot) -> Commitments:
    """Return commitments for a part of the family, at 55 % of the price."""
    family = _COMMITTED.get(mix)
    if family is None:
        return NO_COMMITMENTS
    own = [node for node in seen.nodes if node.machine.startswith(f"{family}-")]
    share = Fraction(dice.choice((3, 5, 7)), 10)
    cpus, gib = sum(node.allocatable.cpu for node in own), sum(node.allocatable.memory for node in own)
    size = Capacity(share * cpus / 1000, share * gib / 2**30)
    return Commitments((Commitment(family, size, None, Fraction("0.55")),))


def _cluster(
    dice: Random, pools: Sequence[Machines], size: int, fill: float, *, rich: bool, budgets: Budgets, **given: Any
) -> Snapshot:
    now = given["now"]
    nodes = [_node(dice, own, number, now) for own in pools for number in range(max(1, round(size * own.share)))]
    daemons = [pod(f"agent-{node.name}", on=node.name, kind=_AGENT, created=now - timedelta(9)) for node in nodes]
    placer, pods, guards = _Placer(dice, nodes), list[Pod](), list[PodDisruptionBudget]()
    while placer.used < fill * placer.offered:
        kind, replicas = _workload(dice, len(pods), rich=rich)
        placed = placer.place(kind, replicas)
        pods += placed
        guards += _guards(dice, kind, len(placed), budgets) if placed else ()
    pods += _on_gpus(dice, nodes, now)
    return cluster(nodes, [*daemons, *pods], disruption_budgets=tuple(guards), **given)


_AGENT: Final = pod_class(owner="DaemonSet/agent", cpu=0.1, memory=0.2, namespace="kube-system")


def _node(dice: Random, own: Machines, number: int, now: datetime) -> Node:
    plain = node(
        f"gke-{own.machine}-{dice.getrandbits(40):010x}",
        machine=own.machine,
        pool=own.machine,
        zone=_ZONES[number % 3],
        labels=dict(own.labels),
        taints=(Taint(GPU, "NoSchedule", "present"),) if own.gpus else (),
        created=now - timedelta(days=9),
    )
    offered = resources(
        own.cpu - 0.08, own.memory - 2.5 - own.cpu * 0.1, pods=110, **({GPU: own.gpus} if own.gpus else {})
    )
    return replace(plain, allocatable=offered)


def _workload(dice: Random, number: int, *, rich: bool) -> tuple[PodClass, int]:
    cpu, name = dice.choice(_SIZES), f"app-{number:04}"
    own = LabelSelector((Requirement("app", "In", (name,)),))
    rules: dict[str, Any] = {"labels": {"app": name}, "grace_seconds": dice.choice((5, 10, 30, 30))}
    chance = dice.random() if rich else 1.0
    if chance < 0.15:
        rules["hard_spread"] = (SpreadConstraint(names.ZONE_LABEL, own),)
    elif chance < 0.22:
        rules["hard_spread"] = (SpreadConstraint(names.HOSTNAME_LABEL, own, 2),)
    elif chance < 0.35:
        rules["anti_affinity"] = (PodTerm(names.HOSTNAME_LABEL, own, ("default",)),)
    elif chance < 0.4:
        rules["annotations"] = {names.SAFE_TO_EVICT: "false"}
    memory = round(cpu * dice.uniform(1, 4), 3)
    return pod_class(owner=f"ReplicaSet/{name}", cpu=cpu, memory=memory, **rules), dice.choice(_REPLICAS)


@dataclass
class _Placer:
    """Puts pods on the emptiest nodes, apart from each other where that is possible."""

    dice: Random
    nodes: Sequence[Node]

    def __post_init__(self) -> None:
        self._whole = {node.name: _offered(node) for node in self.nodes}
        self._free = {name: list(own) for name, own in self._whole.items()}

    @property
    def used(self) -> float:
        """Cores that the pods ask for."""
        return sum(own[0] - self._free[name][0] for name, own in self._whole.items())

    @property
    def offered(self) -> float:
        return sum(cpu for cpu, _ in self._whole.values())

    def place(self, kind: PodClass, replicas: int) -> list[Pod]:
        placed, used = list[Pod](), Counter[str]()
        for number in range(replicas):
            best = self._best(kind, used)
            if best is None:
                break
            used[best] += 1
            self._free[best][0] -= kind.requests.cpu / 1000
            self._free[best][1] -= kind.requests.memory / GIB
            created = MORNING - timedelta(days=2)
            placed.append(pod(f"{kind.labels['app']}-{number:02}", on=best, kind=kind, created=created))
        return placed

    def _best(self, kind: PodClass, used: Mapping[str, int]) -> str | None:
        cpu, memory = kind.requests.cpu / 1000, kind.requests.memory / GIB
        names_of = [
            node.name
            for node in self.nodes
            if not node.taints and self._free[node.name][0] >= cpu and self._free[node.name][1] >= memory
        ]
        open_to = [name for name in names_of if not (kind.anti_affinity and used.get(name))]
        return max(open_to, key=lambda name: (-used.get(name, 0), self._share(name), self.dice.random()), default=None)

    def _share(self, name: str) -> float:
        return min(free / whole for free, whole in zip(self._free[name], self._whole[name], strict=True))


def _offered(each: Node) -> tuple[float, float]:
    """Return the cores and GiB next to the DaemonSet's pod."""
    return each.allocatable.cpu / 1000 - 0.1, each.allocatable.memory / GIB - 0.2


def _guards(dice: Random, kind: PodClass, replicas: int, budgets: Budgets) -> list[PodDisruptionBudget]:
    app = kind.labels["app"]
    if budgets is Budgets.NONE or dice.random() > (0.55 if budgets is Budgets.SOME else 0.67):
        return []
    chance = 0.0 if budgets is Budgets.DENSE else dice.random()
    most = Limit(count=1) if chance < 0.6 else Limit(percent=50) if chance < 0.95 else Limit(count=0)
    allowed = min(1 if chance < 0.6 else ceil(replicas / 2) if chance < 0.95 else 0, replicas)
    counts: dict[str, Any] = {
        "expected_pods": replicas,
        "current_healthy": replicas,
        "desired_healthy": replicas - allowed,
    }
    return [pdb(app, app=app, allowed=allowed, max_unavailable=most, **counts)]


def _on_gpus(dice: Random, nodes: Sequence[Node], now: datetime) -> list[Pod]:
    """Return a pod on most GPUs: by day they are in use."""
    kinds = [
        pod_class(
            owner=f"ReplicaSet/{name}", requests=resources(2, 8, **{GPU: 1}), labels={"app": name}, tolerations=_AT_HOME
        )
        for name in ("model-0", "model-1", "model-2")
    ]
    own = [node for node in nodes if node.taints and dice.random() < 0.8]
    return [
        pod(f"model-{number}", on=each.name, kind=dice.choice(kinds), created=now - timedelta(days=2))
        for number, each in enumerate(own)
    ]


_AT_HOME: Final = (Toleration(GPU, "Exists"),)
