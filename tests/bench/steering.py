"""What steering a scale-in is worth: evictions for each node reclaimed, with `steerScaleIn` and without.

The same days of the same made-up clusters twice, in virtual time (`functions.cli.analysis.simulated_days`: the
production planner beside a simulated autoscaler): office hours, and at night a share of each workload's replicas.
Shapes of demand differ in how many pods a workload has, how many workloads are scaled in, and when nodes may go. It
prints what it finds, worth or not; a result fails only where steering is worse by more than a tenth.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.patterns import Curve, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Onlooker, World
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from tests.bench.reporting import say
from tests.builders import cluster, node, pod, pod_class

NODES: Final = 24
BEGINS: Final = datetime(2026, 11, 16, 12, tzinfo=UTC)
LASTS: Final = timedelta(hours=22)
_CORES: Final = (0.25, 0.5, 0.75)
_FILL: Final = 0.7
_WORSE: Final = 1.1
_RULES: Final = """\
dryRun: false
cluster: {{minimumNodes: 3, timeSinceLastAddition: 0s}}
nodePools:
  a:
    enabled: true
    minimumNodeAge: 0s
    excessNodesThreshold: 0
    steerScaleIn: {steers}
"""
_NIGHT: Final = '    disruption: {windows: [{schedule: "0 21 * * *", duration: 8h, timeZone: UTC}]}\n'


@dataclass(frozen=True)
class Shape:
    """How demand looks: pods of a workload on average, which share of workloads is scaled in, and to which share."""

    replicas: int = 12
    scaled: float = 1.0
    night: int = 40
    windows: str = _NIGHT


SHAPES: Final[Mapping[str, Shape]] = {
    "drained at night, workloads of 40": Shape(40),
    "drained at night, workloads of 12": Shape(),
    "drained at night, workloads of 4": Shape(4),
    "drained at night, half of them scaled in": Shape(scaled=0.5),
    "drained at night, a little scaled in": Shape(night=75),
    "drained at any time, workloads of 12": Shape(windows=""),
    "drained at any time, workloads of 4": Shape(4, windows=""),
    "none scaled in": Shape(scaled=0.0),
}


@dataclass
class Seen(Onlooker):
    """What an onlooker counts: writes of costs, and the nodes that went with who had evicted from them."""

    writes: int = 0
    removed: int = 0
    evictions: Counter[Actor] = field(default_factory=Counter)

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        del world
        self.removed += before is not None and after is None

    def pod(self, world: World, before: Pod | None, after: Pod | None) -> None:
        del world
        self.writes += before is not None and after is not None and before.steered != after.steered

    def note_eviction(self, world: World, pod: Pod, by: Actor) -> None:
        del world, pod
        self.evictions[by] += 1


@dataclass(frozen=True)
class Night:
    """What one day came to."""

    seen: Seen
    node_hours: float


def made_up(shape: Shape, seed: int) -> Snapshot:
    """Return a cluster at noon, filled by a scheduler that spreads."""
    random = Random(seed)  # noqa: S311 - a cluster, not a secret
    nodes = [node(f"n{place:02}", cpu=4, created=BEGINS - timedelta(days=1)) for place in range(NODES)]
    used = dict.fromkeys((node.name for node in nodes), 0.0)
    pods: list[Pod] = []
    while sum(used.values()) < NODES * 4 * _FILL:
        size = random.choice(_CORES)
        kind = pod_class(owner=f"ReplicaSet/w{len(pods):04}", cpu=size, memory=size)
        for _ in range(random.randint(shape.replicas // 2, shape.replicas + shape.replicas // 2)):
            place = min(random.sample(sorted(used), 4), key=lambda name: used[name])
            if used[place] + size <= 4 * 0.95:
                used[place] += size
                pods.append(pod(f"p{len(pods):04}", on=place, kind=kind, created=BEGINS - timedelta(hours=5)))
    return cluster(nodes, pods, now=BEGINS)


def night(shape: Shape, seed: int, *, steers: bool) -> Night:
    """Play one day, with steering or without."""
    picture = made_up(shape, seed)
    ranges = swinging(picture, shape.night)
    chosen = Random(seed).sample(sorted(ranges), round(len(ranges) * shape.scaled))  # noqa: S311 - as above
    demand = by_curve({key: ranges[key] for key in chosen}, Curve(), BEGINS, LASTS)
    seen = Seen()
    told = simulate(Days(picture, load(), demand, LASTS), rules(shape, steers=steers), seen)
    return Night(seen, told.node_hours)


def rules(shape: Shape, *, steers: bool) -> Policy:
    return parse((_RULES.format(steers=str(steers).lower()) + shape.windows).encode())


def per_node(nights: Sequence[Night]) -> float:
    """Return evictions of Ebb and the autoscaler for each node that went."""
    removed = sum(night.seen.removed for night in nights)
    return sum(night.seen.evictions.total() for night in nights) / max(removed, 1)


def run(*, quick: bool) -> None:
    """Print both for each shape of demand, and the ratio."""
    seeds = range(2 if quick else 5)
    for name, shape in SHAPES.items():
        plain = [night(shape, seed, steers=False) for seed in seeds]
        steered = [night(shape, seed, steers=True) for seed in seeds]
        without, with_it = per_node(plain), per_node(steered)
        ratio = with_it / without if without else 1.0
        more = ", ".join(
            f"{words} {sum(map(count, plain)):.0f} -> {sum(map(count, steered)):.0f}"
            for words, count in _BESIDE.items()
        )
        writes = sum(night.seen.writes for night in steered)
        say(name, f"{without:.2f} -> {with_it:.2f} ({ratio:.2f})", f"<= {_WORSE}; {more}, writes {writes}")
        assert ratio <= _WORSE, f"{name}: steering costs evictions"


_BESIDE: Final[Mapping[str, Callable[[Night], float]]] = {
    "evictions": lambda night: night.seen.evictions.total(),
    "nodes": lambda night: night.seen.removed,
    "node-hours": lambda night: night.node_hours,
}
