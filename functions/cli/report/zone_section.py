"""Pools by zone, now and at rest: how many nodes, and how full they are, exactly as the table of pools rounds it.

It is the table behind the picture of the cluster. Must not decide anything.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from functions.cli.format import percent
from functions.cli.report.material import Material
from shared.core.cluster.node import Node
from shared.core.cluster.resources import CPU, MEMORY, total
from shared.core.cluster.snapshot import Snapshot

ZoneOfPool = tuple[str, str]
"""A pool and a zone."""


def zones(material: Material) -> list[dict[str, Any]]:
    """Return a row for each zone of each pool."""
    now, rest = _by_place(material.now), _by_place(material.rest)
    return [
        {
            "pool": pool,
            "zone": zone,
            **_figures(material.now, now[pool, zone], ""),
            **_figures(material.rest, rest.get((pool, zone), ()), "_at_rest"),
        }
        for pool, zone in sorted(now)
    ]


def _by_place(snapshot: Snapshot) -> Mapping[ZoneOfPool, Collection[Node]]:
    found: dict[ZoneOfPool, list[Node]] = {}
    for node in snapshot.nodes:
        found.setdefault((node.pool, node.zone), []).append(node)
    return found


def _figures(snapshot: Snapshot, own: Collection[Node], when: str) -> dict[str, Any]:
    offered = total(node.allocatable for node in own)
    living = (pod for node in own for pod in snapshot.pods_by_node[node.name] if not pod.phase.finished)
    asked = total(pod.requests for pod in living)
    shares = {name: _share(asked.get(name), offered.get(name)) for name in (CPU, MEMORY)}
    return {f"nodes{when}": len(own), **{f"{name}{when}": percent(share) for name, share in shares.items()}}


def _share(asked: int, offered: int) -> Fraction | None:
    return Fraction(asked, offered) if offered else None
