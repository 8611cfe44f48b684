"""Finds out what the autoscaler said of a node: why it kept it, and whether it failed on it. No rule lives here.

Must not stop a release: what cannot be read is said instead.
"""

from datetime import datetime

from functions.drainer.session import DrainSession
from functions.drainer.shared_snapshots import compute_classes
from shared.core.cluster.autoscaling import scale_down_of
from shared.core.cluster.node import Node
from shared.core.draining.why_not_deleted import reasons_not_deleted
from shared.errors import EbbError
from shared.ports import Ports
from shared.store.advisory import deletion_begun_at


def why_kept(ports: Ports, node: Node, now: datetime) -> str:
    """Return why the node still stands, in the autoscaler's words where it said any."""
    cluster = ports.cluster
    try:
        said = cluster.deletion_failure(node.name)
        found = ports.pools.read()
        pool, classes = found.pools.get(node.pool), compute_classes(ports, node, now)
        rule = scale_down_of(node, pool, found.profile, classes)
        return reasons_not_deleted(node, cluster.pods_on(node.name), cluster.all_nodes(), pool, rule, said, now)
    except EbbError as error:
        return f"Why the autoscaler kept it could not be read: {error}"


def begun_at(session: DrainSession, node: Node) -> datetime | None:
    """Return when the autoscaler last began to delete the node; what cannot be read counts as nothing said."""
    return deletion_begun_at(session.log_event, "drain_step", session.ports.cluster, node.name)
