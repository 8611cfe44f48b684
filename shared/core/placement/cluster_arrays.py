"""The snapshot turned into integer arrays, once for a pass; nothing here changes afterwards.

Axes are the resource names that any pod asks for, and `pods`. Room is kept for DaemonSet pods that are still to come:
a node that admits them and has none will get one, of the size of the largest elsewhere.

A quantity of the API may be as large as 2^63-1, and 64 bits hold all that the arrays do with it: a node offers at most
`MOST`; a pod that asks for more asks for `MOST + 1`: it fits nowhere, and a node that has booked it has nothing free.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.pod import Pod, PodClass, is_daemon, is_replaced
from shared.core.cluster.resources import CPU, MEMORY, PODS, Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.constraint import ConstraintInput, Constraints, NewConstraint
from shared.core.placement.node_filters import Codes, LabelColumn, NodeFilters, NodeMask
from shared.core.reasons import Finding
from shared.core.rules.pods import movable
from shared.core.rules.unmodelled import VolumeFacts, find_unmodelled

Amounts = NDArray[np.int64]
SCALE: Final = 10_000  # Shares of a node are compared in steps of 1/10,000.
MOST: Final = 2**48
"""256 TiB, or as many millicores: more than any node has. Twice that (overbooked, and headroom held back), times
`SCALE`, is below 2^63."""
_MOST_SHARE: Final = 2**40  # Of a node that offers next to nothing: two such shares and a tie-break still add up.
_WRAPS: Final = 2.0**60  # A sum of requests from which on 64 bits may not hold it.


def matrix(rows: Sequence[Resources], axes: Sequence[str], most: int) -> Amounts:
    """Return amounts by axis and row, none above `most` or below its negative."""
    place = {name: axis for axis, name in enumerate(axes)}
    amounts = np.zeros((len(axes), len(rows)), np.int64)
    for column, row in enumerate(rows):
        for name, value in row.amounts:
            if name in place:
                amounts[place[name], column] = max(-most, min(value, most))
    return amounts


def left(offered: Amounts, where: NDArray[np.int64], requested: Amounts) -> Amounts:
    """Return what is left of the offers of each place, at least -`MOST`."""
    # What is overbooked by more has as little room.
    # A sum that 64 bits cannot hold shows by its rough size, which floats can.
    free = offered.copy()
    for axis, amounts in enumerate(requested):
        np.subtract.at(free[axis], where, amounts)
        rough = np.bincount(where, weights=amounts, minlength=offered.shape[1])
        free[axis][rough >= _WRAPS] = -MOST
    return free.clip(-MOST, MOST)


def shares(free: Amounts, offered: Amounts) -> Amounts:
    parts: Amounts = free * SCALE // offered.clip(1)
    return parts.clip(-_MOST_SHARE, _MOST_SHARE)


def share(free: int, offered: int) -> int:
    part = free * SCALE // offered
    return part if -_MOST_SHARE < part < _MOST_SHARE else max(-_MOST_SHARE, min(part, _MOST_SHARE))


class ClusterArrays:
    """Nodes, pod classes and what is free where, by index. Indices follow the snapshot's order."""

    def __init__(
        self, snapshot: Snapshot, constraints: Sequence[NewConstraint] = CONSTRAINTS, *, foresees: bool = True
    ) -> None:
        """`foresees`: whether pods of nodes that may go count as if they could be gone (`ConstraintInput`)."""
        self.nodes = snapshot.nodes
        self.index = {node.name: place for place, node in enumerate(self.nodes)}
        self._pods = snapshot.pods_by_node
        self._now = snapshot.taken_at
        ready = {node.name for node in self.nodes if node.ready}
        living = [pod for pod in snapshot.pods if not pod.phase.finished]
        bound = [pod for pod in living if pod.node in self.index]
        unready = [pod for pod in living if pod.deleting is None and pod.node not in ready]
        self.pending = tuple(
            pod for pod in unready if not pod.node or (pod.spec.owner is not None and not pod.spec.stays)
        )
        """Pods without a node, those whose node is gone (their controllers make them again in less than a minute), and
        those whose node is not Ready (after five minutes they are evicted by its taint:
        kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration, taint based evictions)."""
        self.chunks = tuple(snapshot.buffers.chunks)  # One of each capacity buffer, with how many there are.
        self.example: dict[PodClass, Pod] = {}  # The first pod of each class, to name in an explanation.
        for pod in (*living, *(chunk for chunk, _ in self.chunks)):
            self.example.setdefault(pod.spec, pod)
        self.classes: Sequence[PodClass] = tuple(self.example)
        self.kind_of = {spec: kind for kind, spec in enumerate(self.classes)}
        self.axes = _axes(self.classes)
        self.requests = matrix([spec.requests for spec in self.classes], self.axes, MOST + 1)
        self.requests[-1] = 1
        alike = {spec.requests: kind for kind, spec in enumerate(self.classes)}
        known = {requested: _needs(self.requests[:, kind]) for requested, kind in alike.items()}
        self.needs = tuple(known[spec.requests] for spec in self.classes)
        self.allocatable = matrix([node.allocatable for node in self.nodes], self.axes, MOST)
        where = np.fromiter((self.index[pod.node] for pod in bound), np.int64, len(bound))
        kinds = np.fromiter((self.kind_of[pod.spec] for pod in bound), np.int64, len(bound))
        self._bound = bound, kinds, where
        self.free = self._free(bound, kinds, where)
        self.size_of_cluster = len(self.nodes) + len(living)  # Nodes and pods: what a search's limit grows with.
        self.node_filters = NodeFilters(self.nodes)
        given = ConstraintInput(snapshot, self.classes, self.node_filters, foresees)
        self.destinations = given.destinations
        to_come = room_for_daemons(self.classes, self.requests, kinds, where, self.node_filters)
        self.free -= np.where(self.destinations, to_come, 0)
        self.constraints = Constraints(constraints, given)
        self.constraint_states = self.constraints.states(kinds, where)
        self._volumes = VolumeFacts.of(snapshot)
        self._fixed: dict[int, tuple[Finding, ...]] = {}
        self._admitting: dict[int, NodeMask] = {}
        self._masks: dict[bytes, NodeMask] = {}
        self._alike: dict[int, int] = {}
        self._numbers: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        self._movable: dict[int, tuple[Pod, ...]] = {}
        self._sizes: dict[int, int] = {}

    def movable(self, node: int) -> tuple[Pod, ...]:
        """Return the pods that were on the node in the snapshot and need a place elsewhere."""
        # The replacement of one that another drain is moving may have its place: it must not count twice.
        if node not in self._movable:
            leaving = movable(self._pods[self.nodes[node].name], self._now)
            self._movable[node] = tuple(pod for pod in leaving if not is_replaced(pod))
        return self._movable[node]

    def ending(self, node: int) -> list[Pod]:
        return [pod for pod in self._pods[self.nodes[node].name] if pod.deleting and not pod.phase.finished]

    def taken_by(self, pods: Sequence[Pod]) -> Amounts:
        """Return by axis what pods take of the node that they are on."""
        requested = matrix([pod.requests for pod in pods], self.axes, MOST + 1)
        requested[-1] = 1
        total: Amounts = requested.sum(axis=1).clip(max=MOST)
        return total

    def places_of(self, names: Iterable[str]) -> list[int]:
        """Return the indices of nodes, in order; names that are not in the snapshot are passed over."""
        return sorted(self.index[name] for name in names if name in self.index)

    def goes_with_its_node(self, kind: int) -> bool:
        """Whether the class is a DaemonSet's: it takes room where it is, and needs none once the node is gone."""
        return is_daemon(self.classes[kind])

    def lasting_findings(self, kind: int) -> tuple[Finding, ...]:
        """Return why no proof may place this class anywhere."""
        if kind not in self._fixed:
            self._fixed[kind] = find_unmodelled(self.classes[kind], self._volumes)
        return self._fixed[kind]

    def admitting(self, kind: int) -> NodeMask:
        """Return the nodes that admit the class, whatever lies there; the mask is shared, do not write to it."""
        if kind not in self._admitting:
            mask, allowed = self.node_filters.of(self.classes[kind]), self.constraints.admits(kind)
            mask = mask if allowed is None else mask & allowed
            # One mask for all that are equal: thousands of claims are a class each, and lie in a few zones.
            self._admitting[kind] = self._masks.setdefault(np.packbits(mask).tobytes(), mask)
        return self._admitting[kind]

    def fitting_alike(self, kind: int) -> int:
        """Return a number that classes share which are admitted by the same nodes and need the same."""
        # Each pod of a StatefulSet is a class of its own: its name is among its labels, and its claim's in its spec.
        if kind not in self._alike:
            known = (id(self.admitting(kind)), self.needs[kind])
            self._alike[kind] = self._numbers.setdefault(known, len(self._numbers))
        return self._alike[kind]

    def size(self, kind: int) -> int:
        """Return the class's size against a mean node: its largest share of any resource, in 1/10,000."""
        if kind not in self._sizes:
            shares = (amount * SCALE // self._mean_offers[axis] for axis, amount in self.needs[kind])
            self._sizes[kind] = max(shares)
        return self._sizes[kind]

    def load(self, node: int) -> int:
        return sum(self.size(self.kind_of[pod.spec]) for pod in self.movable(node))

    def capacity(self, node: int) -> int:
        """Return the sum of a node's shares of a mean node over all resources but `pods`, in 1/10,000; at least 1."""
        offered = range(len(self.axes) - 1)
        return max(sum(int(self.allocatable[axis, node]) * SCALE // self._mean_offers[axis] for axis in offered), 1)

    def room(self, free: Amounts) -> Amounts:
        """Return for each node the sum of its free shares of CPU and memory, in 1/10,000."""
        cpu, memory = self.weighed
        return shares(free[cpu], self.allocatable[cpu]) + shares(free[memory], self.allocatable[memory])

    def room_on(self, free: Amounts, node: int) -> int:
        (cpu, memory), (of_cpu, of_memory) = self.weighed, self._offered
        return share(free.item(cpu, node), of_cpu[node]) + share(free.item(memory, node), of_memory[node])

    def pods_of(self, workload: str) -> Amounts:
        """Return how many pods of a workload are on each node and not on their way out; a new array."""
        kinds, where = self._staying
        own = np.fromiter((spec.workload == workload for spec in self.classes), np.bool_, len(self.classes))
        return np.bincount(where[own[kinds]], minlength=len(self.nodes))

    @cached_property
    def _staying(self) -> tuple[Codes, Codes]:
        pods, kinds, where = self._bound
        staying = np.fromiter((pod.deleting is None for pod in pods), np.bool_, len(pods))
        return kinds[staying], where[staying]

    @cached_property
    def zones(self) -> Codes:
        return LabelColumn([node.zone for node in self.nodes]).codes

    @cached_property
    def weighed(self) -> tuple[int, int]:
        return self.axes.index(CPU), self.axes.index(MEMORY)

    @cached_property
    def _offered(self) -> tuple[list[int], list[int]]:
        """CPU and memory that each node offers, at least 1."""
        cpu, memory = self.weighed
        return self.allocatable[cpu].clip(1).tolist(), self.allocatable[memory].clip(1).tolist()

    @cached_property
    def _mean_offers(self) -> list[int]:
        """What a mean node offers, by axis; at least 1, so that what hardly any node has counts as large."""
        count = max(len(self.nodes), 1)
        return [max(sum(row.tolist()) // count, 1) for row in self.allocatable]

    def _free(self, bound: Sequence[Pod], kinds: Codes, where: Codes) -> Amounts:
        requested = self.requests[:, kinds]
        resized = [place for place, pod in enumerate(bound) if pod.booked is not None]
        requested[:-1, resized] = matrix([bound[place].requests for place in resized], self.axes, MOST + 1)[:-1]
        return left(self.allocatable, where, requested)


ArraysOf = Callable[[Snapshot], ClusterArrays]  # Makes the arrays of a snapshot, or knows them already.
KEPT: Final = 4
"""Snapshots that are remembered: those of a pass, and in forecasts those with what is announced and without."""
_Found = TypeVar("_Found")


class SnapshotMemo(Generic[_Found]):
    """What was found of the last few snapshots; those that are alike are one."""

    def __init__(
        self, find: Callable[[Snapshot], _Found], are_alike: Callable[[Snapshot, Snapshot], bool], keeps: int = KEPT
    ) -> None:
        self._find, self._are_alike, self._keeps = find, are_alike, keeps
        self._known: list[tuple[Snapshot, _Found]] = []

    def __call__(self, snapshot: Snapshot) -> _Found:
        found = next((row for row in self._known if self._are_alike(row[0], snapshot)), None)
        row = found or (snapshot, self._find(snapshot))
        self._known = [row, *(known for known in self._known if known is not row)][: self._keeps]
        return row[1]


def _axes(classes: Sequence[PodClass]) -> tuple[str, ...]:
    """Return the resource names asked for; CPU and memory always, `pods` last."""
    named = {name for spec in classes for name, _ in spec.requests.amounts} | {CPU, MEMORY}
    return (*sorted(named - {PODS}), PODS)


def _needs(column: Amounts) -> tuple[tuple[int, int], ...]:
    """Return (axis, amount) of what is asked; what is not asked may be overbooked, as the scheduler allows."""
    return tuple((int(axis), int(column[axis])) for axis in np.flatnonzero(column > 0))


def room_for_daemons(
    classes: Sequence[PodClass], requests: Amounts, kinds: Codes, where: Codes, node_filters: NodeFilters
) -> Amounts:
    """Return by axis and node what pods still to come will take."""
    # `kinds` and `where` are class and node of each bound pod.
    nodes = node_filters.node_count
    taken = np.zeros((len(requests), nodes), np.int64)
    bound = np.zeros(len(classes), np.bool_)
    bound[kinds] = True
    for own in _daemon_sets(classes, bound):
        is_own = np.zeros(len(classes), np.bool_)
        is_own[own] = True
        lacks = np.ones(nodes, np.bool_)
        lacks[where[is_own[kinds]]] = False
        if lacks.any():
            admitted = np.logical_or.reduce([node_filters.of(classes[kind]) for kind in own])
            taken += requests[:, own].max(axis=1)[:, np.newaxis] * (lacks & admitted)
    return taken


def _daemon_sets(classes: Sequence[PodClass], bound: NDArray[np.bool_]) -> list[list[int]]:
    """Return the classes of each DaemonSet of which pods run: those of pods without a node describe only themselves."""
    found: dict[tuple[str, str], list[int]] = {}
    for kind, spec in enumerate(classes):
        if bound[kind] and spec.owner is not None and spec.owner.kind == "DaemonSet":
            found.setdefault((spec.namespace, spec.owner.name), []).append(kind)
    return list(found.values())
