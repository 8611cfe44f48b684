"""Finds out why the autoscaler kept a drained node, for the record of its release. No rule lives here.

Must not stop a release: what cannot be read is said instead.
"""

from datetime import datetime

from shared.core.lingering import why_it_stands
from shared.core.snapshot import Node
from shared.errors import EbbError
from shared.ports import Ports


def why_kept(ports: Ports, node: Node, now: datetime) -> str:
    """Return why the node still stands, in the autoscaler's words where it said any."""
    cluster = ports.cluster
    try:
        said = cluster.deletion_failure(node.name)
        pool = ports.pools.read().pools.get(node.pool)
        return why_it_stands(node, cluster.pods_on(node.name), cluster.all_nodes(), pool, said, now)
    except EbbError as error:
        return f"Why the autoscaler kept it could not be read: {error}"
