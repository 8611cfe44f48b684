"""Two machine families at night: half empty, as a spreading scheduler and a scale-in at random leave them."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.values import Capacity, Commitment, Commitments
from tests.builders import cluster, node, pod

_MACHINES: Final = (("n2-standard-8", 20, 7.91, 26.5), ("e2-standard-4", 30, 3.92, 12.3))
"""How many there are of each, with what they offer in CPUs and GiB."""
_DAEMONS: Final = (0.30, 0.45)
_SIZES: Final = (0.1, 0.1, 0.25, 0.25, 0.5, 0.5, 1, 1, 2)
_BY_DAY, _BY_NIGHT, _BLOCKED = 0.9, 0.55, 0.08
_WHOLE: Final = {"n2": Capacity(Fraction(160), Fraction(640)), "e2": Capacity(Fraction(120), Fraction(480))}


def at_night(seed: int) -> Snapshot:
    """Return 20 n2-standard-8 and 30 e2-standard-4, used to 55 %; a tenth of them may not go."""
    dice = Random(seed)  # noqa: S311 - a world that is the same every time
    rows = [row for row in _MACHINES for _ in range(row[1])]
    nodes = [
        node(f"n{number:02}", machine=kind, pool=kind, cpu=cpu, memory=memory)
        for number, (kind, _, cpu, memory) in enumerate(rows)
    ]
    whole = [(cpu - _DAEMONS[0], memory - _DAEMONS[1]) for *_, cpu, memory in rows]
    placed, most = _spread(whole, dice), _BY_NIGHT * sum(cpu for cpu, _ in whole)
    dice.shuffle(placed)
    while sum(cpu for _, cpu, _ in placed) > most:
        placed.pop()
    daemons = [pod(f"d{place:02}", on=each.name, cpu=_DAEMONS[0], memory=_DAEMONS[1], owner="DaemonSet/d")
               for place, each in enumerate(nodes)]  # fmt: skip
    pods = [pod(f"p{number:03}", on=nodes[place].name, cpu=cpu, memory=memory, owner=f"ReplicaSet/w{number % 40}")
            for number, (place, cpu, memory) in enumerate(placed)]  # fmt: skip
    kept = dice.sample(range(len(nodes)), round(len(nodes) * _BLOCKED))
    return cluster(nodes, [*daemons, *pods, *(_blocking(nodes[place].name) for place in kept)])


def _spread(whole: Sequence[tuple[float, float]], dice: Random) -> list[tuple[int, float, float]]:
    """Place pods on the node that is then the emptiest, until 90 % is used: place, CPUs and GiB of each."""
    free, placed = [list(sizes) for sizes in whole], list[tuple[int, float, float]]()
    most = _BY_DAY * sum(cpu for cpu, _ in whole)
    while sum(cpu for _, cpu, _ in placed) < most:
        cpu = dice.choice(_SIZES)
        memory = round(cpu * dice.uniform(1.5, 5), 3)
        fitting = [place for place, (cpus, gib) in enumerate(free) if cpus >= cpu and gib >= memory]
        if not fitting:
            break
        best = max(fitting, key=lambda place: min(free[place][0] / whole[place][0], free[place][1] / whole[place][1]))
        free[best][0] -= cpu
        free[best][1] -= memory
        placed.append((best, cpu, memory))
    return placed


def _blocking(place: str) -> Pod:
    return pod(f"stays-{place}", on=place, cpu=0.01, memory=0.01, annotations={names.SAFE_TO_EVICT: "false"})


def committed_shares(**shares: float) -> Commitments:
    """Return commitments for these shares of what all nodes of each family have, at 55 % off."""
    sizes = {
        family: Capacity(*(amount * Fraction(f"{share}") for amount in (_WHOLE[family].vcpu, _WHOLE[family].gib)))
        for family, share in shares.items()
    }
    return Commitments(tuple(Commitment(family, size, None, Fraction("0.55")) for family, size in sizes.items()))
