"""What runs in a generated cluster: workloads with the rules that real ones carry, drawn from a seed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Final

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
_REPLICAS: Final = (1, 2, 2, 3, 3, 3, 4, 5, 6, 8, 10, 12, 20, 30)
_SIZES: Final = ((1, 2), (1, 1), (2, 3), (3, 8), (5, 10), (5, 4), (10, 30), (10, 8), (20, 40), (60, 60))
"""CPU and memory in relation to each other and to the other workloads; the fill of the cluster sets the scale."""
_GROUP: Final = 6
"""So many workloads keep apart from each other as one group, now and then."""


class Mix(StrEnum):
    PLAIN = "plain"
    RICH = "rich"
    """Rules of placement, and nothing else that keeps a node."""
    MIXED = "mixed"
    """The same, with opt-outs, bare pods, Jobs and PodDisruptionBudgets."""
    ZONES = "spread over zones"
    """A third of the workloads spread over zones, and no other rule."""
    HOSTS = "spread over hosts"
    """The same over hosts."""


@dataclass(frozen=True)
class Near:
    key: str
    workload: str


@dataclass(frozen=True)
class BenchWorkload:
    """One workload. `cpu` is in millicores, `memory` in MiB, and a skew of 0 is no constraint."""

    name: str
    replicas: int
    cpu: int
    memory: int
    kind: str = "Deployment"
    zone_skew: int = 0
    host_skew: int = 0
    apart: str = ""
    """The group whose pods must not share a host (required anti-affinity)."""
    near: Near | None = None
    port: int = 0
    """Of the host; 0 = none."""
    disk: bool = False
    """Whether each replica has a zonal ReadWriteOnce disk."""
    opted_out: bool = False
    budget: str = ""
    """maxUnavailable of its PodDisruptionBudget; empty = it has none."""

    @property
    def constrained(self) -> bool:
        return bool(self.zone_skew or self.host_skew or self.apart or self.near or self.port or self.disk)


def draw(pods: int, cpu: int, memory: int, mix: Mix, seed: int) -> tuple[BenchWorkload, ...]:
    """Return workloads of about so many pods, that ask together for so many millicores and MiB."""
    roll = Random(seed)  # noqa: S311 - a world that is the same every time
    raw = tuple(_until(pods, _drawn(roll, mix, max(pods // 60, 3))))
    per_cpu = cpu / sum(load.replicas * load.cpu for load in raw)
    per_memory = memory / sum(load.replicas * load.memory for load in raw)
    return tuple(_scaled(load, per_cpu, per_memory) for load in raw)


def _until(pods: int, workloads: Iterator[BenchWorkload]) -> Iterator[BenchWorkload]:
    while pods > 0:
        drawn = next(workloads)
        yield replace(drawn, replicas=min(drawn.replicas, pods))
        pods -= drawn.replicas


def _scaled(workload: BenchWorkload, per_cpu: float, per_memory: float) -> BenchWorkload:
    cpu, memory = max(5, round(workload.cpu * per_cpu)), max(16, round(workload.memory * per_memory))
    return replace(workload, cpu=cpu, memory=memory)


def _drawn(roll: Random, mix: Mix, most: int) -> Iterator[BenchWorkload]:
    """Yield workloads without end; `most` is how many replicas one may have."""
    number = 0
    while True:
        cpu, memory = roll.choice(_SIZES)
        plain = BenchWorkload(f"app-{number:05}", min(roll.choice(_REPLICAS), most), cpu, memory)
        yield _CHANGES[mix](plain, number, roll)
        number += 1


Change = Callable[[BenchWorkload, int, Random], BenchWorkload]


def _stateful(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    del number
    apart = plain.name if roll.random() < 0.5 else ""
    return replace(plain, kind="StatefulSet", replicas=min(plain.replicas, 5), disk=True, apart=apart)


def _spread(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    del number
    zones, hosts = roll.choice(((1, 0), (1, 0), (0, 1), (0, 2), (1, 1)))
    return replace(plain, zone_skew=zones, host_skew=hosts)


def _apart(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    return replace(plain, apart=f"group-{number // 50}" if roll.random() < 1 / _GROUP else plain.name)


def _near(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    return replace(plain, near=Near(roll.choice((ZONE, ZONE, HOSTNAME)), f"app-{roll.randrange(max(number, 1)):05}"))


def _on_a_port(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    return replace(plain, port=roll.choice((8080, 9100, 9090, 4317, 10_000 + number)))


def _single_with_disk(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    del number, roll
    return replace(plain, replicas=1, disk=True)


_RULES: Final[tuple[tuple[float, Change], ...]] = (
    (0.12, _stateful),
    (0.88 / 3, _spread),
    (0.09, _apart),
    (0.05, _near),
    (0.05, _on_a_port),
    (0.03, _single_with_disk),
)
"""With which chance a workload gets which rule; the others have none."""


def _ruled(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    chance = roll.random()
    for share, change in _RULES:
        if chance < share:
            return change(plain, number, roll)
        chance -= share
    return plain


def _kept(plain: BenchWorkload, number: int, roll: Random) -> BenchWorkload:
    """Return the workload with rules, and with what keeps a node, or slows its drain, in the widest mix."""
    plain, chance = _ruled(plain, number, roll), roll.random()
    if chance < 0.01:
        return replace(plain, opted_out=True, replicas=min(plain.replicas, 3))
    if chance < 0.02:
        return BenchWorkload(plain.name, 1, plain.cpu, plain.memory, kind="Pod")
    if chance < 0.03:
        return BenchWorkload(plain.name, min(plain.replicas, 3), plain.cpu, plain.memory, kind="Job")
    if chance < 0.05:
        return replace(plain, budget="0", replicas=min(plain.replicas, 2))
    return replace(plain, budget=roll.choice(("1", "25%", "50%"))) if chance < 0.50 else plain


_CHANGES: Final[Mapping[Mix, Change]] = {
    Mix.PLAIN: lambda plain, _, __: plain,
    Mix.RICH: _ruled,
    Mix.MIXED: _kept,
    Mix.ZONES: lambda plain, number, _: replace(plain, zone_skew=int(number % 3 == 0)),
    Mix.HOSTS: lambda plain, number, _: replace(plain, host_skew=int(number % 3 == 0)),
}
