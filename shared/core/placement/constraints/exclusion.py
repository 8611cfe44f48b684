"""Pods that exclude each other in a domain: required anti-affinity, host ports, claims that one pod at a time may use.

A term is held by some classes and rejects some: where a pod of the one kind is, none of the other may come (plugins
InterPodAffinity in both directions, NodePorts, VolumeRestrictions). Nodes without the topology key belong to no domain.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from shared.core.cluster.pod import ANY_ADDRESS, HostPort, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import READ_WRITE_ONCE_POD
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
from shared.core.rules.unmodelled import claim_of

_ALL: Final = frozenset({ANY_ADDRESS, "::"})


class _Exclusion(Constraint):
    """Which classes hold which terms, which terms reject them, and the domains of each term."""

    def __init__(
        self, domains: Sequence[TopologyDomains], holds: Sequence[Sequence[int]], rejected_by: Sequence[Sequence[int]]
    ) -> None:
        self.domains, self.holds, self.rejected_by = domains, holds, rejected_by

    def concerns(self, kind: int) -> bool:
        return bool(self.holds[kind] or self.rejected_by[kind])

    def state(self) -> "ExclusionState":
        return ExclusionState(self)


class AntiAffinity(_Exclusion):
    def __init__(self, given: ConstraintInput) -> None:
        classes = given.classes
        every = dict.fromkeys(term for spec in classes for term in spec.anti_affinity)
        terms = {term: place for place, term in enumerate(every)}
        keys = {term.topology_key for term in terms}
        known = {key: TopologyDomains.of_label(given.node_filters, key) for key in keys}
        rejecting = ((kind, place) for term, place in terms.items() for kind in given.matches.of(term))
        super().__init__(
            [known[term.topology_key] for term in terms],
            [tuple(sorted({terms[term] for term in spec.anti_affinity})) for spec in classes],
            by_class(len(classes), rejecting),
        )


class HostPorts(_Exclusion):
    """Two pods that take the same port of the same address exclude each other on a node."""

    # `0.0.0.0` means all addresses. So does `::` here: the scheduler takes it for an address of its own, and the later
    # pod could then not bind where it was sent.

    def __init__(self, given: ConstraintInput) -> None:
        every = dict.fromkeys(port for spec in given.classes for port in spec.host_ports)
        ports = {port: place for place, port in enumerate(every)}
        barring = {spec.host_ports: _barring(spec.host_ports, ports) for spec in given.classes}
        each_node = TopologyDomains(np.arange(len(given.snapshot.nodes)))
        super().__init__(
            [each_node] * len(ports),
            [tuple(dict.fromkeys(ports[port] for port in spec.host_ports)) for spec in given.classes],
            [barring[spec.host_ports] for spec in given.classes],
        )


def _barring(wanted: Iterable[HostPort], ports: dict[HostPort, int]) -> tuple[int, ...]:
    """Return the ports that may not be taken already where these are wanted."""
    return tuple(place for port, place in ports.items() if any(_clash(port, other) for other in wanted))


def _clash(one: HostPort, other: HostPort) -> bool:
    same = (one.protocol, one.number) == (other.protocol, other.number)
    return same and (one.address == other.address or not _ALL.isdisjoint({one.address, other.address}))


class OnePodClaims(_Exclusion):
    """While a pod uses a ReadWriteOncePod claim, no other gets a node."""

    def __init__(self, given: ConstraintInput) -> None:
        numbers: dict[str, int] = {}
        named = (_claims(spec, given.snapshot) for spec in given.classes)
        uses = [tuple(numbers.setdefault(claim, len(numbers)) for claim in claims) for claims in named]
        whole_cluster = TopologyDomains(np.zeros(len(given.snapshot.nodes), np.int64))
        super().__init__([whole_cluster] * len(numbers), uses, uses)


def _claims(spec: PodClass, snapshot: Snapshot) -> tuple[str, ...]:
    found = (claim_of(spec, volume, snapshot.storage) for volume in spec.volumes)
    return tuple(dict.fromkeys(row.key for row in found if row and READ_WRITE_ONCE_POD in row.access_modes))


class ExclusionState(ConstraintState):
    """How many pods in each domain hold a term, and how many it rejects."""

    # Only occupied domains are kept: thousands of terms by hostname would cost as much as the cluster.

    def __init__(self, terms: _Exclusion) -> None:
        self._of = terms
        self._holders = TwinRows[Counts](({} for _ in terms.domains), dict)
        self._rejected = TwinRows[Counts](({} for _ in terms.domains), dict)

    def copy(self) -> "ExclusionState":
        twin = object.__new__(ExclusionState)
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
        occupied = [(term, found) for terms, counts in self._barring(kind) for term in terms if (found := counts[term])]
        if not occupied:
            return None
        barred: NodeMask = np.logical_or.reduce([self._of.domains[term].nodes_in(found) for term, found in occupied])
        return ~barred

    def allows(self, kind: int, node: int) -> bool:
        return not any(
            self._of.domains[term].of[node] in counts[term] for terms, counts in self._barring(kind) for term in terms
        )

    def _barring(self, kind: int) -> tuple[tuple[Sequence[int], TwinRows[Counts]], ...]:
        """Return terms, and where is what bars the class by them: pods that it rejects, and those that reject it."""
        return (self._of.holds[kind], self._rejected), (self._of.rejected_by[kind], self._holders)
