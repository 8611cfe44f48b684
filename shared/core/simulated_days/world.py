"""The nodes and pods of a simulated cluster at its present time, and everything that can be done to them.

Must not decide anything: the scheduler, the controllers, the autoscaler and Ebb do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from msgspec import structs

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.pod_kinds import is_daemon, is_mirror, is_of_replica_set
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.simulated_days.agenda import Agenda
from shared.core.simulated_days.controlled_pods import ControlledPods
from shared.core.simulated_days.disruption_budgets import BudgetCounts
from shared.core.simulated_days.measures import Actor, Measures, Moment, PodWait
from shared.core.simulated_days.onlooker import NO_ONLOOKER, Onlooker
from shared.core.simulated_days.settings import Delays


@dataclass
class World:
    """One simulated cluster. `revision` grows with whatever scheduler or autoscaler could see."""

    picture: Snapshot
    prices: Prices
    delays: Delays
    now: datetime
    agenda: Agenda = field(default_factory=Agenda)
    measures: Measures = field(default_factory=Measures)
    onlooker: Onlooker = NO_ONLOOKER
    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    on: dict[str, dict[str, Pod]] = field(default_factory=dict)
    """By node, the pods that are bound to it, by key."""
    pending: dict[str, datetime] = field(default_factory=dict)
    """Pods without a node, and since when."""
    times_moved: dict[str, int] = field(default_factory=dict)
    """By pod, how often it or those whose place it takes were evicted."""
    moved_from: dict[str, str] = field(default_factory=dict)
    """By pod, the node from which the one was evicted whose place it takes."""
    revision: int = 0
    details: int = 0
    """Grows with what neither scheduler nor autoscaler asks about: readiness, announcements, what leaves."""

    def __post_init__(self) -> None:
        self.controlled = ControlledPods(self.picture.workloads)
        self.budgets = BudgetCounts(self.picture.disruption_budgets)
        self._serial = count(1)
        self._snapshot: tuple[tuple[int, int, datetime], Snapshot] | None = None
        self._cost = 0
        self.versions: Counter[str] = Counter()
        """By node: grows with every change of its pods or of itself."""
        for node in self.picture.nodes:
            self._add(node)
        for pod in self.picture.pods:
            if not pod.phase.finished:
                self._put(pod)
        self.controlled.want_what_is_there()

    # nodes

    def add_node(self, node: Node) -> None:
        """A machine was bought: it counts from now on, and boots."""
        self._add(node)
        self.measures.bought.append((self.now, node.pool))
        self._changed(node.name)

    def change_node(self, node: Node, *, detail: bool = False) -> None:
        """Write a node's new state; a `detail` is what whoever looks for room need not look at again."""
        self.onlooker.node(self, self.nodes[node.name], node)
        self.nodes[node.name] = node
        self._changed(node.name, detail=detail)

    def delete_node(self, name: str) -> None:
        """Its machine is gone, with whatever was left on it."""
        node = self.nodes.pop(name)
        self._cost -= self.prices.of(node).per_hour
        for pod in list(self.on.pop(name).values()):
            self.remove(pod)
        self.onlooker.node(self, node, None)
        self.measures.removed.append((self.now, node.pool))
        self._changed(name, detail=True)

    # pods

    def create(self, spec: PodClass, *, moved: int = 0, node: str = "") -> Pod:
        """A controller makes a pod; `moved` is how often those whose place it takes were evicted."""
        stem = spec.owner.name if spec.owner else "pod"
        name = f"{stem}-s{next(self._serial):06d}"
        pod = Pod(name=name, uid=name, spec=spec, node=node, phase=Phase.PENDING, ready=False, created=self.now)
        if moved:
            self.times_moved[pod.key] = moved
        self._put(pod)
        if node:
            self._start(pod)
        self._changed(node)
        return pod

    def bind(self, key: str, node: str) -> None:
        """The scheduler has found a place."""
        since = self.pending.pop(key)
        moved = key in self.times_moved
        self.measures.waits.append(PodWait(since, self.now - since, moved))
        pod = structs.replace(self.pods[key], node=node, unschedulable_since=None, started=self.now)
        self._replace(pod)
        self._start(pod)
        self._changed(node)

    def found_no_place(self, key: str) -> None:
        """The scheduler has found none; that says nothing new to anybody who heard it before."""
        pod = self.pods[key]
        if pod.unschedulable_since is None:
            self._replace(structs.replace(pod, unschedulable_since=self.now))
            self._changed("")

    def evict(self, pod: Pod, by: Actor) -> None:
        """Tell a pod to end, and let its controller make it anew."""
        moved = self.times_moved.get(pod.key, 0)
        self.measures.evicted(by, before=moved)
        self.onlooker.evicted(self, pod, by)
        self.end(pod)
        if is_of_replica_set(pod.spec):
            self._anew(pod, moved + 1)
        else:
            self.agenda.note(self.now + self._takes_to_end(pod), lambda: self._anew(pod, moved + 1))

    def steer(self, pod: Pod, cost: int | None) -> None:
        """Write a deletion cost of Ebb's on a pod, or take it back; only its ReplicaSet asks for it."""
        known = self.pods.get(pod.key)
        if known is not None and known.deleting is None:
            self._replace(structs.replace(known, steered="" if cost is None else str(cost)))
            self.details += 1

    def end(self, pod: Pod) -> None:
        """Tell a pod to end; it stays on its node until its grace is over."""
        if pod.key not in self.pods or pod.deleting is not None:
            return
        if not pod.node:
            self.remove(pod)
            return
        self.budgets.count(pod, -1)
        ending = structs.replace(pod, deleting=self.now + self._takes_to_end(pod))
        self.onlooker.pod(self, pod, ending)
        self.pods[pod.key] = self.on[pod.node][pod.key] = ending
        self.controlled.drop(pod)
        self.agenda.note(self.now + self._takes_to_end(pod), lambda: self.remove(ending))
        self._changed(pod.node, detail=True)

    def remove(self, pod: Pod) -> None:
        """The pod is gone."""
        known = self.pods.pop(pod.key, None)
        if known is None:
            return
        self.onlooker.pod(self, known, None)
        if known.deleting is None:
            self.budgets.count(known, -1)
            self.controlled.drop(known)
        self.pending.pop(known.key, None)
        self.times_moved.pop(known.key, None)
        self.moved_from.pop(known.key, None)
        self.on.get(known.node, {}).pop(known.key, None)
        self._changed(known.node, detail=known.node not in self.nodes or self.nodes[known.node].unschedulable)

    def waiting_for(self, key: str) -> timedelta | None:
        """How long a pod has been without a node; None if it is not."""
        since = self.pending.get(key)
        return None if since is None else self.now - since

    # what others see

    def snapshot(self) -> Snapshot:
        """Return the picture of now."""
        mark = (self.revision, self.details, self.now)
        if self._snapshot is None or self._snapshot[0] != mark:
            self._snapshot = mark, self._picture()
        return self._snapshot[1]

    def sample(self) -> None:
        """Note how many nodes there are, if that is news."""
        row = Moment(self.now, len(self.nodes), self._cost, len(self.pending))
        series = self.measures.series
        if not series or series[-1][1:] != row[1:]:
            if series and series[-1].at == self.now:
                series.pop()
            series.append(row)

    def _picture(self) -> Snapshot:
        names = sorted(self.nodes)
        keys = sorted(self.pods)
        return replace(
            self.picture,
            began_at=self.now,
            taken_at=self.now,
            nodes=tuple(self.nodes[name] for name in names),
            pods=tuple(self.pods[key] for key in keys),
            disruption_budgets=tuple(self.budgets.now()),
            workloads=self.controlled.workloads(),
        )

    # how it is kept

    def _add(self, node: Node) -> None:
        self.onlooker.node(self, None, node)
        self.nodes[node.name] = node
        self.on[node.name] = {}
        self._cost += self.prices.of(node).per_hour

    def _put(self, pod: Pod) -> None:
        self.onlooker.pod(self, None, pod)
        self.pods[pod.key] = pod
        if pod.node in self.on:
            self.on[pod.node][pod.key] = pod
        elif not pod.node:
            self.pending[pod.key] = self.now
        if pod.deleting is None:
            self.budgets.count(pod, 1)
            self.controlled.put(pod)
        else:
            self.agenda.note(max(pod.deleting, self.now), lambda: self.remove(pod))

    def _replace(self, pod: Pod) -> None:
        self.onlooker.pod(self, self.pods[pod.key], pod)
        self.pods[pod.key] = pod
        if pod.node:
            self.on[pod.node][pod.key] = pod
        if pod.deleting is None:
            self.controlled.put(pod)

    def _start(self, pod: Pod) -> None:
        self.agenda.note(self.now + self.delays.ready, lambda: self._ready(pod.key))

    def _ready(self, key: str) -> None:
        """A pod serves; neither scheduler nor autoscaler asks for that, a pass does."""
        pod = self.pods.get(key)
        if pod is None or pod.deleting is not None or pod.ready:
            return
        self.budgets.became_ready(pod)
        self._replace(structs.replace(pod, ready=True, phase=Phase.RUNNING, ready_since=self.now))
        self.details += 1

    def _anew(self, pod: Pod, moved: int) -> None:
        """Make a pod that ended anew, unless fewer are wanted by now."""
        if self.controlled.lacks(pod.spec.workload):
            self.moved_from[self.create(pod.spec, moved=moved).key] = pod.node

    def _takes_to_end(self, pod: Pod) -> timedelta:
        return min(timedelta(seconds=pod.spec.grace_seconds), self.delays.longest_end)

    def _changed(self, node: str, *, detail: bool = False) -> None:
        """Note that something is new; while pods wait, everything may be news to them."""
        self.versions[node] += 1
        if detail and not self.pending:
            self.details += 1
        else:
            self.revision += 1


def movers(pods: Iterable[Pod]) -> Iterator[Pod]:
    """Yield the pods that would have to run elsewhere if their node went."""
    return (pod for pod in pods if not is_daemon(pod.spec) and not is_mirror(pod.spec))
