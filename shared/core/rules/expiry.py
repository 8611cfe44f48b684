"""When a node is as old as the policy lets it be, and what that amounts to in a cluster.

Must not refuse anything: an expired node goes because somebody wrote so.
"""

from datetime import datetime

from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy


def has_expired(node: Node, settings: PoolPolicy, now: datetime) -> bool:
    """Whether the node is of the pool's age of expiry (docs/acceptance.md row 81)."""
    return settings.expire_after is not None and now - node.created >= settings.expire_after


def expiring(policy: Policy, snapshot: Snapshot | None) -> tuple[str, ...]:
    """Return a sentence for each enabled pool whose nodes expire: how many have, if there is a cluster to look at."""
    pools = {name: pool for name, pool in policy.pools.items() if pool.enabled and pool.expire_after is not None}
    return tuple(f"nodePools.{name}.disruption.expireAfter: {_said(name, pools[name], snapshot)}." for name in pools)


def _said(name: str, pool: PoolPolicy, snapshot: Snapshot | None) -> str:
    if snapshot is None:
        return "a node of that age goes however full it is; how many are, a cluster or a dump tells (--dump FILE)"
    nodes = snapshot.nodes_by_pool.get(name, ())
    old = sum(has_expired(node, pool, snapshot.taken_at) for node in nodes)
    return f"{old:,} of {len(nodes):,} nodes are of that age, and go however full they are"
