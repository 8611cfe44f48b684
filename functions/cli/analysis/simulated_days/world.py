"""The nodes and pods of a simulated cluster, kept in step with all that is counted of them, and its agenda."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from functions.cli.analysis.forecast.pace import CLAIMED_AFTER
from functions.cli.analysis.simulated_days.counted_pods import BudgetCounts, ControlledPods
from functions.cli.analysis.simulated_days.measures import Actor, Measures, Moment, PodMove
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import NodePods, Snapshot
from shared.core.planning.autoscaler import DELETION
from shared.core.planning.bill import Bill
from shared.core.planning.prices import Prices
from shared.core.policy.values import NO_COMMITMENTS, Commitments
from shared.core.records.state import INTERVAL, ClusterState


class Agenda:
    def __init__(self) -> None:
        self._rows: list[tuple[datetime, int, Callable[[], None]]] = []
        self._numbers = count()

    def note(self, at: datetime, action: Callable[[], None]) -> None:
        heapq.heappush(self._rows, (at, next(self._numbers), action))

    @property
    def next_at(self) -> datetime | None:
        return self._rows[0][0] if self._rows else None

    def due(self, now: datetime) -> Iterator[Callable[[], None]]:
        """Yield what is due, also what is noted meanwhile for the same moment."""
        while self._rows and self._rows[0][0] <= now:
            yield heapq.heappop(self._rows)[2]


class Onlooker:
    """Sees each change with what stood before and after (None: nothing); this one does nothing about it."""

    def node(self, world: "World", before: Node | None, after: Node | None) -> None: ...

    def pod(self, world: "World", before: Pod | None, after: Pod | None) -> None: ...

    def note_eviction(self, world: "World", pod: Pod, by: Actor) -> None:
        """An eviction is granted, and nothing has changed yet."""

    def note_memory(self, world: "World", before: ClusterState, after: ClusterState) -> None: ...


NO_ONLOOKER: Final = Onlooker()


@dataclass(frozen=True, slots=True)
class Delays:
    """Durations of the world; the autoscaler's are cluster-autoscaler's defaults and GKE's profile."""

    boot: timedelta = timedelta(seconds=90)  # From the order of a machine until pods can start on it.
    ready: timedelta = timedelta(seconds=10)  # From a pod's binding until it is Ready.
    interval: timedelta = INTERVAL
    claim: timedelta = CLAIMED_AFTER  # From the pass to the claim and the cordon.
    deletion: timedelta = DELETION
    longest_end: timedelta = timedelta(hours=1)  # How long a pod takes to end at most, however long its grace is.


DELAYS: Final = Delays()


