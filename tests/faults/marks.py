"""Was a node ordered sooner after a pass saw it busy than `consolidateAfter`? No code of Ebb's rules."""

from collections.abc import Collection, Iterator, Mapping

from shared.core.reasons import DrainReason
from shared.core.records.state import ClusterState
from tests.faults.replay import NODES, Entry, ReplayedCluster, call_of, is_ebb
from tests.faults.worlds import BUSY, Limits

READ_WITHIN = 30.0
"""Seconds that a pass takes at most between its two readings of the clock, where its calls are slow."""


class Marks:
    def __init__(self, limits: Limits, cpu: Mapping[str, int], completed: Collection[str]) -> None:
        self._after, self._cpu, self._completed = limits.consolidate_after, cpu, completed
        self._seen: dict[str, tuple[float, frozenset[str]]] = {}
        """When each completed pass listed the nodes, and the UIDs of those that were busy."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if not self._after:
            return
        if entry["type"] == "request" and entry["path"] == NODES and is_ebb(entry["user_agent"]):
            call = call_of(entry["user_agent"])
            if call in self._completed:
                self._seen[call] = cluster.at, self._busy(cluster)
        elif entry["type"] == "state":
            yield from self._granted(entry["before"], entry["after"])

    def _busy(self, cluster: ReplayedCluster) -> frozenset[str]:
        used = dict.fromkeys(cluster.nodes, 0)
        for pod in cluster.pods.values():
            if pod["node"] in used:
                used[pod["node"]] += self._cpu[pod["uid"]]
        nodes = cluster.nodes.items()
        return frozenset(node["uid"] for name, node in nodes if used[name] >= BUSY * self._cpu[node["uid"]])

    def _granted(self, before: ClusterState, after: ClusterState) -> Iterator[str]:
        for uid in sorted(after.claims.keys() - before.claims.keys()):
            claim = after.claims[uid]
            if claim.reason is not DrainReason.UNDERUTILIZED or claim.picture_at is None:
                continue
            planned = claim.picture_at.timestamp()
            busy = [at for at, uids in self._seen.values() if uid in uids and at < planned]
            if busy and planned - max(busy) < self._after - READ_WITHIN:
                yield f"{claim.node} is drained, and was busy {planned - max(busy):.0f} s before the plan"
