"""What Ebb did to nodes and pods, entry by entry: only its own cordons undone, no PDB broken, nothing deleted.

And did the autoscaler buy a node for a buffer whose room Ebb had given away? Both are judged from the record alone.

An eviction must be of a pod on a node that Ebb holds, or held when the evicting call last looked (`Excuse.UNDER_WAY`).
"""

from collections.abc import Iterator, Sequence

from tests.faults.excuses import Excuse, Excuses
from tests.faults.replay import SOFT, TAINT, Entry, ReplayedCluster, call_of, holder, is_ebb


def of(entry: Entry, cluster: ReplayedCluster, excuses: Excuses) -> Iterator[str]:
    if entry["type"] == "eviction" and is_ebb(entry["actor"]):
        yield from _eviction(entry, cluster, excuses)
    elif entry["type"] == "change" and entry["kind"] == "nodes" and is_ebb(entry["actor"]):
        yield from _node(entry, cluster)
    elif entry["type"] == "request" and entry["verb"] == "DELETE" and is_ebb(entry["user_agent"]):
        yield f"{entry['user_agent']} asked for DELETE {entry['path']}"


def _eviction(entry: Entry, cluster: ReplayedCluster, excuses: Excuses) -> Iterator[str]:
    name = f"{entry['namespace']}/{entry['name']}"
    if not entry["terminating"]:
        for budget in entry["budgets"]:
            if budget["broken"]:
                yield f"the eviction of {name} left {budget['healthy_after']} of {budget['desired']} healthy pods"
    look = cluster.looks.get((call_of(entry["actor"]), entry["node"]))
    seen = look.nodes.get(entry["node"]) if look else None
    if not holder(cluster.nodes.get(entry["node"])) and not excuses.covers(Excuse.UNDER_WAY, bool(holder(seen))):
        yield f"{entry['actor']} evicted {name} from {entry['node']}, which it does not hold"


def _node(entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
    before = cluster.before_change(entry)
    if entry["verb"] == "delete" or before is None:
        yield f"{entry['actor']}: {entry['verb']} of node {entry['name']}"
        return
    own = (TAINT, f"{SOFT}=:PreferNoSchedule")
    foreign = {taint for taint in {*before["taints"]} ^ {*entry["taints"]} if not taint.startswith(own)}
    if foreign:
        yield f"{entry['actor']} changed taints of {entry['name']} that are not ours: {sorted(foreign)}"
    ours = holder(before) or entry["name"] in cluster.cordons
    if before["unschedulable"] and not entry["unschedulable"] and not ours:
        yield f"{entry['actor']} undid a cordon of {entry['name']} that was not ours"
    if before["unschedulable"] and holder(entry) and not holder(before):
        yield f"{entry['actor']} took {entry['name']}, which somebody had cordoned"
    if holder(before) and not holder(entry) and entry["unschedulable"]:
        yield f"{entry['actor']} gave {entry['name']} back and left it cordoned"


AUTOSCALER = "cluster-autoscaler"


class BoughtBack:
    """A node added while no pod waits is added for a buffer, whose room only Ebb takes until anybody else acts."""

    def __init__(
        self, excuses: Excuses, acted_at: Sequence[float], unread_at: Sequence[float] = (), *, buffers: bool
    ) -> None:
        """`unread_at` are the times at which reads of what only advises failed."""
        self._excuses, self._unread_at = excuses, unread_at
        self._until = min(acted_at, default=float("inf")) if buffers else 0.0
        self._ours = False

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        self._ours = self._ours or any(holder(node) for node in cluster.nodes.values())
        if not self._is_added(entry) or entry["at"] >= self._until:
            return
        if not self._ours or any(pod["unschedulable"] for pod in cluster.pods.values()):
            return
        if not self._excuses.covers(Excuse.UNREAD, any(at < entry["at"] for at in self._unread_at)):
            yield f"{entry['name']} was bought back for a buffer"

    @staticmethod
    def _is_added(entry: Entry) -> bool:
        added = entry["type"] == "change" and (entry["kind"], entry["verb"]) == ("nodes", "create")
        return added and entry["actor"] == AUTOSCALER
