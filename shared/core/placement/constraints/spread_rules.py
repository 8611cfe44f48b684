"""What the hard spread constraints of a cluster mean on its nodes: domains, who is counted, who asks.

Equal constraints of different classes are one rule. A domain may go with its nodes: those that are closed, cordoned by
somebody, or not Ready. Placed pods are looked at again only where a count changed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from shared.core.cluster.names import OUR_TAINT
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_SCHEDULE, LabelSelector, SpreadConstraint, Taint, tolerates_all
from shared.core.placement.constraints.domain_counts import NOWHERE, Counts, TermMatches, add_count, by_class
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask


class Topology:
    def __init__(self, place: int, codes: Codes, keyed: NodeMask, included: NodeMask) -> None:
        self.place = place
        self.nodes_with_key = keyed  # The nodes that have every key of the pod; on no other may it run.
        _, codes = np.unique(np.where(included, codes, NOWHERE), return_inverse=True)
        self.domains: Codes = np.where(included, codes - int(not included.all()), NOWHERE)
        self.sizes: list[int] = np.bincount(self.domains[included]).tolist()  # By domain, how many nodes lie in it.
        self.domain_of = self.domains.data  # The same as `domains`, for one node.

    @property
    def domain_count(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class SpreadRule:
    """Whose pods are counted over which domains."""

    place: int
    namespace: str
    selector: LabelSelector | None
    topology: Topology
    honours_taints: bool  # Whether a node with our taint is no domain.


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One spread constraint of a class; equal ones of several classes are the same object."""

    rule: SpreadRule
    max_skew: int
    min_domains: int
    matches_itself: bool


class SpreadRules:
    """The rules of all classes: by class what it asks, and which rules count it."""

    def __init__(self, classes: Sequence[PodClass], node_filters: NodeFilters, matches: TermMatches) -> None:
        self._filters = node_filters
        self._topologies: dict[tuple[object, ...], Topology] = {}
        self._rules: dict[tuple[object, ...], SpreadRule] = {}
        self._all: dict[tuple[object, ...], Asked] = {}
        self.spreads = [tuple(self._ask_rule(spec, constraint) for constraint in spec.hard_spread) for spec in classes]
        self.rules = tuple(self._rules.values())
        self.topologies = tuple(self._topologies.values())
        self.asking = {asked: kind for kind, spread in enumerate(self.spreads) for asked in spread}
        """By constraint, one of the classes that ask for it."""
        # A selector without requirements counts none, as in the scheduler.
        real = (rule for rule in self.rules if rule.selector and rule.selector.requirements)
        rows = ((kind, rule) for rule in real for kind in matches.within(rule.namespace, rule.selector))
        self.counting: list[tuple[SpreadRule, ...]] = by_class(len(classes), rows)

    def _ask_rule(self, spec: PodClass, given: SpreadConstraint) -> Asked:
        # matchLabelKeys' labels of the pod are part of the selector; keys that it does not have are passed over.
        own = {key: spec.labels[key] for key in given.match_label_keys if key in spec.labels}
        selector = given.selector and given.selector.with_labels(own)
        topology = self._topology(spec, given)
        known = (spec.namespace, selector, topology.place)
        honours = given.honours_taints and not tolerates_all((Taint(OUR_TAINT, NO_SCHEDULE),), spec.tolerations)
        rule = self._rules.setdefault(
            (*known, honours), SpreadRule(len(self._rules), spec.namespace, selector, topology, honours)
        )
        itself = selector is not None and selector.matches(spec.labels)
        asked = rule.place, given.max_skew, given.min_domains, itself
        return self._all.setdefault(asked, Asked(rule, *asked[1:]))

    def _topology(self, spec: PodClass, given: SpreadConstraint) -> Topology:
        keys = tuple(sorted({constraint.topology_key for constraint in spec.hard_spread}))
        selected = (tuple(sorted(spec.node_selector.items())), spec.node_terms) if given.honours_affinity else None
        tolerations = spec.tolerations if given.honours_taints else None
        known = (given.topology_key, keys, selected, tolerations)
        if known not in self._topologies:
            keyed = np.logical_and.reduce([self._filters.nodes_with_label(key) for key in keys])
            included = keyed.copy()
            if given.honours_affinity:
                included &= self._filters.selected_nodes(spec)
            if given.honours_taints:
                included &= self._filters.tolerating(spec.tolerations)
            codes = self._filters.label(given.topology_key).codes
            self._topologies[known] = Topology(len(self._topologies), codes, keyed, included)
        return self._topologies[known]


