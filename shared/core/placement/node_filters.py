"""Where taints, node selectors, node affinity and kubelets let a pod go, as one mask over all nodes.

Each expression is asked once for each distinct value of its label, never once for each node, so that thousands
of nodes cost as little as a few; the hostname's values are only looked at by pods that ask for it.
Must agree with `rules.unmodelled.admits`, which decides the same for one pod and one node.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.node import Kubelet, Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NodeTerm, Requirement, Taint, Toleration, tolerated

NodeMask = NDArray[np.bool_]
Codes = NDArray[np.int64]


class LabelColumn:
    """One label over all nodes: the distinct values (None: absent) and each node's place among them."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        places: dict[Hashable, int] = {}
        self.codes: Codes = np.fromiter(
            (places.setdefault(value, len(places)) for value in values), np.int64, count=len(values)
        )
        self.values = tuple(places)
        self._places = places

    def among(self, values: Sequence[str]) -> NodeMask:
        """Return the nodes whose value is one of these; the others are not looked at, of which there may be many."""
        table = np.zeros(len(self.values), np.bool_)
        table[[self._places[value] for value in values if value in self._places]] = True
        return table[self.codes]


class NodeFilters:
    """Masks over a fixed tuple of nodes, remembered for each distinct demand."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._labels: dict[str, LabelColumn] = {}
        self._names = LabelColumn([node.name for node in nodes])
        self._kubelets = LabelColumn([node.kubelet for node in nodes])
        self._taints = LabelColumn([tuple(taint for taint in node.taints if taint.repels) for node in nodes])
        self._demands: dict[Hashable, NodeMask] = {}
        self._tolerations: dict[tuple[Toleration, ...], NodeMask] = {}
        self._requirements: dict[Requirement, NodeMask] = {}

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return len(self._nodes)

    def label(self, key: str) -> LabelColumn:
        """Return a label's values over all nodes."""
        if key not in self._labels:
            self._labels[key] = LabelColumn([node.labels.get(key) for node in self._nodes])
        return self._labels[key]

    def of(self, spec: PodClass) -> NodeMask:
        """Return for each node whether the pod's spec is admitted; the mask is shared, do not write to it."""
        selector = tuple(sorted(spec.node_selector.items()))
        demand = (selector, spec.node_terms, spec.tolerations, spec.needs_kubelet)
        if demand not in self._demands:
            self._demands[demand] = self.tolerating(spec.tolerations) & self.selected(spec) & self.able(spec)
        return self._demands[demand]

    def meeting(self, terms: tuple[NodeTerm, ...]) -> NodeMask:
        """Return the nodes that any of the terms means."""
        return self._any_term(terms)

    def labelled(self, key: str) -> NodeMask:
        """Return the nodes that have the label."""
        return self._matching(Requirement(key, "Exists"))

    def selected(self, spec: PodClass) -> NodeMask:
        """Return the nodes that the pod's selector and required affinity mean."""
        mask = np.ones(len(self._nodes), np.bool_)
        for key, value in spec.node_selector.items():
            mask &= self._matching(Requirement(key, "In", (value,)))
        if spec.node_terms is not None:
            mask &= self._any_term(spec.node_terms)
        return mask

    def able(self, spec: PodClass) -> NodeMask:
        """Return the nodes whose kubelet can run the pod."""
        needed = spec.needs_kubelet
        table = [needed is None or _can_all_of(kubelet, needed) for kubelet in self._kubelets.values]
        return np.array(table, np.bool_)[self._kubelets.codes]

    def tolerating(self, tolerations: tuple[Toleration, ...]) -> NodeMask:
        """Return the nodes whose taints are tolerated; the mask is shared, do not write to it."""
        if tolerations not in self._tolerations:
            table = [_tolerated(taints, tolerations) for taints in self._taints.values]
            self._tolerations[tolerations] = np.array(table, np.bool_)[self._taints.codes]
        return self._tolerations[tolerations]

    def _any_term(self, terms: tuple[NodeTerm, ...]) -> NodeMask:
        mask = np.zeros(len(self._nodes), np.bool_)
        for term in terms:
            mask |= self._term(term)
        return mask

    def _term(self, term: NodeTerm) -> NodeMask:
        asked = bool(term.expressions or term.fields)
        mask = np.full(len(self._nodes), asked)
        for requirement in term.expressions:
            mask &= self._matching(requirement)
        for requirement in term.fields:
            mask &= _mask(self._names, requirement)
        return mask

    def _matching(self, requirement: Requirement) -> NodeMask:
        if requirement not in self._requirements:
            self._requirements[requirement] = _mask(self.label(requirement.key), requirement)
        return self._requirements[requirement]


def _can_all_of(kubelet: Hashable, needed: Kubelet) -> bool:
    return isinstance(kubelet, Kubelet) and kubelet.can_all_of(needed)


def _tolerated(taints: Hashable, tolerations: tuple[Toleration, ...]) -> bool:
    kept = tuple(taint for taint in taints if isinstance(taint, Taint)) if isinstance(taints, tuple) else ()
    return tolerated(kept, tolerations)


def _mask(column: LabelColumn, requirement: Requirement) -> NodeMask:
    if requirement.operator == "In":
        return column.among(requirement.values)
    table = [requirement.matches({requirement.key: value} if isinstance(value, str) else {}) for value in column.values]
    return np.array(table, np.bool_)[column.codes]
