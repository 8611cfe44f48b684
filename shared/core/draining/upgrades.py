"""Does GKE work on this very node? An upgrade of a pool takes hours, one node after another.

GKE cordons a node with the flag that a drain has set already, so the cordon does not show it. The node's version does:
one that has reached the pool's is done. What cannot be known stands for a while only, or a pool that is upgraded for
days would keep its held nodes.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.policy import DrainSettings

MAY_TAKE: Final = timedelta(minutes=10)
"""For so long a node that GKE may be emptying counts as emptied: a surge upgrade takes some minutes for a node."""


def may_be_taken(node: Node, pool: NodePool | None, nodes: Iterable[Node]) -> bool:
    """Return whether GKE may empty the node now or soon: it works on its pool, and is not known to be done with it.

    Work without a new version (an image, labels, a machine type) shows on no node. `nodes` are all nodes.
    """
    return pool is not None and pool.upgrading and not is_upgraded(node, pool, nodes)


def is_upgraded(node: Node, pool: NodePool | None, nodes: Iterable[Node]) -> bool:
    """Return whether an upgrade of its pool is known to be over for the node.

    A node of its pool must be older: if GKE reported the old version until the end, none would be.
    """
    if pool is None or (pool.upgrading and (not pool.version or node.version != pool.version)):
        return False
    own = _numbers(node.version)
    return any(each.pool == node.pool and _numbers(each.version) < own for each in nodes)


def waits_long(pod: Pod, now: datetime) -> bool:
    """Return whether a pod has waited for a place as long as an upgrade may keep a node from it."""
    return pod.unschedulable_since is not None and now - pod.unschedulable_since >= MAY_TAKE


def watchdog_of(settings: DrainSettings, *, in_upgrade: bool) -> timedelta:
    """Return how long the autoscaler may take to delete a drained node: during an upgrade twice as long."""
    return settings.watchdog * (2 if in_upgrade else 1)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]{1,9}", version)))