@dataclass
class World:
    """One simulated cluster. `revision` grows with all that scheduler or autoscaler could see."""

    origin: Snapshot
    prices: Prices
    delays: Delays
    now: datetime
    agenda: Agenda = field(default_factory=Agenda)
    measures: Measures = field(default_factory=Measures)
    onlooker: Onlooker = NO_ONLOOKER
    commitments: Commitments = NO_COMMITMENTS  # By which money is counted, whatever Ebb's policy.
    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    on: dict[str, dict[str, Pod]] = field(default_factory=dict)  # By node, the pods that are bound to it, by key.
    pending: dict[str, datetime] = field(default_factory=dict)
    moves: dict[str, PodMove] = field(default_factory=dict)  # By pod that takes the place of one that was evicted.
    replaces: dict[str, Pod] = field(default_factory=dict)
    """By pod that a rollout has made, the one that ends once it is available."""
    deletion_begun: dict[str, datetime] = field(default_factory=dict)
    """By node, when the autoscaler last began to delete it."""
    bought_for: dict[str, datetime] = field(default_factory=dict)
    """By pod, when the autoscaler last bought a node for it."""
    revision: int = 0
    details: int = 0
    """Grows with what neither scheduler nor autoscaler asks about: readiness, announcements, what leaves."""

    def __post_init__(self) -> None:
        self.controlled = ControlledPods(self.origin.workloads)
        self.budgets = BudgetCounts(self.origin.disruption_budgets, self.controlled)
        self._serial = count(1)
        self._snapshot: tuple[tuple[int, int, datetime], Snapshot] | None = None
        self._pods_of: dict[str, NodePods] = {}
        """By node, its pods as snapshots show them, with all that is known of them, until one of them changes."""
        self._costs: tuple[Commitments, int, int | None] | None = None
        """The commitments in force, list price and bill of the nodes; None once nodes have come or gone."""
        self.versions: Counter[str] = Counter()  # By node: grows with every change of its pods or of itself.
        for node in self.origin.nodes:
            self._add(node)
        for pod in self.origin.pods:
            if not pod.phase.finished:
                self.add_pod(pod)
        self.controlled.want_what_is_there()

    # nodes

    def add_node(self, node: Node) -> None:
        """Add a machine that was bought: it counts from now on, and boots."""
        self._add(node)
        self.note_change(node.name)

    def change_node(self, node: Node, *, detail: bool = False) -> None:
        """Write a node's new state; a `detail` makes no difference to anyone who looks for room."""
        self.onlooker.node(self, self.nodes[node.name], node)
        self.nodes[node.name] = node
        self.note_change(node.name, detail=detail)

    def delete_node(self, name: str) -> None:
        """Remove a node with its machine and the pods that are left on it."""
        node = self.nodes.pop(name)
        self.deletion_begun.pop(name, None)
        self._costs = None
        for pod in list(self.on.pop(name).values()):
            self.delete_pod(pod)
        self.onlooker.node(self, node, None)
        self.note_change(name, detail=True)

    # pods

    def new_name(self, spec: PodClass) -> str:
        stem = spec.owner.name if spec.owner else "pod"
        return f"{stem}-s{next(self._serial):06d}"

    def add_pod(self, pod: Pod) -> None:
        """Add a pod; one that is on its way out already goes in its time."""
        self.onlooker.pod(self, None, pod)
        self.pods[pod.key] = pod
        if pod.node in self.on:
            self._bind(pod)
        elif not pod.node:
            self.pending[pod.key] = self.now
        if pod.deleting is None:
            self.budgets.count(pod, 1)
            self.controlled.put(pod)
        else:
            self.agenda.note(max(pod.deleting, self.now), lambda: self.delete_pod(pod))

    def change_pod(self, pod: Pod) -> None:
        """Write a pod's new state; the caller notes by `changed` or `details` who must look again."""
        self.onlooker.pod(self, self.pods[pod.key], pod)
        self.pods[pod.key] = pod
        if pod.node:
            self._bind(pod)
        if pod.deleting is None:
            self.controlled.put(pod)

    def announce_end(self, pod: Pod, ending: Pod) -> None:
        """Put a bound pod on its way out: neither budgets nor controllers count it any more."""
        self.budgets.count(pod, -1)
        self.onlooker.pod(self, pod, ending)
        self.pods[pod.key] = ending
        self._bind(ending)
        self.controlled.drop(pod)

    def moved_by(self, key: str) -> Actor | None:
        """Return who evicted the pod whose place this one takes; None where it takes no other's."""
        return self.moves[key].by if key in self.moves else None

    def delete_pod(self, pod: Pod) -> None:
        known = self.pods.pop(pod.key, None)
        if known is None:
            return
        self.onlooker.pod(self, known, None)
        if known.deleting is None:
            self.budgets.count(known, -1)
            self.controlled.drop(known)
        for facts in (self.pending, self.moves, self.replaces, self.bought_for):
            facts.pop(known.key, None)
        self.on.get(known.node, {}).pop(known.key, None)
        self._pods_of.pop(known.node, None)
        self.note_change(known.node, detail=known.node not in self.nodes)

    def _bind(self, pod: Pod) -> None:
        self.on[pod.node][pod.key] = pod
        self._pods_of.pop(pod.node, None)

    # what others see

    def snapshot(self) -> Snapshot:
        mark = (self.revision, self.details, self.now)
        if self._snapshot is None or self._snapshot[0] != mark:
            self._snapshot = mark, self._snapshot_of_now()
        return self._snapshot[1]

    def sample(self) -> None:
        """Note nodes, money and waiting pods, if they are news."""
        cost, bill = self._costs_now()
        row = Moment(self.now, len(self.nodes), cost, len(self.pending), bill)
        series = self.measures.series
        if not series or series[-1][1:] != row[1:]:
            if series and series[-1].at == self.now:
                series.pop()
            series.append(row)

    def _costs_now(self) -> tuple[int, int | None]:
        """Return list price and bill, worked out again once nodes have changed or a commitment has ended."""
        in_force = self.commitments.in_force(self.now) if self.commitments else self.commitments
        if self._costs is None or self._costs[0] != in_force:
            nodes = tuple(self.nodes.values())
            bill = Bill.of(self.prices, self.commitments, nodes, self.now).cost_of(nodes) if self.commitments else None
            self._costs = in_force, self.prices.cost_of(nodes), bill
        return self._costs[1:]

    def _snapshot_of_now(self) -> Snapshot:
        names = sorted(self.nodes)
        found = replace(
            self.origin,
            began_at=self.now,
            taken_at=self.now,
            nodes=tuple(self.nodes[name] for name in names),
            pods=tuple(self.pods[key] for key in sorted(self.pods)),
            disruption_budgets=tuple(self.budgets.now()),
            workloads=self.controlled.workloads(),
        )
        for name in names:
            if name not in self._pods_of:
                self._pods_of[name] = NodePods(pod for _, pod in sorted(self.on[name].items()))
        return found.with_pods_by_node({name: self._pods_of[name] for name in names})

    def note_change(self, node: str, *, detail: bool = False) -> None:
        """Note that something is new; while pods wait, everything may be news to them."""
        self.versions[node] += 1
        if detail and not self.pending:
            self.details += 1
        else:
            self.revision += 1

    def _add(self, node: Node) -> None:
        self.onlooker.node(self, None, node)
        self.nodes[node.name] = node
        self.on[node.name] = {}
        self._costs = None
