"""What a pass or a check of the policy advises: pools that the cluster does not have, and nodes that expire."""
# Warnings that refuse nothing.

import difflib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.records.state import Advised
from shared.core.rules.nodes import has_expired

AGAIN_AFTER: Final = timedelta(days=1)
_MOST_NAMED: Final = 5
_NEAR: Final = 0.6


def unknown_pools(policy: Policy, snapshot: Snapshot) -> dict[str, str]:
    """Return, by the name of each such pool, the sentence that names it, with the name that was perhaps meant."""
    there = sorted({*snapshot.pools, *snapshot.nodes_by_pool} - {""})
    free = [name for name in there if name not in policy.pools]
    missing = "the cluster has no such pool" if snapshot.pools_known else "no node here belongs to such a pool"
    meant = {name: _instead(name, free, others=len(there) > len(free)) for name in sorted({*policy.pools} - {*there})}
    return {name: f"nodePools.{name}: {missing}; {instead}." for name, instead in meant.items()}


def _instead(name: str, free: Sequence[str], *, others: bool) -> str:
    """Return what may have been meant: a pool that has its own settings already was not."""
    near = difflib.get_close_matches(name, free, n=1, cutoff=_NEAR)
    if near:
        return f"write {near[0]}, if that was meant"
    if not free:
        return "the policy names every pool that is there" if others else "there is no other either"
    rest = len(free) - _MOST_NAMED
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"there is {', '.join(free[:_MOST_NAMED])}{more}"


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
