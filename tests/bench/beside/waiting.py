"""Whose eviction a pod stands for that has no node in the end: the autoscaler's own, or another's.

The autoscaler proves one packing, and the scheduler chooses another: what it evicts itself may find no node whoever is
beside it. Only a pod that nobody else can have made is told as its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from infra.local.scaling.client import AGENT
from infra.local.simulated_gke import World
from infra.local.world.kinds import Json
from infra.local.world.pods import node_of


@dataclass(frozen=True)
class Waiting:
    """Pods without a node."""

    by_autoscaler: int
    """Created anew for what it evicted."""
    by_others: int
    """All the rest: for what Ebb evicted, or for what nobody did."""


def waiting_in(world: World) -> Waiting:
    """Return how many pods have no node now."""
    found = [pod for pod in world.store.all("pods") if not node_of(pod)]
    own = sum(_is_autoscalers(pod, world.record.of("change"), world.record.of("eviction")) for pod in found)
    return Waiting(own, len(found) - own)


def _is_autoscalers(pod: Json, changes: Sequence[Json], evictions: Iterable[Json]) -> bool:
    """Whether the last evictions of pods of the same owner, before this one came, were all the autoscaler's."""
    mine = [change for change in changes if change["kind"] == "pods" and change["uid"] == pod["metadata"]["uid"]]
    created, owner = mine[0]["at"], mine[0]["owner"]
    siblings = {change["uid"] for change in changes if change["kind"] == "pods" and owner and change["owner"] == owner}
    earlier = [
        eviction
        for eviction in evictions
        if eviction["uid"] in siblings and _counts(eviction) and eviction["at"] <= created
    ]
    last = max((eviction["at"] for eviction in earlier), default=0.0)
    return {eviction["actor"] for eviction in earlier if eviction["at"] == last} == {AGENT}


def _counts(eviction: dict[str, Any]) -> bool:
    return not eviction.get("dry_run")
