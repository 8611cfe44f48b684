"""What every placement constraint offers, and all constraints combined as one.

Pods are named by class and node index (`kind`, `node`). Each constraint hears only of the classes that it concerns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.constraints.domain_counts import TermMatches
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask
from shared.core.rules.unmodelled import is_destination


@dataclass(frozen=True)
class ConstraintInput:
    """What a constraint is made from. A `kind` is a place in `classes`, a `node` one in the snapshot's nodes."""

    snapshot: Snapshot
    classes: Sequence[PodClass]
    node_filters: NodeFilters
    foresees: bool = True
    """Whether pods of nodes that may go count as if they could be gone, for a proof; the scheduler counts all."""

    @cached_property
    def kinds(self) -> Mapping[PodClass, int]:
        return {spec: kind for kind, spec in enumerate(self.classes)}

    @cached_property
    def matches(self) -> TermMatches:
        return TermMatches(self.classes, self.snapshot.namespaces)

    @cached_property
    def staying(self) -> NodeMask:
        """The nodes whose pods will not be gone at any time: Ready, neither on their way out nor cordoned."""
        nodes = self.snapshot.nodes
        return np.fromiter(map(is_destination, nodes), np.bool_, len(nodes))

    @cached_property
    def destinations(self) -> NodeMask:
        """Those of them on which pods may be planned: in no upgrade."""
        nodes, pools = self.snapshot.nodes, self.snapshot.pools
        upgrading = {name for name, pool in pools.items() if pool.upgrading}
        return self.staying & np.fromiter((node.pool not in upgrading for node in nodes), np.bool_, len(nodes))

    @cached_property
    def terminating(self) -> Sequence[tuple[int, int, Pod]]:
        """The pods on their way out, each with its class and node."""
        index = {node.name: place for place, node in enumerate(self.snapshot.nodes)}
        found = (pod for pod in self.snapshot.pods if pod.deleting is not None and not pod.phase.finished)
        return [(self.kinds[pod.spec], index[pod.node], pod) for pod in found if pod.node in index]

    def unsteady(self, steady: NodeMask) -> list[int]:
        """Return the nodes whose pods may be gone at any time: all but the steady ones; none if nothing is foreseen."""
        return np.flatnonzero(~steady).tolist() if self.foresees else []


