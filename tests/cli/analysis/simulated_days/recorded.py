"""Plays a part of a simulated cluster, or writes its day down for the oracle, counting Ready pods by itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.world import Onlooker, World
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.records.state import ClusterState

Entry = dict[str, Any]
EBB = "ebb/push-1"


@dataclass
class Recorded(Onlooker):
    """An onlooker that forgets nothing."""

    entries: list[Entry] = field(default_factory=list)

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        thing = after or before
        assert thing is not None
        ours = before is not None and after is not None and before.drain_taint != after.drain_taint
        row = {
            "ready": thing.ready,
            "unschedulable": thing.unschedulable,
            "taints": [f"{taint.key}={taint.value}:{taint.effect}" for taint in thing.taints],
            "pool": thing.pool,
            "zone": thing.zone,
        }
        self._change(world, "nodes", before, after, EBB if ours else "others", name=thing.name, uid=thing.uid, **row)

    def pod(self, world: World, before: Pod | None, after: Pod | None) -> None:
        thing = after or before
        assert thing is not None
        owner = thing.spec.owner
        row = {
            "node": thing.node,
            "phase": thing.phase.value,
            "ready": thing.ready,
            "terminating": thing.deleting is not None,
            "unschedulable": thing.unschedulable_since is not None and not thing.node,
            "owner": f"{owner.kind}/{owner.name}" if owner else "",
            "labels": dict(thing.spec.labels),
        }
        self._change(world, "pods", before, after, "others", name=thing.name, uid=thing.key, **row)

    def note_eviction(self, world: World, pod: Pod, by: Actor) -> None:
        entry = {
            "actor": EBB if by is Actor.EBB else "cluster-autoscaler",
            "namespace": pod.spec.namespace,
            "name": pod.name,
            "uid": pod.key,
            "node": pod.node,
            "terminating": pod.deleting is not None,
            "budgets": [*_budgets(world, pod)],
        }
        self._add(world, "eviction", entry)

    def note_memory(self, world: World, before: ClusterState, after: ClusterState) -> None:
        sight = {"verb": "GET", "code": 200, "user_agent": EBB, "path": "/api/v1/nodes"}
        self._add(world, "request", sight)
        at = world.now.timestamp()
        self._add(world, "state", {"before": before, "after": after, "actor": EBB.partition("/")[2], "began": at})

    def _change(self, world: World, kind: str, before: object, after: object, actor: str, **row: object) -> None:
        verb = "create" if before is None else "delete" if after is None else "update"
        self._add(world, "change", {"verb": verb, "kind": kind, "namespace": "", "actor": actor, **row})

    def _add(self, world: World, sort: str, entry: Mapping[str, object]) -> None:
        self.entries.append({"type": sort, "at": world.now.timestamp(), **entry})


def _budgets(world: World, pod: Pod) -> list[Entry]:
    """Return what the eviction leaves of each PodDisruptionBudget's pods."""
    rows: list[Entry] = []
    for budget in world.origin.disruption_budgets:
        if budget.matches(pod.spec):
            meant = [other for other in world.pods.values() if other.deleting is None and budget.matches(other.spec)]
            left = sum(other.ready for other in meant if other.key != pod.key)
            desired = budget.must_stay(len(meant))
            rows.append({"broken": pod.ready and left < desired, "healthy_after": left, "desired": desired})
    return rows


def let_pass(world: World, until: datetime, after_each: Callable[[], None] = lambda: None) -> None:
    """Let happen what is due up to that time; `after_each` moment a test may act as the parts that are not there."""
    while (at := world.agenda.next_at) is not None and at <= until:
        world.now = at
        for action in world.agenda.due(at):
            action()
        after_each()
