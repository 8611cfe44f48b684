"""Was a claim granted that broke a limit at the moment of the grant? Counted anew from the record (design §2).

A claim rests on the nodes as its call listed them, at most FRESH seconds before: nobody can read the nodes and write
the document in one instant. What it listed earlier than that is no excuse: then the nodes of the moment count.
"""

from collections.abc import Iterator, Mapping

from shared.core.state import Claim, ClusterState
from tests.faults.replay import Entry, Scene, holder, is_deleting
from tests.faults.worlds import Limits

FRESH = 60.0
HOUR = 3600.0


class Grants:
    """Judges each grant; remembers the starts, and when the policy was last switched."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._starts: list[float] = []
        self._off_since: float | None = None

    def of(self, entry: Entry, scene: Scene) -> Iterator[str]:
        """Judge one entry of the record."""
        if entry["type"] == "act":
            self._act(entry)
        if entry["type"] != "state":
            return
        before: ClusterState = entry["before"]
        after: ClusterState = entry["after"]
        for uid in after.claims.keys() - before.claims.keys():
            claim = after.claims[uid]
            yield from (f"claim of {claim.node} by {entry['actor']}: {fault}" for fault in self._judged(
                uid, claim, before, entry["actor"], scene))  # fmt: skip
            self._starts.append(scene.at)

    def _act(self, entry: Entry) -> None:
        if entry["act"] == "lose the state":
            self._starts.clear()  # Ebb cannot count what it no longer knows
        if entry["act"] in {"pause", "dry run"}:
            self._off_since = entry["at"]
        if entry["act"] == "resume":
            self._off_since = None

    def _judged(self, uid: str, claim: Claim, before: ClusterState, call: str, scene: Scene) -> list[str]:
        seen = scene.lists.get(call)
        now = self._faults(uid, claim, before, scene.nodes, scene)
        if not now or seen is None or scene.at - seen.at > FRESH:
            return now
        return self._faults(uid, claim, before, seen.nodes, scene)

    def _faults(
        self, uid: str, claim: Claim, before: ClusterState, nodes: Mapping[str, Entry], scene: Scene
    ) -> list[str]:
        limits, node = self._limits, nodes.get(claim.node)
        held = {*before.claims, *(each["uid"] for each in nodes.values() if holder(each))} - {uid}
        broken = {
            each["uid"] for each in nodes.values()
            if not each["ready"] and each["uid"] in scene.once_ready and not is_deleting(each)
        } - {uid}  # fmt: skip
        left = sum(each["uid"] not in held and not is_deleting(each) for each in nodes.values())
        used, recent = len(held | broken), sum(at > scene.at - HOUR for at in self._starts)
        rows = (
            (node is None or node["uid"] != uid, "no such node"),
            (node is not None and node["unschedulable"] and holder(node) != claim.order_id, "somebody cordoned it"),
            (used >= limits.pool, f"{used} of {limits.pool} nodes of the pool in use"),
            (used >= limits.ceiling, f"{used} of {limits.ceiling} nodes of the cluster in use"),
            (left - 1 < limits.minimum_nodes, f"{left} nodes left, minimum {limits.minimum_nodes}"),
            (left - 1 < limits.pool_minimum, f"{left} nodes left, the pool's minimum {limits.pool_minimum}"),
            (recent >= limits.starts_per_hour, f"{recent} starts within the hour"),
            (before.paused, "Ebb is paused"),
            (self._off_since is not None and scene.at - self._off_since > FRESH, "the policy says no"),
        )
        return [fault for broke, fault in rows if broke]
