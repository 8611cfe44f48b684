"""Was a claim granted that broke a limit at that moment, or too soon? Counted anew (docs/decisions/promise.md).

A claim rests on the nodes as a call of its instance listed them, at most FRESH seconds before the compare-and-set began
(`Excuse.LISTED_BEFORE`). Starts are counted anew once the state was lost (`Excuse.FORGOTTEN`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.core.reasons import DrainReason
from shared.core.records.state import Claim, ClusterState
from tests.faults.excuses import Excuse, Excuses
from tests.faults.replay import NODES, Entry, ReplayedCluster, call_of, holder, is_deleting, is_ebb, is_reserved
from tests.faults.worlds import BUSY, Limits

FRESH = 60.0
HOUR = 3600.0
DRAINER = "push-"
"""How the names of the drainer's calls begin; all of them are of one instance."""


@dataclass(frozen=True)
class Grant:
    """One claim as it was granted; `began` is when its write set out, whose precondition was read before."""

    uid: str
    claim: Claim
    before: ClusterState
    call: str
    began: float


class Grants:
    def __init__(self, excuses: Excuses, limits: Limits) -> None:
        self._excuses, self._limits = excuses, limits
        self._starts: list[float] = []
        self._written_at = float("-inf")
        """When the state was written last."""
        self._lost_at = float("-inf")
        """When the state was lost."""
        self._off_since: float | None = None
        self._raised: tuple[float, int] | None = None
        """Since when the pool has another minimum, and which."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] == "act":
            self._act(entry)
        if entry["type"] != "state":
            return
        before: ClusterState = entry["before"]
        after: ClusterState = entry["after"]
        for uid in sorted(after.claims.keys() - before.claims.keys()):
            grant = Grant(uid, after.claims[uid], before, entry["actor"], entry["began"])
            for fault in self._judged(grant, cluster):
                yield f"claim of {grant.claim.node} by {grant.call}: {fault}"
            self._starts.append(cluster.at)
        self._written_at = cluster.at

    def _act(self, entry: Entry) -> None:
        if entry["act"] == "lose the state":
            self._lost_at = entry["at"]
        if entry["act"] in {"pause", "dry run"} and self._off_since is None:
            self._off_since = entry["at"]
        if entry["act"] in {"resume", "stop steering"}:  # both write a policy that says neither
            self._off_since = None
        if entry["act"] == "raise the minimum":
            self._raised = entry["at"], entry["nodes"]

    def _judged(self, grant: Grant, cluster: ReplayedCluster) -> list[str]:
        if self._written_at > grant.began:
            return ["the state was written while this write was on its way"]
        now = [*self._broken(grant, cluster.nodes, cluster), *self._forbidden(grant, cluster)]
        if not now:
            return []
        listed = cluster.listed_before(grant.began, DRAINER, grant.call)
        fresh = (sighting for sighting in listed if grant.began - sighting.at <= FRESH)
        then = [[*self._broken(grant, sighting.nodes, cluster), *self._forbidden(grant, cluster)] for sighting in fresh]
        self._excuses.note(Excuse.LISTED_BEFORE, not all(then))
        return min([*then, now], key=len)

    def _broken(self, grant: Grant, nodes: Mapping[str, Entry], cluster: ReplayedCluster) -> list[str]:
        limits, node = self._limits, nodes.get(grant.claim.node)
        before_change = [node for node in nodes.values() if node["uid"] != grant.uid]
        held = {uid for uid in grant.before.claims if uid != grant.uid} | {
            node["uid"] for node in before_change if holder(node)
        }
        staying = [node for node in before_change if not is_deleting(node) and not is_reserved(node)]
        lost = {node["uid"] for node in staying if not node["ready"] and node["uid"] in cluster.once_ready}
        minimum = self._pool_minimum(grant)
        ended = {uid for uid, claim in grant.before.claims.items() if limits.awaiting is not None and claim.replaced}
        left, used = sum(node["uid"] not in held for node in staying), len((held | lost) - ended)
        rows = (
            (node is None or node["uid"] != grant.uid, "no such node"),
            (node is not None and node["unschedulable"] and not holder(node), "somebody had cordoned it"),
            (used >= limits.pool, f"{used} of {limits.pool} nodes of the pool were in use"),
            (used >= limits.ceiling, f"{used} of {limits.ceiling} nodes of the cluster were in use"),
            (limits.awaiting is not None and len(held) >= limits.awaiting, f"{len(held)} nodes were held"),
            (left < limits.minimum_nodes, f"{left} nodes left, the minimum is {limits.minimum_nodes}"),
            (left < minimum, f"{left} nodes left, the pool's minimum is {minimum}"),
        )
        return [fault for broke, fault in rows if broke]

    def _pool_minimum(self, grant: Grant) -> int:
        if self._raised is None or grant.began - self._raised[0] <= FRESH:
            return self._limits.pool_minimum
        return self._raised[1]

    def _forbidden(self, grant: Grant, cluster: ReplayedCluster) -> list[str]:
        recent = [at for at in self._starts if at > cluster.at - HOUR]
        too_many = len(recent) >= self._limits.starts_per_hour and not self._are_forgotten(recent)
        off = self._off_since is not None and grant.began - self._off_since > FRESH
        rows = (
            (too_many, f"{len(recent)} starts within the hour"),
            (grant.before.paused, "Ebb was paused"),
            (off, "the policy had said no for long"),
        )
        return [fault for broke, fault in rows if broke]

    def _are_forgotten(self, starts: Sequence[float]) -> bool:
        """Whether too few of the starts to matter came after the state was lost."""
        known = sum(at > self._lost_at for at in starts)
        return self._excuses.covers(Excuse.FORGOTTEN, known < self._limits.starts_per_hour)


READ_WITHIN = 30.0
"""Seconds that a pass takes at most between its two readings of the clock, where its calls are slow."""


class Marks:
    """Judges by what completed passes saw: a node was ordered later after it was busy than `consolidateAfter`."""

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
