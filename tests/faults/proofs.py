"""Was there room just before a drain's first eviction? Counted anew from the record, by CPU and by the hard rules.

A fit that is not there by this count is not there at all; that it is there proves nothing, so only Ebb's mistakes are
told. Shares no code with Ebb's placement.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from tests.faults.excuses import Excuse, Excuses
from tests.faults.replay import Entry, ReplayedCluster, holder, is_deleting, is_ebb
from tests.faults.ways_out import WaysOut

STANDS_FOR = 25.0
"""Seconds for which a proof stands, and in which reads and the first evictions are made."""
ANNOUNCED = "DeletionCandidateOfClusterAutoscaler="


class Proofs:
    """Judges the first eviction of every drain: at most 20 s ago there was room, also for what the autoscaler moves."""

    def __init__(
        self,
        excuses: Excuses,
        hindrances: Sequence[float],
        cpu: Mapping[str, int],
        ways_out: WaysOut,
        begun: float = 0.0,
        unread_at: Sequence[float] = (),
    ) -> None:
        """`unread_at` are the times at which reads of what only advises failed."""
        self._unread_at = unread_at
        self._excuses, self._hindrances, self._cpu, self._ways_out = excuses, hindrances, cpu, ways_out
        self._world_stands = begun
        """Until when the world was built: half a world proves no room."""
        self._begun: set[tuple[str, str]] = set()
        """Drains that have evicted: node and order."""
        self._moments: list[ReplayedCluster] = []
        """How it stood, change by change."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] == "change" and entry["at"] > self._world_stands:
            self._moments.append(ReplayedCluster(cluster.at, dict(cluster.pods), dict(cluster.nodes)))
        elif entry["type"] == "eviction" and is_ebb(entry["actor"]):
            yield from self._eviction(entry["node"], cluster, cluster.set_out.get(entry["actor"], cluster.at))

    def _eviction(self, name: str, cluster: ReplayedCluster, set_out: float) -> Iterator[str]:
        drain = name, holder(cluster.nodes.get(name))
        if drain in self._begun:
            return
        self._begun.add(drain)
        if self._had_room(name, cluster, cluster.at):
            return
        if self._excuses.covers(Excuse.UNDER_WAY, set_out < cluster.at and self._had_room(name, cluster, set_out)):
            return
        hindered = any(cluster.at - STANDS_FOR <= at <= cluster.at for at in self._hindrances)
        unread = any(cluster.at - STANDS_FOR <= at <= cluster.at for at in self._unread_at)
        rows = ((Excuse.UNREAD, unread), (Excuse.HINDERED, hindered))
        if not any(self._excuses.covers(*row) for row in rows):
            yield f"the first eviction from {name} rested on room that had been gone for {STANDS_FOR:.0f} s"

    def _had_room(self, name: str, cluster: ReplayedCluster, since: float) -> bool:
        """Whether there was room now, or at any time from that long before `since`."""
        recent = takewhile(lambda moment: moment.at >= since - STANDS_FOR, reversed(self._moments))
        return any(self._fits(name, moment) for moment in (cluster, *recent) if name in moment.nodes)

    def _fits(self, name: str, cluster: ReplayedCluster) -> bool:
        """Whether what is on the node fits elsewhere, beside what one announced node would move if it can."""
        own, announced = self._leaving(name, cluster), [other for other in self._announced(cluster) if other != name]
        free = self._free(cluster, {name, *announced})
        also = self._leaving(announced[0], cluster) if len(announced) == 1 else []
        return self._all_fit([*own, *also], free, cluster) or (
            not self._all_fit(also, free, cluster) and self._all_fit(own, free, cluster)
        )

    def _all_fit(self, leaving: Sequence[str], free: Mapping[str, int], cluster: ReplayedCluster) -> bool:
        if not fit([self._ways_out.cpu_of(uid) for uid in leaving], list(free.values())):
            return False
        return self._ways_out.exist(leaving, cluster, free.keys())

    def _announced(self, cluster: ReplayedCluster) -> list[str]:
        nodes = ((name, node) for name, node in cluster.nodes.items() if node["ready"] and not holder(node))
        return [name for name, node in nodes if any(taint.startswith(ANNOUNCED) for taint in node["taints"])]

    def _leaving(self, name: str, cluster: ReplayedCluster) -> list[str]:
        pods = cluster.pods.items()
        return [uid for uid, pod in pods if pod["node"] == name and not pod["terminating"] and pod["owner"]]

    def _free(self, cluster: ReplayedCluster, leaving: set[str]) -> dict[str, int]:
        open_nodes = (
            (name, node)
            for name, node in cluster.nodes.items()
            if node["ready"] and not node["unschedulable"] and not holder(node) and not is_deleting(node)
        )
        free = {name: self._cpu[node["uid"]] for name, node in open_nodes if name not in leaving}
        for uid, pod in cluster.pods.items():
            if pod["node"] in free:
                free[pod["node"]] -= self._cpu[uid]
        return free


def fit(sizes: Sequence[int], free: Sequence[int]) -> bool:
    return _fit(tuple(sorted(sizes, reverse=True)), tuple(sorted(free)))


def _fit(sizes: tuple[int, ...], free: tuple[int, ...]) -> bool:
    if not sizes:
        return True
    if sum(sizes) > sum(amount for amount in free if amount > 0):
        return False
    tried = set[int]()
    for place, amount in enumerate(free):
        if amount >= sizes[0] and amount not in tried:
            tried.add(amount)
            if _fit(sizes[1:], tuple(sorted((*free[:place], amount - sizes[0], *free[place + 1 :])))):
                return True
    return False
