"""How full nodes are, by requests: how many lie in each tenth, now and at rest. Must not round: tenths are exact."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

from functions.cli.report.material import Material
from shared.core.cluster.snapshot import Snapshot
from shared.core.rules.utilization import Usage, usage

TENTHS: Final = 10
_SHARES: Final[dict[str, Callable[[Usage], Fraction]]] = {
    "CPU": lambda used: used.cpu,
    "memory": lambda used: used.memory,
}


def fill(material: Material) -> list[dict[str, Any]]:
    """Return for CPU and memory how many nodes lie in each tenth; the last one counts what is full, and fuller."""
    now, rest = tuple(_usages(material.now)), tuple(_usages(material.rest))
    found = []
    for resource, share in _SHARES.items():
        before, after = (Counter(_tenth(share(each)) for each in rows) for rows in (now, rest))
        bins = [_bin(number, before[number], after[number]) for number in range(TENTHS)]
        found.append({"resource": resource, "bins": bins})
    return found


def _usages(snapshot: Snapshot) -> Iterator[Usage]:
    for node in snapshot.nodes:
        used = usage(node, snapshot.pods_by_node[node.name])
        if used is not None:
            yield used


def _tenth(share: Fraction) -> int:
    return min(int(share * TENTHS), TENTHS - 1)


def _bin(number: int, now: int, rest: int) -> dict[str, Any]:
    return {"share": f"{number * 10} to {(number + 1) * 10}%", "now": now, "at_rest": rest}
