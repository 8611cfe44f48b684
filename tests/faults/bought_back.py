"""Did the autoscaler buy a node for a buffer whose room Ebb had given away? Judged from the record alone.

Shares no code with Ebb's rules.
"""

from collections.abc import Iterator, Sequence

from tests.faults.excuses import Excuse, Excuses
from tests.faults.replay import Entry, ReplayedCluster, holder

AUTOSCALER = "cluster-autoscaler"


class BoughtBack:
    """A node that is added while no pod waits is added for a buffer.

    In a world of steady demand nobody but Ebb takes the buffers' room; once anybody else has done something, nothing
    is told of it any more.
    """

    def __init__(
        self, excuses: Excuses, acted_at: Sequence[float], unread_at: Sequence[float] = (), *, buffers: bool
    ) -> None:
        """`unread_at` are the times at which reads of what only advises failed."""
        self._excuses, self._unread_at = excuses, unread_at
        self._until = min(acted_at, default=float("inf")) if buffers else 0.0
        self._ours = False

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        """Judge one entry of the record."""
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
