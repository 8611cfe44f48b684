"""Required pod anti-affinity, in both directions, counted by topology domain.

A pod may not enter a domain that holds a pod its own terms reject, nor one that holds a pod whose terms reject
it (kube-scheduler, plugin InterPodAffinity). Nodes without the topology key belong to no domain.
Must not know resources, or why a pod moves.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_LABELS, Labels, PodTerm
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask

NOWHERE: Final = -1
"""The domain of nodes without the topology key."""


class AntiAffinity(Constraint):
    """All anti-affinity terms of the cluster: who holds them, whom they reject, and each node's domain."""

    def __init__(self, given: ConstraintInput) -> None:
        classes = given.classes
        terms = {term: place for place, term in enumerate(_terms(classes))}
        self.domains: list[Codes] = [_domains(given.node_filters, term.topology_key) for term in terms]
        self._sizes = [int(codes.max(initial=NOWHERE)) + 1 for codes in self.domains]
        self.holds: list[tuple[int, ...]] = [
            tuple(sorted({terms[term] for term in spec.anti_affinity})) for spec in classes
        ]
        self.rejected_by = _rejections(classes, tuple(terms), given.snapshot.namespaces)

    def nodes_in(self, term: int, domains: Collection[int]) -> NodeMask:
        """Return the nodes that lie in one of the domains."""
        # one more place than domains: NOWHERE, which is the last index, falls on it
        chosen = np.zeros(self._sizes[term] + 1, np.bool_)
        chosen[list(domains)] = True
        return chosen[self.domains[term]]

    def concerns(self, kind: int) -> bool:
        """Whether any term is held by, or rejects, pods of this class."""
        return bool(self.holds[kind] or self.rejected_by[kind])

    def state(self) -> "AntiAffinityState":
        return AntiAffinityState(self)


class AntiAffinityState(ConstraintState):
    """How many pods in each domain hold a term, and how many it rejects.

    Only occupied domains are kept: thousands of terms by hostname would otherwise cost as much as the whole cluster.
    """

    def __init__(self, terms: AntiAffinity) -> None:
        self._of = terms
        self._holders: list[dict[int, int]] = [{} for _ in terms.domains]
        self._rejected: list[dict[int, int]] = [{} for _ in terms.domains]

    def copy(self) -> "AntiAffinityState":
        twin = AntiAffinityState(self._of)
        twin._holders = [dict(counts) for counts in self._holders]
        twin._rejected = [dict(counts) for counts in self._rejected]
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for terms, counts in ((self._of.holds[kind], self._holders), (self._of.rejected_by[kind], self._rejected)):
            for term in terms:
                domain = int(self._of.domains[term][node])
                if domain != NOWHERE:
                    _count(counts[term], domain, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """Until a pod is evicted it rejects; one that broke a rule before may do so for others of its node."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, -pods)

    def allowed(self, kind: int) -> NodeMask | None:
        barred: NodeMask | None = None
        for terms, counts in ((self._of.holds[kind], self._rejected), (self._of.rejected_by[kind], self._holders)):
            for term in terms:
                here = self._of.nodes_in(term, counts[term])
                barred = here if barred is None else barred | here
        return None if barred is None else ~barred


def _count(counts: dict[int, int], domain: int, pods: int) -> None:
    counts[domain] = counts.get(domain, 0) + pods
    if not counts[domain]:
        del counts[domain]


def _terms(classes: Sequence[PodClass]) -> dict[PodTerm, None]:
    return {term: None for spec in classes for term in spec.anti_affinity}


def _domains(node_filters: NodeFilters, key: str) -> Codes:
    column = node_filters.label(key)
    absent = column.values.index(None) if None in column.values else NOWHERE
    return np.where(column.codes == absent, NOWHERE, column.codes)


def _rejections(
    classes: Sequence[PodClass], terms: Sequence[PodTerm], namespaces: Mapping[str, Labels]
) -> list[tuple[int, ...]]:
    """Return for each class the terms that reject it; only classes of the namespaces a term means are asked."""
    found: list[list[int]] = [[] for _ in classes]
    if not terms:
        return [()] * len(classes)
    near: dict[str, list[int]] = {}
    for kind, spec in enumerate(classes):
        near.setdefault(spec.namespace, []).append(kind)
    for place, term in enumerate(terms):
        meant = near if term.namespace_selector is not None else set(term.namespaces) & near.keys()
        for kind in (kind for namespace in sorted(meant) for kind in near[namespace]):
            spec = classes[kind]
            if term.matches(spec.namespace, namespaces.get(spec.namespace, NO_LABELS), spec.labels):
                found[kind].append(place)
    return [tuple(each) for each in found]
