"""Clusters as they are at night: a spreading scheduler filled them to 90 %, then replicas were taken away at random."""

from dataclasses import dataclass
from random import Random
from typing import Final

from functions.cli.analysis.shapes.offers import allocatable, machine_type
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass, Volume
from shared.core.cluster.resources import CPU, MEMORY, PODS, Resources
from shared.core.cluster.snapshot import Snapshot
from tests.builders import GIB, cluster, node, pod, pod_class

PRICES: Final = load()
ZONES: Final = ("us-central1-a", "us-central1-b", "us-central1-c")


@dataclass(frozen=True)
class Kind:
    """Machines by pool and number, and how many GiB pods ask for beside each vCPU."""

    pools: tuple[tuple[str, int], ...]
    gib_per_cpu: float


KINDS: Final = {
    "plain": Kind((("e2-standard-4", 40), ("n2-standard-8", 12)), 3.4),
    "memory-bound": Kind((("n2-standard-8", 40),), 7.5),
    "cpu-bound": Kind((("n2-standard-8", 40),), 1.2),
    "small nodes": Kind((("e2-standard-2", 80),), 3.4),
    "few large": Kind((("n2-standard-32", 10),), 3.8),
    "old mix": Kind((("n1-standard-8", 15), ("n2-standard-8", 15), ("e2-standard-4", 20)), 3.4),
}
FILLS: Final = (0.55, 0.80)
_DAEMON: Final = pod_class(owner="DaemonSet/agent", cpu=0.30, memory=0.45, labels={"app": "agent"})
_BLOCKED: Final = 0.08
_FULL: Final = 0.90


def drawn(kind: Kind, fill: float, seed: int = 21) -> Snapshot:
    """Draw a cluster of a kind whose scarcer resource is so full."""
    dice = Random(seed)  # noqa: S311 - a test's data
    nodes = [
        node(
            f"{machine}-{number:03d}", machine=machine, pool=machine, zone=ZONES[number % 3],
            allocatable=offered(machine), labels={names.REGION_LABEL: "us-central1"},
        )
        for machine, count in kind.pools for number in range(count)
    ]  # fmt: skip
    free = {node.name: [node.allocatable.cpu - 300, node.allocatable.memory - round(0.45 * GIB)] for node in nodes}
    pods = [pod(f"agent-{node.name}", on=node.name, kind=_DAEMON) for node in nodes]
    movers = _filled(kind, nodes, free, dice)
    kept = _scaled_in(movers, nodes, fill, dice)
    blocked = dice.sample(nodes, round(_BLOCKED * len(nodes)))
    return cluster(nodes, [*pods, *kept, *(pod(f"stays-{each.name}", on=each.name, kind=_STAYS) for each in blocked)])


_STAYS: Final = pod_class(
    owner="ReplicaSet/cache", cpu=0.01, memory=0.01, labels={"app": "cache"}, volumes=(Volume("data", "hostPath"),)
)


def offered(machine: str) -> Resources:
    """What GKE's formula leaves of a machine."""
    found = machine_type(machine, PRICES)
    assert found is not None
    return Resources.of({**dict(allocatable(found).amounts), PODS: 110})


def _filled(kind: Kind, nodes: list[Node], free: dict[str, list[int]], dice: Random) -> list[Pod]:
    """Put pods on the emptiest node until the scarcer resource is full."""
    whole = [sum(node.allocatable.cpu for node in nodes), sum(node.allocatable.memory for node in nodes)]
    taken, pods = [300 * len(nodes), round(0.45 * GIB) * len(nodes)], list[Pod]()
    specs = [_spec(kind, number, dice) for number in range(40)]
    while specs and max(have / most for have, most in zip(taken, whole, strict=True)) < _FULL:
        spec = dice.choice(specs)
        wanted = [spec.requests.cpu, spec.requests.memory]
        room = [node for node in nodes if all(have >= need for have, need in zip(free[node.name], wanted, strict=True))]
        if not room:
            specs.remove(spec)
            continue
        best = max(room, key=lambda each: _emptiness(each, free[each.name]))
        for axis, need in enumerate(wanted):
            free[best.name][axis] -= need
            taken[axis] += need
        pods.append(pod(f"{spec.labels['app']}-{len(pods):04d}", on=best.name, kind=spec))
    return pods


def _emptiness(each: Node, free: list[int]) -> float:
    return free[0] / each.allocatable.cpu + free[1] / each.allocatable.memory


def _spec(kind: Kind, number: int, dice: Random) -> PodClass:
    cpu = dice.choice((0.1, 0.2, 0.25, 0.4, 0.5, 0.75, 1.0, 1.5))
    memory = cpu * kind.gib_per_cpu * dice.uniform(0.6, 1.4)
    app = f"w{number:02d}"
    return pod_class(owner=f"ReplicaSet/{app}", cpu=cpu, memory=round(memory, 2), labels={"app": app})


def _scaled_in(pods: list[Pod], nodes: list[Node], fill: float, dice: Random) -> list[Pod]:
    whole = {axis: sum(node.allocatable.get(axis) for node in nodes) for axis in (CPU, MEMORY)}
    taken = {CPU: 300 * len(nodes), MEMORY: round(0.45 * GIB) * len(nodes)}
    kept = list[Pod]()
    for each in dice.sample(pods, len(pods)):
        after = {axis: taken[axis] + each.requests.get(axis) for axis in taken}
        if max(after[axis] / whole[axis] for axis in taken) > fill:
            continue
        taken, kept = after, [*kept, each]
    return kept
