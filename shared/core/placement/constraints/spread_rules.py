"""What the hard spread constraints of a cluster mean on its nodes: domains, who is counted, who asks.

Equal constraints of different classes are one rule, and rules over the same nodes share their domains.
Must not know where any pod lies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shared.core.cluster.names import OUR_TAINT
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_SCHEDULE, LabelSelector, SpreadConstraint, Taint, tolerated
from shared.core.placement.constraints.domain_counts import NOWHERE
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask


class Topology:
    """The domains of one key over the nodes that a rule includes."""

    def __init__(self, place: int, codes: Codes, keyed: NodeMask, included: NodeMask) -> None:
        self.place = place
        self.keyed = keyed
        """The nodes that bear every key of the pod; on no other may it run."""
        _, codes = np.unique(np.where(included, codes, NOWHERE), return_inverse=True)
        self.domains: Codes = np.where(included, codes - int(not included.all()), NOWHERE)
        self.sizes: list[int] = np.bincount(self.domains[included]).tolist()
        """By domain, how many nodes lie in it."""
        self.domain_of = self.domains.data
        """The same as `domains`, for one node."""

    @property
    def count(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class SpreadRule:
    """Whose pods are counted over which domains."""

    place: int
    namespace: str
    selector: LabelSelector | None
    topology: Topology
    honours_taints: bool
    """Whether a node with our taint is no domain."""

    def counts(self, spec: PodClass) -> bool:
        """Whether pods of the class count. A selector without requirements counts none, as in the scheduler."""
        if self.selector is None or not self.selector.requirements:
            return False
        return spec.namespace == self.namespace and self.selector.matches(spec.labels)


class Asked(NamedTuple):
    """One spread constraint of a class."""

    rule: SpreadRule
    max_skew: int
    min_domains: int
    matches_itself: bool


class SpreadRules:
    """The rules of all classes: by class what it asks, and which rules count it."""

    def __init__(self, classes: Sequence[PodClass], node_filters: NodeFilters) -> None:
        self._filters = node_filters
        self._topologies: dict[tuple[object, ...], Topology] = {}
        self._rules: dict[tuple[object, ...], SpreadRule] = {}
        self.asked = [tuple(self._asked(spec, each) for each in spec.hard_spread) for spec in classes]
        self.rules = tuple(self._rules.values())
        self.topologies = tuple(self._topologies.values())
        self.asking = {each: kind for kind, asked in enumerate(self.asked) for each in asked}
        """By constraint, one of the classes that ask for it."""
        self.counting = _counting(classes, self.rules)

    def _asked(self, spec: PodClass, given: SpreadConstraint) -> Asked:
        selector = _merged(given, spec)
        topology = self._topology(spec, given)
        known = (spec.namespace, selector, topology.place)
        honours = given.honours_taints and not tolerated((Taint(OUR_TAINT, NO_SCHEDULE),), spec.tolerations)
        rule = self._rules.setdefault(
            (*known, honours), SpreadRule(len(self._rules), spec.namespace, selector, topology, honours)
        )
        itself = selector is not None and selector.matches(spec.labels)
        return Asked(rule, given.max_skew, given.min_domains, itself)

    def _topology(self, spec: PodClass, given: SpreadConstraint) -> Topology:
        keys = tuple(sorted({each.topology_key for each in spec.hard_spread}))
        selected = (tuple(sorted(spec.node_selector.items())), spec.node_terms) if given.honours_affinity else None
        tolerations = spec.tolerations if given.honours_taints else None
        known = (given.topology_key, keys, selected, tolerations)
        if known not in self._topologies:
            keyed = np.logical_and.reduce([self._filters.labelled(key) for key in keys])
            included = keyed.copy()
            if given.honours_affinity:
                included &= self._filters.selected(spec)
            if given.honours_taints:
                included &= self._filters.tolerating(spec.tolerations)
            codes = self._filters.label(given.topology_key).codes
            self._topologies[known] = Topology(len(self._topologies), codes, keyed, included)
        return self._topologies[known]


def _merged(given: SpreadConstraint, spec: PodClass) -> LabelSelector | None:
    """Return the selector with matchLabelKeys' labels of the pod in it; keys that it does not bear are passed over."""
    if given.selector is None:
        return None
    return given.selector.narrowed({key: spec.labels[key] for key in given.match_label_keys if key in spec.labels})


def _counting(classes: Sequence[PodClass], rules: Sequence[SpreadRule]) -> list[tuple[SpreadRule, ...]]:
    """Return by class the rules that count it; each rule looks only at classes that bear one of its labels."""
    bearing: dict[tuple[str, str, str], list[int]] = {}
    near: dict[str, list[int]] = {}
    for kind, spec in enumerate(classes) if rules else ():
        near.setdefault(spec.namespace, []).append(kind)
        for key, value in spec.labels.items():
            bearing.setdefault((spec.namespace, key, value), []).append(kind)
    found: list[list[SpreadRule]] = [[] for _ in classes]
    for rule in rules:
        for kind in _nearest(rule, bearing, near.get(rule.namespace, [])):
            if rule.counts(classes[kind]):
                found[kind].append(rule)
    return [tuple(each) for each in found]


def _nearest(rule: SpreadRule, bearing: Mapping[tuple[str, str, str], list[int]], near: list[int]) -> list[int]:
    requirements = rule.selector.requirements if rule.selector else ()
    single = [each for each in requirements if each.operator == "In" and len(each.values) == 1]
    return min((bearing.get((rule.namespace, each.key, each.values[0]), []) for each in single), key=len, default=near)
