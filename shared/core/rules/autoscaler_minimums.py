"""What the cluster autoscaler keeps at least: nodes of a pool and of its zones, CPU and memory of the cluster.

It deletes no node below that, so a drain would empty one for nothing. Single gates; `gates` lists them in order.
Must not look at pods.
"""

from shared.core.cluster.resources import CPU, MEMORY
from shared.core.reasons import Blocker, Unremovable
from shared.core.rules.gate_rules import ProposedDrain


def pool_at_minimum(proposed: ProposedDrain) -> Blocker | None:
    """Keep what the cluster autoscaler would keep: it deletes no node of a pool at its minimum.

    See docs/acceptance.md row 54.
    """
    pool = proposed.pool
    if pool.limits is None:
        return None
    in_zone = pool.left_by_zone.get(proposed.node.zone, 0)
    if in_zone - 1 < pool.limits.min_per_zone:
        detail = f"{in_zone} nodes left in {proposed.node.zone}, minimum {pool.limits.min_per_zone}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, proposed.node.pool, detail)
    if pool.left - 1 < pool.limits.min_total:
        detail = f"{pool.left} nodes left, minimum {pool.limits.min_total}"
        return Blocker(Unremovable.POOL_AT_MINIMUM, proposed.node.pool, detail)
    return None


def resource_minimum(proposed: ProposedDrain) -> Blocker | None:
    """Keep the CPU and memory that node auto-provisioning keeps in the whole cluster.

    The autoscaler counts what the machines have; we count what of it pods may request, which is less and so keeps a
    node too many rather than one too few.
    """
    counts, offered = proposed.counts, proposed.node.allocatable
    for name, unit, word in ((CPU, 1000, "cores"), (MEMORY, 2**30, "GiB")):
        left, here, minimum = (each.get(name) for each in (counts.left_resources, offered, counts.minimum))
        if minimum and left - here < minimum:
            detail = f"{left / unit:.1f} {word} left, {here / unit:.1f} here, minimum {minimum / unit:g}"
            return Blocker(Unremovable.RESOURCE_MINIMUM, detail=detail)
    return None
