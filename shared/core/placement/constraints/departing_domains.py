"""Which nodes may be gone soon, and which domains would go with them.

A node that is closed will go, and bears our taint from then on; of others nobody knows: cordoned by somebody, or not
Ready. Must not know pods.
"""

from collections.abc import Collection, Sequence

from shared.core.placement.constraints.domain_counts import NOWHERE, Counts, count
from shared.core.placement.constraints.spread_rules import Topology


class _Nodes:
    """Some nodes, and by topology how many domains have no others."""

    def __init__(self, topologies: Sequence[Topology]) -> None:
        self._topologies = topologies
        self._by_domain: list[Counts] = [{} for _ in topologies]
        self.filled = [0] * len(topologies)

    def copy(self) -> "_Nodes":
        twin = _Nodes(self._topologies)
        twin._by_domain, twin.filled = [dict(each) for each in self._by_domain], list(self.filled)
        return twin

    def count(self, node: int, by: int) -> list[Topology]:
        """Count the node in or out; return the topologies that lost or won a domain."""
        turned: list[Topology] = []
        for topology in self._topologies:
            domain = topology.domain_of[node]
            if domain != NOWHERE:
                found = count(self._by_domain[topology.place], domain, by)
                more = (found == topology.sizes[domain]) - (found - by == topology.sizes[domain])
                self.filled[topology.place] += more
                turned += [topology] * abs(more)
        return turned


class DepartingDomains:
    """The nodes that go or may go, counted by domain of each topology."""

    def __init__(self, topologies: Sequence[Topology], uncertain: Collection[int]) -> None:
        self._topologies = topologies
        self._uncertain = set(uncertain)
        self._closed: set[int] = set()
        self._tainted = _Nodes(topologies)
        self._going = _Nodes(topologies)
        for node in self._uncertain:
            self._going.count(node, 1)

    def copy(self) -> "DepartingDomains":
        twin = DepartingDomains(self._topologies, ())
        twin._uncertain, twin._closed = set(self._uncertain), set(self._closed)
        twin._tainted, twin._going = self._tainted.copy(), self._going.copy()
        return twin

    def bar(self, node: int) -> list[Topology]:
        """Nobody knows whether the node stays; return the topologies of which a domain is concerned as a whole."""
        turned = [] if self.may_go(node) else self._going.count(node, 1)
        self._uncertain.add(node)
        return turned

    def close(self, node: int) -> list[Topology]:
        """The node will go; return the topologies of which a domain is concerned as a whole."""
        turned = self._tainted.count(node, 1)
        if not self.may_go(node):
            self._going.count(node, 1)
        self._closed.add(node)
        return turned

    def reopen(self, node: int) -> list[Topology]:
        """Take back `close`, and return the same."""
        self._closed.remove(node)
        if not self.may_go(node):
            self._going.count(node, -1)
        return self._tainted.count(node, -1)

    def is_closed(self, node: int) -> bool:
        return node in self._closed

    def may_go(self, node: int) -> bool:
        return node in self._closed or node in self._uncertain

    def most(self, topology: Topology, *, honours_taints: bool) -> int:
        """Return how many domains there may be."""
        return topology.count - (self._tainted.filled[topology.place] if honours_taints else 0)

    def fewest(self, topology: Topology) -> int:
        """Return how many domains there will be in any case."""
        return topology.count - self._going.filled[topology.place]
