"""All constraints as one: each is told and asked only of the pod classes that it concerns, in the tuple's order.

Must not know any constraint by name.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from shared.core.placement.constraints.constraint import ConstraintInput, ConstraintState, NewConstraint
from shared.core.placement.node_filters import Codes, NodeMask


class Constraints:
    """The fixed part of all constraints of a picture."""

    def __init__(self, makers: Sequence[NewConstraint], given: ConstraintInput) -> None:
        self._members = tuple(make(given) for make in makers)
        kinds = range(len(given.classes))
        self.concerning = tuple(
            tuple(place for place, each in enumerate(self._members) if each.concerns(kind)) for kind in kinds
        )
        """By class, the places of those that concern it."""

    def admits(self, kind: int) -> NodeMask | None:
        """Return the nodes that all constraints leave the class whatever lies there; None = all."""
        return _all([self._members[place].admits(kind) for place in self.concerning[kind]])

    def admitted_by(self, place: int, kind: int) -> NodeMask | None:
        """Return what one of them leaves the class whatever lies there, by its place in the tuple; None = all."""
        return self._members[place].admits(kind)

    def states(self, kinds: Codes, nodes: Codes) -> "ConstraintStates":
        """Return the counts with one pod of each of these classes on its node."""
        found = ConstraintStates(self.concerning, [each.state() for each in self._members])
        concerned = np.fromiter(map(bool, self.concerning), np.bool_, len(self.concerning))[kinds]
        for kind, node in zip(kinds[concerned].tolist(), nodes[concerned].tolist(), strict=True):
            found.add(kind, node)
        return found


class ConstraintStates(ConstraintState):
    """The changing part of all constraints, for one packing."""

    def __init__(self, concerning: Sequence[Sequence[int]], states: Sequence[ConstraintState]) -> None:
        self._concerning = concerning
        self._states = tuple(states)

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for place in self._concerning[kind]:
            self._states[place].add(kind, node, pods)

    def place(self, kind: int, node: int, pods: int = 1) -> None:
        for place in self._concerning[kind]:
            self._states[place].place(kind, node, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        for place in self._concerning[kind]:
            self._states[place].leave(kind, node, pods)

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        for place in self._concerning[kind]:
            self._states[place].evict(kind, node, pods)

    def presume(self, kind: int, node: int) -> None:
        for place in self._concerning[kind]:
            self._states[place].presume(kind, node)

    def bar(self, node: int) -> None:
        for state in self._states:
            state.bar(node)

    def close(self, node: int) -> None:
        for state in self._states:
            state.close(node)

    def reopen(self, node: int) -> None:
        for state in self._states:
            state.reopen(node)

    def allowed(self, kind: int) -> NodeMask | None:
        return _all([self._states[place].allowed(kind) for place in self._concerning[kind]])

    def answers(self, kind: int) -> Iterator[tuple[int, NodeMask | None]]:
        """Yield what each that concerns the class says by itself, with its place in the tuple."""
        for place in self._concerning[kind]:
            yield place, self._states[place].allowed(kind)

    def misplaced(self) -> int | None:
        return next((kind for state in self._states if (kind := state.misplaced()) is not None), None)

    def preferred(self, kind: int, nodes: NodeMask) -> NodeMask:
        for place in self._concerning[kind]:
            nodes = self._states[place].preferred(kind, nodes)
        return nodes

    def accept(self) -> None:
        for state in self._states:
            state.accept()

    def copy(self) -> "ConstraintStates":
        return ConstraintStates(self._concerning, [state.copy() for state in self._states])


def _all(masks: Sequence[NodeMask | None]) -> NodeMask | None:
    """Return where all masks hold; None = everywhere."""
    found: NodeMask | None = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found & mask
    return found
