"""Where taints, node selectors, node affinity and kubelets let a pod go, as one mask over all nodes.

Each expression is evaluated once for each distinct value of its label, so that thousands of nodes cost as little as a
few. Must agree with `rules.unmodelled.admits`, which decides the same for one pod and one node.
"""

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration, tolerates_all

NodeMask = NDArray[np.bool_]
Codes = NDArray[np.int64]


Value = TypeVar("Value", bound=Hashable)


class LabelColumn(Generic[Value]):
    """One label over all nodes: the distinct values (None: absent) and each node's place among them."""

    def __init__(self, values: Sequence[Value]) -> None:
        places: dict[Value, int] = {}
        self.codes: Codes = np.fromiter(
            (places.setdefault(value, len(places)) for value in values), np.int64, count=len(values)
        )
        self.values = tuple(places)
        self._places = places

    def among(self, values: Sequence[Value]) -> NodeMask:
        table = np.zeros(len(self.values), np.bool_)
        table[[self._places[value] for value in values if value in self._places]] = True
        return table[self.codes]


class NodeFilters:
    """Masks over a fixed tuple of nodes, remembered for each distinct demand."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._labels: dict[str, LabelColumn[str | None]] = {}
        self._names = LabelColumn[str | None]([node.name for node in nodes])
        self._kubelets = LabelColumn([(node.kubelet, node.os) for node in nodes])
        self._taints = LabelColumn([tuple(taint for taint in node.taints if taint.repels) for node in nodes])
        self._demands: dict[Hashable, NodeMask] = {}
        self._tolerations: dict[tuple[Toleration, ...], NodeMask] = {}
        self._requirements: dict[Requirement, NodeMask] = {}

    @property
    def node_count(self) -> int:
        return len(self._nodes)

    def label(self, key: str) -> LabelColumn[str | None]:
        if key not in self._labels:
            self._labels[key] = LabelColumn([node.labels.get(key) for node in self._nodes])
        return self._labels[key]

    def of(self, spec: PodClass) -> NodeMask:
        """Return for each node whether the pod's spec is admitted; the mask is shared, do not write to it."""
        selector = tuple(sorted(spec.node_selector.items()))
        demand = (selector, spec.node_terms, spec.tolerations, spec.needs_kubelet, spec.os)
        if demand not in self._demands:
            self._demands[demand] = self.tolerating(spec.tolerations) & self.selected_nodes(spec) & self.able(spec)
        return self._demands[demand]

    def meeting(self, terms: tuple[NodeTerm, ...]) -> NodeMask:
        mask = np.zeros(len(self._nodes), np.bool_)
        for term in terms:
            selected = np.full(len(self._nodes), bool(term.expressions or term.fields))
            for requirement in term.expressions:
                selected &= self._matching(requirement)
            for requirement in term.fields:
                selected &= _mask(self._names, requirement)
            mask |= selected
        return mask

    def nodes_with_label(self, key: str) -> NodeMask:
        return self._matching(Requirement(key, "Exists"))

    def selected_nodes(self, spec: PodClass) -> NodeMask:
        mask = np.ones(len(self._nodes), np.bool_)
        for key, value in spec.node_selector.items():
            mask &= self._matching(Requirement(key, "In", (value,)))
        if spec.node_terms is not None:
            mask &= self.meeting(spec.node_terms)
        return mask

    def able(self, spec: PodClass) -> NodeMask:
        table = [spec.can_run_under(*kubelet) for kubelet in self._kubelets.values]
        return np.array(table, np.bool_)[self._kubelets.codes]

    def tolerating(self, tolerations: tuple[Toleration, ...]) -> NodeMask:
        """Return the nodes whose taints are tolerated; the mask is shared, do not write to it."""
        if tolerations not in self._tolerations:
            table = [tolerates_all(taints, tolerations) for taints in self._taints.values]
            self._tolerations[tolerations] = np.array(table, np.bool_)[self._taints.codes]
        return self._tolerations[tolerations]

    def _matching(self, requirement: Requirement) -> NodeMask:
        if requirement not in self._requirements:
            self._requirements[requirement] = _mask(self.label(requirement.key), requirement)
        return self._requirements[requirement]


def _mask(column: LabelColumn[str | None], requirement: Requirement) -> NodeMask:
    if requirement.operator == "In":
        return column.among(requirement.values)
    table = [requirement.matches({} if value is None else {requirement.key: value}) for value in column.values]
    return np.array(table, np.bool_)[column.codes]
