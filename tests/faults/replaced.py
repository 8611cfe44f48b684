"""Worlds whose budgets end when what was moved runs again, and whether Ebb writes that too early."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from shared.core.records.state import ClusterState
from tests.faults.replay import Entry, ReplayedCluster, is_ebb
from tests.faults.worlds import Limits, Setting, setting, workload

FRESH = 20.0
"""So long before the write of its moment a drain may have seen its pods run."""


@cache
def replaced_settings() -> tuple[Setting, ...]:
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3], cpu=300)
    db, slow = workload("db", [1, 2], kind="StatefulSet"), workload("slow", [0, 1, 2, 3, 4], cpu=300, readyAfter=30)
    few = Limits(pool=1, ceiling=1, minimum_nodes=2, awaiting=2)
    late = replace(few, watchdog=240.0)
    return (
        setting("replaced", [web, api, db], limits=late, unneededTime=80),
        setting("replaced slowly", [web, slow], limits=late, unneededTime=80),
        setting("replaced and never deleted", [web, api], limits=few, enabled=False),
    )


class Moments:
    """Each moment in a claim: as many pods of what the drain moved are Ready as before, or as there are."""

    def __init__(self) -> None:
        self._moved: dict[str, dict[str, int]] = {}
        """By node and owner, how many were Ready when the first of them was moved."""
        self._whole_at: dict[tuple[str, str], float] = {}
        """By node and owner, when they were last seen to be enough."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] == "eviction" and is_ebb(entry["actor"]) and entry["uid"] in cluster.pods:
            owner = cluster.pods[entry["uid"]]["owner"]
            self._moved.setdefault(entry["node"], {}).setdefault(owner, _ready(owner, cluster)[0])
        elif entry["type"] == "change" and entry["kind"] == "pods":
            self._look(cluster)
        elif entry["type"] == "state":
            self._look(cluster)
            yield from self._written(entry["before"], entry["after"], cluster.at)

    def _look(self, cluster: ReplayedCluster) -> None:
        for node, owners in self._moved.items():
            for owner, before in owners.items():
                ready, living = _ready(owner, cluster)
                if ready >= min(before, living):
                    self._whole_at[node, owner] = cluster.at

    def _written(self, before: ClusterState, after: ClusterState, at: float) -> Iterator[str]:
        for uid, claim in after.claims.items():
            known = before.claims.get(uid)
            if known is None:
                self._moved.pop(claim.node, None)
            elif claim.replaced and not known.replaced:
                for owner in self._moved.get(claim.node, {}):
                    if at - self._whole_at[claim.node, owner] > FRESH:
                        yield f"{claim.node} uses no budget any more, and pods of {owner[:8]} do not run again"


def _ready(owner: str, cluster: ReplayedCluster) -> tuple[int, int]:
    living = [pod for pod in cluster.pods.values() if pod["owner"] == owner and not pod["terminating"]]
    return sum(pod["ready"] for pod in living), len(living)
