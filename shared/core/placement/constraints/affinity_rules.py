"""What the required pod affinity of a cluster asks on its nodes: of whom, by which keys, and of which pods nobody can.

A rule is the whole of what one pod asks: its terms hold together. Must not know what has moved.
"""

from collections.abc import Mapping, Sequence

from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import PodTerm
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.constraints.domain_counts import NOWHERE
from shared.core.placement.constraints.term_matches import TermMatches
from shared.core.placement.constraints.topology import TopologyDomains
from shared.core.placement.node_filters import NodeFilters
from shared.core.rules.unmodelled import is_destination

Domains = tuple[int, ...]
"""A node's domain for each key of a rule."""


class AffinityRules:
    """The rules of all classes: by class what it asks, and which rules mean it."""

    def __init__(self, classes: Sequence[PodClass], snapshot: Snapshot, node_filters: NodeFilters) -> None:
        rules = list(dict.fromkeys(spec.affinity for spec in classes if spec.affinity))
        numbers = {terms: rule for rule, terms in enumerate(rules)}
        keys = [tuple(dict.fromkeys(term.topology_key for term in terms)) for terms in rules]
        known = {key: TopologyDomains(node_filters, key) for row in keys for key in row}
        self.domains = [tuple(known[key] for key in row) for row in keys]
        """By rule, the domains of each of its keys."""
        self.asked = [numbers.get(spec.affinity) for spec in classes]
        self.meant_by = _meant_by(classes, rules, snapshot)
        """By class, the rules of which all terms mean it."""

    def place(self, rule: int, node: int) -> Domains | None:
        """Return the node's domains; None: it bears none of the keys, and what lies on it is nobody's companion."""
        found = tuple(domains.of[node] for domains in self.domains[rule])
        return found if any(domain != NOWHERE for domain in found) else None

    def may_be_first(self, kind: int) -> bool:
        """Whether the class is meant by what it asks itself: one such pod may come where none is yet."""
        return self.asked[kind] in self.meant_by[kind]


def unsteady_nodes(snapshot: Snapshot) -> list[int]:
    """Return the nodes whose pods may be gone at any time: not Ready, on their way out, cordoned, or in an upgrade."""
    upgrading = {name for name, pool in snapshot.pools.items() if pool.upgrading}
    return [place for place, node in enumerate(snapshot.nodes) if not _stays(node, upgrading)]


def terminating(kinds: Mapping[PodClass, int], snapshot: Snapshot) -> list[tuple[int, int]]:
    """Return class and node of each pod that is on its way out and has not ended."""
    index = {node.name: place for place, node in enumerate(snapshot.nodes)}
    leaving = (pod for pod in snapshot.pods if pod.deleting is not None and not pod.phase.finished)
    return [(kinds[pod.spec], index[pod.node]) for pod in leaving if pod.node in index]


def _stays(node: Node, upgrading: set[str]) -> bool:
    return is_destination(node) and node.pool not in upgrading


def _meant_by(
    classes: Sequence[PodClass], rules: Sequence[tuple[PodTerm, ...]], snapshot: Snapshot
) -> list[tuple[int, ...]]:
    found: list[list[int]] = [[] for _ in classes]
    matches = TermMatches(classes if rules else (), snapshot.namespaces)
    for rule, terms in enumerate(rules):
        for kind in set.intersection(*(set(matches.of(term)) for term in terms)):
            found[kind].append(rule)
    return [tuple(each) for each in found]
