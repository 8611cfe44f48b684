"""Where taints, node selectors and node affinity let a pod go, as one row of booleans over all nodes.

Each expression is asked once for each distinct value of its label, never once for each node, so that thousands
of nodes cost as little as a few; the hostname's values are only looked at by pods that ask for it.
Must agree with `feasibility.admits`, which says the same of one pod and one node.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.selectors import NodeTerm, Requirement, Taint, Toleration, tolerated
from shared.core.cluster.snapshot import Node, PodClass

Row = NDArray[np.bool_]
Codes = NDArray[np.int64]


class Column:
    """One label over all nodes: the distinct values (None: absent) and each node's place among them."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        places: dict[Hashable, int] = {}
        self.codes: Codes = np.fromiter(
            (places.setdefault(value, len(places)) for value in values), np.int64, count=len(values)
        )
        self.values = tuple(places)


class Masks:
    """Rows of booleans over a fixed tuple of nodes, remembered for each distinct demand."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._labels: dict[str, Column] = {}
        self._names = Column([node.name for node in nodes])
        self._taints = Column([tuple(taint for taint in node.taints if taint.repels) for node in nodes])
        self._demands: dict[Hashable, Row] = {}
        self._tolerations: dict[tuple[Toleration, ...], Row] = {}
        self._requirements: dict[Requirement, Row] = {}

    def label(self, key: str) -> Column:
        """Return a label's values over all nodes."""
        if key not in self._labels:
            self._labels[key] = Column([node.labels.get(key) for node in self._nodes])
        return self._labels[key]

    def of(self, spec: PodClass) -> Row:
        """Return for each node whether the pod's spec is admitted; the row is shared, do not write to it."""
        selector = tuple(sorted(spec.node_selector.items()))
        demand = (selector, spec.node_terms, spec.tolerations)
        if demand not in self._demands:
            row = self._tolerating(spec.tolerations).copy()
            for key, value in selector:
                row &= self._matching(Requirement(key, "In", (value,)))
            if spec.node_terms is not None:
                row &= self._any_term(spec.node_terms)
            self._demands[demand] = row
        return self._demands[demand]

    def _tolerating(self, tolerations: tuple[Toleration, ...]) -> Row:
        if tolerations not in self._tolerations:
            table = [_tolerated(taints, tolerations) for taints in self._taints.values]
            self._tolerations[tolerations] = np.array(table, np.bool_)[self._taints.codes]
        return self._tolerations[tolerations]

    def _any_term(self, terms: tuple[NodeTerm, ...]) -> Row:
        row = np.zeros(len(self._nodes), np.bool_)
        for term in terms:
            row |= self._term(term)
        return row

    def _term(self, term: NodeTerm) -> Row:
        asked = bool(term.expressions or term.fields)
        row = np.full(len(self._nodes), asked)
        for requirement in term.expressions:
            row &= self._matching(requirement)
        for requirement in term.fields:
            row &= _row(self._names, requirement)
        return row

    def _matching(self, requirement: Requirement) -> Row:
        if requirement not in self._requirements:
            self._requirements[requirement] = _row(self.label(requirement.key), requirement)
        return self._requirements[requirement]


def _tolerated(taints: Hashable, tolerations: tuple[Toleration, ...]) -> bool:
    kept = tuple(taint for taint in taints if isinstance(taint, Taint)) if isinstance(taints, tuple) else ()
    return tolerated(kept, tolerations)


def _row(column: Column, requirement: Requirement) -> Row:
    table = [requirement.matches({requirement.key: value} if isinstance(value, str) else {}) for value in column.values]
    return np.array(table, np.bool_)[column.codes]
