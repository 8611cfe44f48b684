"""How the autoscaler takes the nodes of each pool away, for people: its nodes' rules as one.

Of nodes of one pool that differ, the least harmless holds: the highest threshold, the longest delay. Must not judge.
"""

from collections.abc import Iterable
from dataclasses import replace

from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot


def pool_rules(snapshot: Snapshot) -> dict[str, ScaleDownRule]:
    """Return the rule of each pool that the autoscaler takes nodes of, by its name."""
    autoscaled = [name for name, pool in snapshot.pools.items() if name and pool.autoscaled]
    rows = {name: [node for node in snapshot.nodes_by_pool.get(name, ()) if not node.outside] for name in autoscaled}
    return {name: _strictest(snapshot, rows[name]) for name in sorted(rows) if rows[name]}


def _strictest(snapshot: Snapshot, nodes: Iterable[Node]) -> ScaleDownRule:
    rules = [snapshot.scale_down(node) for node in nodes]
    by_gate, by_delay = max(rules, key=lambda rule: rule.gate), max(rules, key=lambda rule: rule.unneeded)
    unknown = next((rule for rule in rules if not rule.class_known), by_gate)
    return replace(
        by_gate,
        unneeded=by_delay.unneeded,
        unneeded_by=by_delay.unneeded_by,
        compute_class=unknown.compute_class,
        class_known=unknown.class_known,
    )