class ConstraintState(Protocol):
    """How the pods lie, as far as one constraint counts them."""

    # The same call with a negative number of pods takes it back.
    # It is copied for every pass of the search and changed twice for every pod placed: keep what is occupied, not a
    # place for each node and class.

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        """Count pods of a class onto a node."""

    def place(self, kind: int, node: int, pods: int = 1) -> None:
        """Count pods that were given this place, in which `misplaced` must find them right."""
        self.add(kind, node, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """Pods will be evicted from the node."""
        # Called for all that leave it before the first of them gets its new place.
        # A rule that must hold while they leave one after another counts them apart until each is evicted.
        self.add(kind, node, -pods)

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        """Of the pods that leave, these are gone; `allowed` is asked for their replacements next."""
        del kind, node, pods

    def presume(self, kind: int, node: int) -> None:
        """A pod of the class that was placed on the node may never come: nothing that others need may rest on it."""
        # It waits for the scheduler, which chooses for itself, or its own node may be back.
        del kind, node

    def stop_filling(self, node: int) -> None:
        """Nothing more is put on the node; whether it stays with what lies there or goes is not known."""
        del node

    def close(self, node: int) -> None:
        """The node is on its way out: it stands there cordoned for now, with what stays on it, and will be gone."""
        del node

    def reopen(self, node: int) -> None:
        """Take back `close`."""
        del node

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        """Return the nodes that may take one more pod of the class as the pods lie now; None = all."""
        # Asked for every pod placed: a few passes of NumPy, never a loop. What may never be is for `admits`.

    def allows(self, kind: int, node: int) -> bool:
        """Whether a node is one of those that `allowed` returns. A rule that knows it much sooner answers by itself."""
        mask = self.allowed_nodes(kind)
        return mask is None or bool(mask[node])

    def find_misplaced(self) -> int | None:
        """Return a class of which a placed pod could not come back to its place if it left it now, or None."""
        # Asked when all that leaves a node has its place; pods on closed nodes will be placed again.
        return None

    def preferred_nodes(self, kind: int, nodes: NodeMask) -> NodeMask:
        """Return those of the nodes by whose choice other pods are least likely to become misplaced."""
        del kind
        return nodes

    def accept_misplaced(self) -> None:
        """What is misplaced now is not named again: it was not the packing's to choose."""
        return

    def unfollow(self) -> None:
        """Nothing asks for `misplaced` from now on: nothing has to be kept for it."""
        return

    def copy(self) -> Self:
        """Return an independent twin."""


class Constraint(Protocol):
    """One rule of the scheduler, with all that a snapshot fixes for good. Nothing here changes afterwards."""

    def concerns(self, kind: int) -> bool:
        """Whether the rule binds pods of the class, or counts them for others. It never hears of the rest."""

    def admits(self, kind: int) -> NodeMask | None:
        """Return the nodes that the rule leaves the class whatever lies there; None = all."""
        del kind
        return None

    def state(self) -> ConstraintState:
        """Return the counts of a cluster in which no pod lies anywhere yet."""


NewConstraint = Callable[[ConstraintInput], Constraint]  # How a constraint is made; its class is one.


class Constraints:
    def __init__(self, makers: Sequence[NewConstraint], given: ConstraintInput) -> None:
        self._members = tuple(make(given) for make in makers)
        kinds = range(len(given.classes))
        self.concerning = tuple(
            tuple(place for place, member in enumerate(self._members) if member.concerns(kind)) for kind in kinds
        )
        """By class, the places of those that concern it."""

    def admits(self, kind: int) -> NodeMask | None:
        return allowed_by_all([self._members[place].admits(kind) for place in self.concerning[kind]])

    def admitted_by(self, place: int, kind: int) -> NodeMask | None:
        """Return what one of them leaves the class whatever lies there, by its place in the tuple; None = all."""
        return self._members[place].admits(kind)

    def states(self, kinds: Codes, nodes: Codes) -> "ConstraintStates":
        """Return the counts with one pod of each of these classes on its node."""
        found = ConstraintStates(self.concerning, [member.state() for member in self._members])
        concerned = np.fromiter(map(bool, self.concerning), np.bool_, len(self.concerning))[kinds]
        for kind, node in zip(kinds[concerned].tolist(), nodes[concerned].tolist(), strict=True):
            found.add(kind, node)
        return found


class ConstraintStates(ConstraintState):
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

    def stop_filling(self, node: int) -> None:
        for state in self._states:
            state.stop_filling(node)

    def close(self, node: int) -> None:
        for state in self._states:
            state.close(node)

    def reopen(self, node: int) -> None:
        for state in self._states:
            state.reopen(node)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        return allowed_by_all([self._states[place].allowed_nodes(kind) for place in self._concerning[kind]])

    def allows(self, kind: int, node: int) -> bool:
        for place in self._concerning[kind]:  # noqa: SIM110 - asked of every pod placed, for which a generator is slow
            if not self._states[place].allows(kind, node):
                return False
        return True

    def answers(self, kind: int) -> Iterator[tuple[int, NodeMask | None]]:
        for place in self._concerning[kind]:
            yield place, self._states[place].allowed_nodes(kind)

    def find_misplaced(self) -> int | None:
        return next((kind for state in self._states if (kind := state.find_misplaced()) is not None), None)

    def preferred_nodes(self, kind: int, nodes: NodeMask) -> NodeMask:
        for place in self._concerning[kind]:
            nodes = self._states[place].preferred_nodes(kind, nodes)
        return nodes

    def accept_misplaced(self) -> None:
        for state in self._states:
            state.accept_misplaced()

    def unfollow(self) -> None:
        for state in self._states:
            state.unfollow()

    def copy(self) -> "ConstraintStates":
        return ConstraintStates(self._concerning, [state.copy() for state in self._states])


def allowed_by_all(masks: Iterable[NodeMask | None]) -> NodeMask | None:
    combined: NodeMask | None = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
