"""Which nodes count for what: those that leave, those that are room for ordinary pods, those that budgets ask for.

Must not judge, and must not keep counts: `counts` does.
"""

from collections.abc import Iterable, Mapping, Sequence

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.policy import Policy
from shared.core.records.state import Claim
from shared.core.rules.utilization import is_untainted


def is_leaving(node: Node, claimed: Iterable[str]) -> bool:
    """Whether the node is on its way out: claimed, with our taint, or being deleted by the autoscaler."""
    ours = node.uid in claimed or node.drain_taint is not None
    return ours or node.has_taint(names.AUTOSCALER_DELETING_TAINT)


def counts_as_non_tainted(node: Node, policy: Policy) -> bool:
    """Whether the node is room for ordinary pods: schedulable, without a taint outside the pool's ignore list."""
    return is_untainted(node, policy.pool(node.pool).ignore_taints)


def counts_in_budgets(node: Node) -> bool:
    """Whether the node is part of a budget's denominator (docs/decisions/budgets.md).

    Registered and once Ready, NotReady ones included, without those that the autoscaler is already deleting and those
    that are no part of what is consolidated: a suspended node is not Ready for as long as nobody needs it.
    """
    return node.once_ready and not node.outside and not node.has_taint(names.AUTOSCALER_DELETING_TAINT)


def denominator(nodes: Iterable[Node], pool: str | None = None) -> int:
    """Return how many nodes a percentage is taken of, in one pool or (None) in the cluster."""
    return sum(counts_in_budgets(node) for node in nodes if pool in {None, node.pool})


def in_flight(nodes: Iterable[Node], claims: Mapping[str, Claim], pool: str | None = None) -> frozenset[str]:
    """Return the UIDs of claims and of nodes with our taint, in one pool or (None) in the cluster.

    A claim counts until it is settled, also while its node is already gone.
    """
    claimed = (uid for uid, claim in claims.items() if pool in {None, claim.pool})
    tainted = (node.uid for node in nodes if node.drain_taint is not None and pool in {None, node.pool})
    return frozenset((*claimed, *tainted))


def in_use(nodes: Sequence[Node], claims: Mapping[str, Claim], pool: str | None = None) -> frozenset[str]:
    """Return the UIDs that use up a budget: those in flight and the NotReady nodes that count in it.

    A person's cordon does not count (docs/acceptance.md row 72). A node that was never Ready is still joining; like
    Karpenter's uninitialised nodes it is on neither side.
    """
    broken = (n.uid for n in nodes if not n.ready and counts_in_budgets(n) and pool in {None, n.pool})
    return in_flight(nodes, claims, pool) | frozenset(broken)
