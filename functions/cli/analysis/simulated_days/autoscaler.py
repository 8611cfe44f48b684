"""The autoscaler of a simulated cluster: its loop, and its scale-down of unneeded nodes."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import create, evict
from functions.cli.analysis.simulated_days.scale_up import NodeTemplates, ScaleUp
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.autoscaling import BALANCED
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import NO_SCHEDULE, Taint
from shared.core.planning.autoscaler import (
    context_of,
    is_eligible,
    is_expendable,
    profile_of,
    soonest,
    with_announcement,
)
from shared.core.planning.autoscaler_look import Earlier, ScaleDownScan, scan, scheduler_arrays

EVICTIONS_TAKE: Final = timedelta(minutes=2)
"""At most; what is not evicted by then stays (cluster-autoscaler, max-pod-eviction-time)."""


@dataclass(frozen=True, slots=True)
class Loop:
    """How the autoscaler of a profile goes round (the chart of GoogleCloudPlatform/cluster-autoscaler)."""

    scan: timedelta = timedelta(seconds=10)
    recheck: timedelta = timedelta(minutes=5)  # How long a node that could not go is not looked at again.
    after_drain: timedelta = timedelta(seconds=10)  # From the deletion of a node with pods until the next removal.
    after_failure: timedelta = timedelta(minutes=3)  # From evictions that took too long until the next removal.
    retry: timedelta = timedelta(seconds=10)  # Between two rounds of evictions of one node.


LOOP: Final = Loop()
_FIVE: Final = timedelta(seconds=5)
PACKING_LOOP: Final = Loop(scan=_FIVE, recheck=timedelta(seconds=20), after_drain=_FIVE, after_failure=_FIVE)


class ScaleDown:
    def __init__(self, world: World, loop: Loop, throw: int) -> None:
        """`throw`: the first place that is searched for room, which also throws the dice."""
        self._world, self._loop = world, loop
        self._since: dict[str, datetime] = {}
        self._parked: dict[str, tuple[datetime, int]] = {}
        """Nodes that could not go: until when they are passed over, and what the world was then."""
        self._leaving: dict[str, bool] = {}  # Nodes on their way out, and whether they had pods that had to move.
        self._not_before = world.now
        self._eligible: dict[str, tuple[int, bool]] = {}
        """By node: its version when it was measured, and whether it was below the gate."""
        self._last = ScaleDownScan(next_place=throw)

    def step(self) -> None:
        world = self._world
        self._parked = {name: row for name, row in self._parked.items() if row[0] > world.now}
        rows = [node for name, node in world.nodes.items() if name not in self._parked and self._may_be_unneeded(node)]
        self._last = self._look_at(rows)
        self._since = {name: self._since.get(name, world.now) for name in self._last.unneeded}
        self._parked.update(dict.fromkeys(self._last.kept, (world.now + self._loop.recheck, world.revision)))
        self._announce()
        if world.now >= self._not_before:
            for name in [name for name, since in self._since.items() if since + self._waits(name) <= world.now]:
                self._start(name)

    def _look_at(self, rows: list[Node]) -> ScaleDownScan:
        place, homes = self._last.next_place, self._last.homes
        if not rows:
            return ScaleDownScan(next_place=place, homes=homes)
        snapshot = self._world.snapshot()
        earlier = Earlier(self._leaving, self._since, place, homes)
        return scan(snapshot, context_of(snapshot), rows, earlier, arrays_of=scheduler_arrays)

    def _may_be_unneeded(self, node: Node) -> bool:
        """Whether a node is below the gate and not on its way out; measured once for each of its versions."""
        seen = self._world.versions[node.name]
        known = self._eligible.get(node.name)
        if known is None or known[0] != seen:
            pods = tuple(self._world.on[node.name].values())
            known = self._eligible[node.name] = seen, is_eligible(node, pods, self._world.origin.scale_down(node).gate)
        return known[1]

    def due_at(self) -> datetime | None:
        """When there is something to do although nothing has changed."""
        if self._last.unseen:
            return self._world.now
        ripe = [max(since + self._waits(name), self._not_before) for name, since in self._since.items()]
        parked = [until for until, seen in self._parked.values() if seen != self._world.revision]
        return min([*([] if any(self._leaving.values()) else ripe), *parked], default=None)

    def _waits(self, name: str) -> timedelta:
        return self._world.origin.scale_down(self._world.nodes[name]).unneeded

    def _movers(self, name: str) -> list[Pod]:
        pods = self._world.on[name].values()
        return [pod for pod in pods if not pod.spec.stays and not is_expendable(pod.spec)]

    def _announce(self) -> None:
        for node in self._world.nodes.values():
            later = with_announcement(node, wanted=node.name in self._since)
            if later is not node:
                self._world.change_node(later, detail=True)

    def _start(self, name: str) -> None:
        world, drains = self._world, bool(self._movers(name))
        if drains and any(self._leaving.values()):
            return
        self._leaving[name] = drains
        del self._since[name]
        world.deletion_begun[name] = world.now
        node = with_announcement(world.nodes[name], wanted=False)
        taint = Taint(names.AUTOSCALER_DELETING_TAINT, NO_SCHEDULE)
        world.change_node(replace(node, unschedulable=True, taints=(*node.taints, taint)), detail=True)
        if drains:
            until = world.now + EVICTIONS_TAKE
            world.agenda.note(world.now + timedelta(seconds=1), lambda: self._evict(name, until))
        else:
            world.agenda.note(world.now + world.delays.deletion, lambda: self._delete(name))

    def _evict(self, name: str, until: datetime) -> None:
        """Evict what PodDisruptionBudgets let go, and ask for the others again until it has taken too long."""
        world = self._world
        for pod in self._staying(name):
            if not world.budgets.refusing(pod):
                evict(world, pod, Actor.AUTOSCALER)
        if not self._staying(name):
            ends = max([world.now, *(pod.deleting for pod in world.on[name].values() if pod.deleting)])
            world.agenda.note(ends + world.delays.deletion, lambda: self._delete(name))
        elif world.now < until:
            world.agenda.note(world.now + self._loop.retry, lambda: self._evict(name, until))
        else:
            self._abandon(name)

    def _staying(self, name: str) -> list[Pod]:
        return [pod for pod in self._movers(name) if pod.deleting is None]

    def _abandon(self, name: str) -> None:
        """As after any failure: the node is open again, and passed over for a while."""
        world = self._world
        del self._leaving[name]
        taints = (taint for taint in world.nodes[name].taints if taint.key != names.AUTOSCALER_DELETING_TAINT)
        world.change_node(replace(world.nodes[name], unschedulable=False, taints=tuple(taints)))
        self._not_before = world.now + self._loop.after_failure
        self._parked[name] = world.now + self._loop.recheck, world.revision

    def _delete(self, name: str) -> None:
        world, drained = self._world, self._leaving.pop(name)
        if drained:
            self._not_before = world.now + self._loop.after_drain
        ending = [pod.spec for pod in world.on[name].values() if is_expendable(pod.spec) and not pod.spec.stays]
        world.delete_node(name)
        for spec in ending:
            if world.controlled.lacks(spec.workload):
                create(world, spec)


CALM: Final = 10
"""Between two looks while no pod waits there is a tenth of the unneeded time: so much later it is begun at most."""


class ScalingLoop:
    def __init__(self, world: World, templates: NodeTemplates, throw: int) -> None:
        self._world, self._begun = world, world.now
        self._loop = LOOP if profile_of(world.origin) is BALANCED else PACKING_LOOP
        self._up, self._down = ScaleUp(world, templates), ScaleDown(world, self._loop, throw)
        self._calm = soonest(world.origin, world.origin.nodes) / CALM
        self._seen: int | None = None
        self._last = world.now - self._calm
        self._next: datetime | None = None

    def watch(self) -> None:
        """Note the next look, if there is anything new to see."""
        now = self._world.now
        due = self._news_at() if self._seen != self._world.revision else self._down.due_at()
        if due is None:
            return
        # the first turn of the loop after that time
        turn = self._begun + ((max(due, now) - self._begun) // self._loop.scan + 1) * self._loop.scan
        if self._next is None or turn < self._next:
            self._next = turn
            self._world.agenda.note(turn, lambda: self._look(turn))

    def _news_at(self) -> datetime:
        """Return when what is new is looked at: at once for pods that wait, else with what else is new by then."""
        now = self._world.now
        calm = now if self._world.pending else max(now, self._last + self._calm)
        return min(calm, self._down.due_at() or calm)

    def _look(self, turn: datetime) -> None:
        if self._next != turn:
            return
        self._next, self._seen, self._last = None, self._world.revision, turn
        self._up.step()
        self._down.step()
