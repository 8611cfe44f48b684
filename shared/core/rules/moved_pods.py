"""How many pods of each namespace a drain would move: counted at plan and at claim alike.

Nothing is counted while the policy sets no `evictionsPerNamespace`, so that the state's document stays small.
Must not judge: that is `gate_rules.namespace_rate`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from shared.core.cluster.snapshot import Node, Snapshot
from shared.core.policy import Policy
from shared.core.rules.pods import movable


def count_moved_pods(snapshot: Snapshot, nodes: Iterable[Node], policy: Policy) -> Mapping[str, Mapping[str, int]]:
    """Return by node UID and namespace how many pods would move; empty while no setting asks for it."""
    if policy.evictions_per_namespace is None:
        return {}
    return {node.uid: _by_namespace(snapshot, node) for node in nodes}


def _by_namespace(snapshot: Snapshot, node: Node) -> Mapping[str, int]:
    pods = movable(snapshot.pods_by_node.get(node.name, ()), snapshot.taken_at)
    return dict(sorted(Counter(pod.spec.namespace for pod in pods).items()))
