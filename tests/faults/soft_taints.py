"""How long a soft taint outlives the wave that it was written for.

Shares no code with Ebb's rules; a document is only decoded.
"""

from collections.abc import Iterator

from shared.core.records.state import ClusterState, Wave
from tests.faults.replay import Entry, ReplayedCluster, holder, is_deleting
from tests.faults.waiting_times import Bound


class SoftTaints:
    """Judges over the whole record; a node that is to be drained, or on its way out, is left alone meanwhile."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._wave: Wave | None = None
        self._state = ClusterState()
        self._since: dict[str, float] = {}
        self._told: set[str] = set()

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        """Judge what stood until this entry of the record, then take it in."""
        yield from self._at(cluster)
        if entry["type"] == "wave":
            self._wave = entry["after"]
        elif entry["type"] == "state":
            self._state = entry["after"]
        elif entry["type"] == "act" and entry["act"] == "lose the state":
            self._wave, self._state = None, ClusterState()

    def _at(self, cluster: ReplayedCluster) -> Iterator[str]:
        left = [name for name in cluster.soft if self._is_left_over(cluster.nodes[name], cluster.at)]
        self._since = {name: self._since.get(name, cluster.at) for name in sorted(left)}
        for name, since in self._since.items():
            if name not in self._told and self._bound.is_broken(cluster.at - since, name):
                self._told.add(name)
                yield f"{name} carries the soft taint of a wave that has ended, for {cluster.at - since:.0f} s"

    def _is_left_over(self, node: Entry, now: float) -> bool:
        ordered = self._state.published.get(node["uid"])
        on_its_way = ordered is not None and now < ordered.expires_at.timestamp()
        if holder(node) or is_deleting(node) or node["uid"] in self._state.claims or on_its_way:
            return False
        lives = self._wave is not None and now < self._wave.deadline.timestamp()
        return not (lives and self._wave and any(held.uid == node["uid"] for held in self._wave.nodes))
