"""What a pass or a check of the policy advises: pools that the cluster does not have, and nodes that expire."""
# Warnings that refuse nothing.

from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.records.state import Advised
from shared.core.rules.nodes import has_expired

AGAIN_AFTER: Final = timedelta(days=1)
_MOST_NAMED: Final = 5


def unknown_pools(policy: Policy, snapshot: Snapshot) -> dict[str, str]:
    """Return, by the name of each such pool, the sentence that names it, with pools that have no settings yet."""
    there = {*snapshot.pools, *snapshot.nodes_by_pool} - {""}
    free = sorted(there - {*policy.pools})
    more = f" and {len(free) - _MOST_NAMED:,} more" if len(free) > _MOST_NAMED else ""
    missing = "the cluster has no such pool" if snapshot.pools_known else "no node here belongs to such a pool"
    others = f"pools without settings: {', '.join(free[:_MOST_NAMED]) or 'none'}{more}"
    return {name: f"nodePools.{name}: {missing}; {others}." for name in sorted({*policy.pools} - there)}


def is_advice_due(last: Advised | None, policy_hash: str, now: datetime) -> bool:
    """Whether it is time to warn again: of another policy at once, of the same one once a day."""
    return last is None or last.policy_hash != policy_hash or now - last.at >= AGAIN_AFTER


def expiring(policy: Policy, snapshot: Snapshot | None) -> tuple[str, ...]:
    """Return a sentence for each enabled pool whose nodes expire: how many have, if there is a cluster to look at."""
    pools = {name: pool for name, pool in policy.pools.items() if pool.enabled and pool.expire_after is not None}
    found = []
    for name, pool in pools.items():
        detail = "a node of that age goes however full it is; how many are, a cluster or a dump shows (--dump FILE)"
        if snapshot is not None:
            nodes = snapshot.nodes_by_pool.get(name, ())
            old = sum(has_expired(node, pool, snapshot.taken_at) for node in nodes)
            detail = f"{old:,} of {len(nodes):,} nodes are of that age, and go however full they are"
        found.append(f"nodePools.{name}.disruption.expireAfter: {detail}.")
    return tuple(found)
