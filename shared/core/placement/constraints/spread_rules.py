"""What the hard spread constraints of a cluster mean on its nodes: domains, who is counted, who asks.

Equal constraints of different classes are one rule. A domain may go with its nodes: those that are closed, cordoned by
somebody, or not Ready. Placed pods are looked at again only where a count changed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from typing import Protocol

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
        self.sizes: list[int] = np.bincount(self.domains[included]).tolist()
        """By domain, how many nodes lie in it."""
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


class Skews(Protocol):
    """The counts as they are now."""

    def least(self, spread: Asked) -> int:
        """Return how many pods the emptiest domain holds."""

    def unsure(self, spread: Asked) -> KeysView[int]:
        """Return the domains with pods that may go."""

    def skew(self, spread: Asked, domain: int) -> int:
        """Return the skew of a pod that left its place in the domain and came back to it."""


class SpreadPlaces:
    """Placed pods by constraint and domain; those on closed nodes are left out, for they will be placed again."""

    def __init__(self) -> None:
        self._by_rule: dict[int, dict[Asked, Counts]] = {}
        self._on: dict[int, dict[Asked, Counts]] = {}
        self._closed: set[int] = set()
        self._changed: dict[int, set[int]] = defaultdict(set)
        """By rule, the domains whose pods have changed since the last question."""
        self._least: dict[int, dict[Asked, int]] = defaultdict(dict)
        """By topology, what the emptiest domain held at the last question, if anything."""
        self._accepted: set[tuple[Asked, int]] = set()

    def copy(self) -> "SpreadPlaces":
        twin = SpreadPlaces()
        twin._by_rule = {rule: _copy_places(places) for rule, places in self._by_rule.items()}
        twin._on = {node: _copy_places(places) for node, places in self._on.items()}
        twin._closed, twin._accepted = set(self._closed), set(self._accepted)
        twin._changed.update((rule, set(domains)) for rule, domains in self._changed.items())
        twin._least.update((topology, dict(least)) for topology, least in self._least.items())
        return twin

    def add(self, spread: Asked, node: int, domain: int, pods: int) -> None:
        add_count(self._on.setdefault(node, {}).setdefault(spread, {}), domain, pods)
        if node not in self._closed:
            self._count(spread, domain, pods)

    def close(self, node: int) -> None:
        self._closed.add(node)
        self._count_all(node, -1)

    def reopen(self, node: int) -> None:
        self._closed.remove(node)
        self._count_all(node, 1)

    def note_change(self, rule: SpreadRule, domain: int) -> None:
        """The rule counts more or fewer pods in the domain."""
        if rule.place in self._by_rule:
            self._changed[rule.place].add(domain)

    def domains_changed(self, topologies: Iterable[Topology]) -> None:
        """There are more or fewer domains: what rested on the emptiest of them is to be looked at again."""
        for topology in topologies:
            for spread in self._least[topology.place]:
                self._changed[spread.rule.place].update()

    def lost(self, skews: Skews) -> Asked | None:
        fresh = (row for row in self._lost_ones(skews) if row not in self._accepted)
        found, _ = next(fresh, (None, None))
        if found is None:
            self._changed.clear()
        return found

    def accept_misplaced(self, skews: Skews) -> None:
        self._accepted.update(self._lost_ones(skews))
        self._changed.clear()

    def _lost_ones(self, skews: Skews) -> Iterator[tuple[Asked, int]]:
        for rule, changed in self._changed.items():
            for spread, places in self._by_rule.get(rule, {}).items():
                known, least = self._least[spread.rule.topology.place], skews.least(spread)
                fresh = places.keys() & (changed | skews.unsure(spread))
                for domain in places if least < known.get(spread, 0) else fresh:
                    if skews.skew(spread, domain) > spread.max_skew:
                        yield spread, domain
                # only now: of a question that ends at its first find the rest has not been looked at
                known.pop(spread, None)
                known.update({spread: least} if least else {})

    def _count(self, spread: Asked, domain: int, pods: int) -> None:
        rule = spread.rule.place
        add_count(self._by_rule.setdefault(rule, {}).setdefault(spread, {}), domain, pods)
        self._changed[rule].add(domain)

    def _count_all(self, node: int, sign: int) -> None:
        for spread, places in self._on.get(node, {}).items():
            for domain, pods in places.items():
                self._count(spread, domain, sign * pods)


class NoPlaces(SpreadPlaces):
    """What a packing keeps that nobody asks for lost places: nothing."""

    def copy(self) -> "NoPlaces":
        return self

    def add(self, spread: Asked, node: int, domain: int, pods: int) -> None:
        """Keep nothing."""

    def close(self, node: int) -> None:
        """Keep nothing."""

    def reopen(self, node: int) -> None:
        """Keep nothing."""

    def note_change(self, rule: SpreadRule, domain: int) -> None:
        """Keep nothing."""

    def domains_changed(self, topologies: Iterable[Topology]) -> None:
        """Keep nothing."""


def _copy_places(places: dict[Asked, Counts]) -> dict[Asked, Counts]:
    return {spread: dict(counts) for spread, counts in places.items()}


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
    def __init__(self, topologies: Sequence[Topology], uncertain: Collection[int]) -> None:
        self._topologies = topologies
        self._uncertain = set(uncertain)
        self._closed: set[int] = set()
        self._tainted = _Nodes(topologies)
        self._going = _Nodes(topologies)
        for node in self._uncertain:
            self._going.count_node(node, 1)

    def copy(self) -> "DepartingDomains":
        twin = DepartingDomains(self._topologies, ())
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
        turned = self._tainted.count_node(node, 1)
        if not self.may_go(node):
            self._going.count_node(node, 1)
        self._closed.add(node)
        return turned

    def reopen(self, node: int) -> list[Topology]:
        self._closed.remove(node)
        if not self.may_go(node):
            self._going.count_node(node, -1)
        return self._tainted.count_node(node, -1)

    def is_closed(self, node: int) -> bool:
        return node in self._closed

    def may_go(self, node: int) -> bool:
        return node in self._closed or node in self._uncertain

    def most(self, topology: Topology, *, honours_taints: bool) -> int:
        return topology.domain_count - (self._tainted.filled[topology.place] if honours_taints else 0)

    def fewest(self, topology: Topology) -> int:
        """Return how many domains there will be in any case."""
        return topology.domain_count - self._going.filled[topology.place]
