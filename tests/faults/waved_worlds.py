"""Small worlds in which Ebb drains in waves, and how long soft taints outlive them, without Ebb's rules."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT
from shared.core.records.state import ClusterState, Wave
from shared.ports import WAVE_KEY
from tests.faults.installation import Installation
from tests.faults.people import MEANWHILE, Act
from tests.faults.replay import SOFT, Entry, ReplayedCluster, holder, is_deleting
from tests.faults.waiting_times import Bound
from tests.faults.worlds import Limits, Setting, setting, workload

_WAVED: Final = Limits(pool=1, ceiling=1, minimum_nodes=2, waves=True)
ACTS: Final = (((20.0, Act("grow")),), *MEANWHILE, ((100.0, Act("lose the state")), (130.0, Act("grow"))))


@cache
def waved_settings() -> tuple[Setting, ...]:
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3, 4], cpu=300)
    db = workload("db", [1, 2], kind="StatefulSet")
    return (
        setting("waved", [web, api], limits=_WAVED),
        setting("waved beside others", [web, api, db], limits=_WAVED, enabled=False),
    )


def left_held(end: Installation) -> Iterator[str]:
    """Yield the nodes that carry the soft taint though no living wave names them, and nobody deletes them."""
    found = end.state.all(WAVE_KEY.collection, Wave).get(WAVE_KEY.id)
    wave = found.value if found else None
    living = {node.name for node in wave.nodes} if wave and end.clock.now() < wave.deadline.timestamp() else set()
    for node in end.cloud.world.store.all("nodes"):
        name, taints = node["metadata"]["name"], node["spec"].get("taints") or []
        keys = {taint["key"] for taint in taints}
        if name not in living and SOFT in keys and AUTOSCALER_DELETING_TAINT not in keys:
            yield name


class SoftTaints:
    """Judges over the whole record; a node that is to be drained, or on its way out, is left alone meanwhile."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._wave: Wave | None = None
        self._state = ClusterState()
        self._since: dict[str, float] = {}
        self._told: set[str] = set()

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
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