class _Nodes:
    def __init__(self, topologies: Sequence[Topology]) -> None:
        self._topologies = topologies
        self._by_domain: list[Counts] = [{} for _ in topologies]
        self.filled = [0] * len(topologies)

    def copy(self) -> "_Nodes":
        twin = _Nodes(self._topologies)
        twin._by_domain, twin.filled = [dict(counts) for counts in self._by_domain], list(self.filled)
        return twin

    def count_node(self, node: int, by: int) -> list[Topology]:
        """Count the node in or out; return the topologies that lost or won a domain."""
        turned: list[Topology] = []
        for topology in self._topologies:
            domain = topology.domain_of[node]
            if domain != NOWHERE:
                found = add_count(self._by_domain[topology.place], domain, by)
                more = (found == topology.sizes[domain]) - (found - by == topology.sizes[domain])
                self.filled[topology.place] += more
                turned += [topology] * abs(more)
        return turned


class DepartingDomains:
    def __init__(self, topologies: Sequence[Topology], uncertain: Collection[int], announced: Collection[int]) -> None:
        """`announced` nodes have the autoscaler's soft taint alone: they are domains until they are gone."""
        self._topologies, self._announced = topologies, announced
        self._uncertain = set(uncertain)
        self._closed: set[int] = set()
        self._tainted = _Nodes(topologies)
        self._going = _Nodes(topologies)
        for node in self._uncertain:
            self._going.count_node(node, 1)

    def copy(self) -> "DepartingDomains":
        twin = DepartingDomains(self._topologies, (), self._announced)
        twin._uncertain, twin._closed = set(self._uncertain), set(self._closed)
        twin._tainted, twin._going = self._tainted.copy(), self._going.copy()
        return twin

    def stop_filling(self, node: int) -> list[Topology]:
        """Nobody knows whether the node stays; return the topologies of which a domain is concerned as a whole."""
        turned = [] if self.may_go(node) else self._going.count_node(node, 1)
        self._uncertain.add(node)
        return turned

    def close(self, node: int) -> list[Topology]:
        """The node will go; return the topologies of which a domain is concerned as a whole."""
        if not self.may_go(node):
            self._going.count_node(node, 1)
        self._closed.add(node)
        return self._tainted.count_node(node, 1) if self.is_tainted(node) else []

    def reopen(self, node: int) -> list[Topology]:
        turned = self._tainted.count_node(node, -1) if self.is_tainted(node) else []
        self._closed.remove(node)
        if not self.may_go(node):
            self._going.count_node(node, -1)
        return turned

    def is_tainted(self, node: int) -> bool:
        """Whether the node has our hard taint, or will."""
        return node in self._closed and not self.stays_domain(node)

    def stays_domain(self, node: int) -> bool:
        """Whether the node is a domain until it is gone, also for those that honour taints."""
        return node in self._announced

    def may_go(self, node: int) -> bool:
        return node in self._closed or node in self._uncertain

    def most(self, topology: Topology, *, honours_taints: bool) -> int:
        return topology.domain_count - (self._tainted.filled[topology.place] if honours_taints else 0)

    def fewest(self, topology: Topology) -> int:
        """Return how many domains there will be in any case."""
        return topology.domain_count - self._going.filled[topology.place]
