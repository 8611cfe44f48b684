"""Required pod anti-affinity, in both directions, counted by topology domain (kube-scheduler, plugin InterPodAffinity).

Nodes without the topology key belong to no domain.
"""

from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.domain_counts import (
    NOWHERE,
    Counts,
    TopologyDomains,
    TwinRows,
    add_count,
    by_class,
)
from shared.core.placement.node_filters import NodeMask


class AntiAffinity(Constraint):
    """All anti-affinity terms of the cluster: which classes hold them, which they reject, and each node's domain."""

    def __init__(self, given: ConstraintInput) -> None:
        classes = given.classes
        every = dict.fromkeys(term for spec in classes for term in spec.anti_affinity)
        terms = {term: place for place, term in enumerate(every)}
        keys = {term.topology_key for term in terms}
        known = {key: TopologyDomains(given.node_filters, key) for key in keys}
        self.domains = [known[term.topology_key] for term in terms]
        self.holds: list[tuple[int, ...]] = [
            tuple(sorted({terms[term] for term in spec.anti_affinity})) for spec in classes
        ]
        rejecting = ((kind, place) for term, place in terms.items() for kind in given.matches.of(term))
        self.rejected_by: list[tuple[int, ...]] = by_class(len(classes), rejecting)

    def concerns(self, kind: int) -> bool:
        return bool(self.holds[kind] or self.rejected_by[kind])

    def state(self) -> "AntiAffinityState":
        return AntiAffinityState(self)


class AntiAffinityState(ConstraintState):
    """How many pods in each domain hold a term, and how many it rejects."""

    # Only occupied domains are kept: thousands of terms by hostname would cost as much as the cluster.

    def __init__(self, terms: AntiAffinity) -> None:
        self._of = terms
        self._holders = TwinRows[Counts](({} for _ in terms.domains), dict)
        self._rejected = TwinRows[Counts](({} for _ in terms.domains), dict)

    def copy(self) -> "AntiAffinityState":
        twin = object.__new__(AntiAffinityState)
        twin._of, twin._holders, twin._rejected = self._of, self._holders.copy(), self._rejected.copy()
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for terms, counts in ((self._of.holds[kind], self._holders), (self._of.rejected_by[kind], self._rejected)):
            for term in terms:
                domain = self._of.domains[term].of[node]
                if domain != NOWHERE:
                    add_count(counts.mine(term), domain, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """Until a pod is evicted it rejects; one that broke a rule before may do so for others of its node."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, -pods)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        barred: NodeMask | None = None
        for terms, counts in ((self._of.holds[kind], self._rejected), (self._of.rejected_by[kind], self._holders)):
            for term in terms:
                here = self._of.domains[term].nodes_in(counts[term])
                barred = here if barred is None else barred | here
        return None if barred is None else ~barred

    def allows(self, kind: int, node: int) -> bool:
        rejecting = ((term, self._rejected) for term in self._of.holds[kind])
        rejected = ((term, self._holders) for term in self._of.rejected_by[kind])
        return not any(self._of.domains[term].of[node] in counts[term] for term, counts in (*rejecting, *rejected))
