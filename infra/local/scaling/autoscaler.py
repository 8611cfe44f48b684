"""A cluster autoscaler that behaves like GKE's where Ebb meets it, over any Kubernetes API that speaks plain HTTP.

It knows nothing of Ebb's taints or annotations. Source of scale-up: cluster-autoscaler pkg/core/scaleup: cordoned nodes
and nodes with the ToBeDeleted taint are no capacity; the group with the fewest nodes grows (locationPolicy BALANCED).
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from infra.local.clocks import TimeSource
from infra.local.http_messages import Handler, RefusedCall
from infra.local.machine_types import make_node
from infra.local.scaling.candidates import Candidates, Leaving, at_minimum, obstacle
from infra.local.scaling.view import (
    BALANCED,
    CANDIDATE,
    TO_BE_DELETED,
    AutoscalerSettings,
    Client,
    Group,
    View,
    group_of,
    has_taint,
    is_chunk,
    without_taint,
)
from infra.local.scenario import MachinePool
from infra.local.scheduling import NodeInfo, NodeInfos, first_fit, fits, node_infos_of
from infra.local.world.kinds import Json
from infra.local.world.kubelet import DEFAULT_GRACE, NOT_READY
from infra.local.world.pods import controller_of, is_terminating, is_unschedulable, node_of, taints_of
from infra.local.world.store import copy_thing

_SERIAL = "bcdfghjklmnpqrstvwxz0123456789"


def _as_ready(node: Json) -> Json:
    """An upcoming node as it will be once it has booted."""
    fresh: Json = copy_thing(node)
    fresh["spec"]["taints"] = [taint for taint in taints_of(fresh) if taint["key"] != NOT_READY]
    return fresh


def _is_waiting(pod: Json) -> bool:
    return not node_of(pod) and is_unschedulable(pod) and not is_terminating(pod)


class ScaleUp:
    """Adds nodes; `seed` decides their names, `cluster` is part of them."""

    def __init__(self, client: Client, cluster: str, seed: int) -> None:
        self._client = client
        self._cluster = cluster
        self._random = random.Random(seed)  # noqa: S311 - names of a simulated cloud, not secrets

    def step(self, view: View, now: float) -> None:
        waiting = [*filter(_is_waiting, view.pods), *view.chunks]
        if not waiting:
            return
        node_infos = node_infos_of([_as_ready(node) for node in view.nodes], view.pods, disks=view.disks)
        sizes = view.sizes()
        placed: list[Json] = []
        for pod in waiting:
            node_info = first_fit(pod, node_infos)
            if node_info is None:
                self._grow(pod, view, node_infos, sizes, now)
            else:
                node_infos.place(pod, node_info.name)
                placed.append(pod)
        self._count_chunks(view.buffers, placed)

    def _count_chunks(self, buffers: Sequence[Json], placed: Sequence[Json]) -> None:
        """Write into each buffer for how many of its chunks there is room on the nodes that are there."""
        ready = Counter(owner["uid"] for pod in placed if (owner := controller_of(pod)))
        for buffer in buffers:
            count = ready[buffer["metadata"]["uid"]]
            if buffer["status"].get("readyReplicas") != count:
                self._client.patch_buffer(buffer, {"readyReplicas": count})

    def _grow(self, pod: Json, view: View, node_infos: NodeInfos, sizes: Counter[Group], now: float) -> None:
        for pool, zone in self._choices(view, sizes):
            node = make_node(pool, zone, self._cluster, "".join(self._random.choices(_SERIAL, k=4)))
            node_info = NodeInfo(node)
            trial = replace(node_infos, by_name={**node_infos.by_name, node_info.name: node_info})
            if fits(pod, node_info, trial):
                node_infos.by_name[node_info.name] = node_info
                node_infos.place(pod, node_info.name)
                self._add(pod, node, sizes, pool, now)
                return

    def _choices(self, view: View, sizes: Counter[Group]) -> Iterator[tuple[MachinePool, str]]:
        for name in sorted(view.pools):
            pool = view.pools[name]
            for zone in sorted(pool.zones, key=lambda zone: (sizes[(name, zone)], zone)):
                if pool.autoscaling.enabled and sizes[(name, zone)] < pool.autoscaling.max_node_count:
                    yield pool, zone

    def _add(self, pod: Json, node: Json, sizes: Counter[Group], pool: MachinePool, now: float) -> None:
        group, most = group_of(node), pool.autoscaling.max_node_count
        self._client.create_node(node)
        message = f"pod triggered scale-up: [{{{'/'.join(group)} {sizes[group]}->{sizes[group] + 1} (max: {most})}}]"
        sizes[group] += 1
        if not is_chunk(pod):
            self._client.report(pod, "Pod", "TriggeredScaleUp", message, now)


_POLL = 5.0
_AFTER_TAINT = 1.0
_EVICTION_RETRY = 10.0
"""Seconds that no profile changes (cluster-autoscaler's flags and actuation)."""


class RemovalPhase(StrEnum):
    EVICTING = "evicting"
    ENDING = "ending"
    DELETING = "deleting"


@dataclass
class NodeRemoval:
    """One node on its way out; `due_at` is when its next step is due, `until` when its phase has failed."""

    name: str
    group: Group
    phase: RemovalPhase
    due_at: float
    until: float
    drains: bool
    evicted: set[str] = field(default_factory=set)
    longest_grace: int = 0


class Autoscaler:
    """One loop each scan interval: read, grow if pods wait, shrink. `cluster` is part of new nodes' names."""

    def __init__(
        self,
        api: Handler,
        pools: Mapping[str, MachinePool],
        clock: TimeSource,
        settings: AutoscalerSettings = BALANCED,
        *,
        cluster: str = "local",
        seed: int = 0,
    ) -> None:
        self._client, self._pools, self._clock, self._settings = Client(api), pools, clock, settings
        self._up = ScaleUp(self._client, cluster, seed)
        self._candidates = Candidates(settings)
        self._under_way: dict[str, NodeRemoval] = {}
        """By the node's UID."""
        self._next = self._not_before = 0.0

    @property
    def gate(self) -> float:
        """Share of CPU and memory requested up to which a node may be unneeded."""
        return self._settings.threshold

    @property
    def rechecks_within(self) -> float:
        """Seconds within which every node is checked again, also one that could not go."""
        return self._settings.recheck + 2 * self._settings.scan_interval

    def is_idle(self) -> bool:
        """No node is unneeded or on its way out."""
        return not self._candidates.since and not self._under_way

    def fail_deletions(self, names: frozenset[str]) -> None:
        """From now on, deletions of these nodes fail at the cloud."""
        self._settings = replace(self._settings, fail_deletions=names)

    def step(self) -> None:
        """Run a loop if one is due, else go on with removals. RefusedCall if the API failed: the next begins again."""
        now = self._clock.now()
        if now < min([self._next, *(removal.due_at for removal in self._under_way.values())]):
            return
        listed = self._client.list_objects
        view = View(listed("nodes"), listed("pods"), self._pools, listed)
        if now < self._next:
            self._proceed(view, now)
            return
        self._next = now + self._settings.scan_interval
        self._up.step(view, now)
        self._shrink(view, now)

    def _shrink(self, view: View, now: float) -> None:
        self._proceed(view, now)
        self._candidates.update(view, self._leaving(), now)
        self._mark_candidates(view, now)
        if now >= self._not_before:
            self._start_removals(view, now)

    def _proceed(self, view: View, now: float) -> None:
        """Advance every removal that is due by one step."""
        nodes = {node["metadata"]["uid"]: node for node in view.nodes}
        for uid, removal in list(self._under_way.items()):
            if uid not in nodes:
                del self._under_way[uid]
            elif removal.due_at <= now and (failure := self._advance(removal, nodes[uid], view, now)) is not None:
                del self._under_way[uid]
                self._finish(nodes[uid], failure, view, now)

    def _mark_candidates(self, view: View, now: float) -> None:
        for node in view.nodes:
            wanted = node["metadata"]["uid"] in self._candidates.since
            if wanted is has_taint(node, CANDIDATE) or has_taint(node, TO_BE_DELETED):
                continue
            taint = {"key": CANDIDATE, "value": str(int(now)), "effect": "PreferNoSchedule"}
            self._write(node, {"taints": [*taints_of(node), taint] if wanted else without_taint(node, CANDIDATE)})

    def _start_removals(self, view: View, now: float) -> None:
        """Begin with the empty nodes; of the others start only as many as may drain at once."""
        for node in sorted(self._candidates.ripe(view, now), key=lambda node: bool(view.movers(node, now))):
            drains = bool(view.movers(node, now))
            may_go = self._has_room(drains=drains) and not at_minimum(view, node, self._leaving())
            if may_go and self._start(node, now, drains=drains):
                self._candidates.since.pop(node["metadata"]["uid"])

    def _has_room(self, *, drains: bool) -> bool:
        draining = sum(removal.drains for removal in self._under_way.values())
        may_drain = draining < self._settings.drain_parallelism
        return len(self._under_way) < self._settings.parallelism and (may_drain or not drains)

    def _leaving(self) -> Leaving:
        return {uid: removal.group for uid, removal in self._under_way.items()}

    def _start(self, node: Json, now: float, *, drains: bool) -> bool:
        """Taint and cordon the node; False if it changed meanwhile."""
        meta, settings = node["metadata"], self._settings
        taint = {"key": TO_BE_DELETED, "value": str(int(now)), "effect": "NoSchedule"}
        if not self._write(node, {"unschedulable": True, "taints": [*taints_of(node), taint]}):
            return False
        begins = now + _AFTER_TAINT
        phase, due = (RemovalPhase.EVICTING, begins) if drains else (RemovalPhase.DELETING, now + settings.deletion)
        until = begins + settings.eviction_time
        self._client.report(node, "Node", "ScaleDown", "marked the node as toBeDeleted/unschedulable", now)
        self._under_way[meta["uid"]] = NodeRemoval(meta["name"], group_of(node), phase, due, until, drains)
        return True

    def _advance(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        """One step; a text when it is over: why it failed, or nothing if the node may go."""
        match removal.phase:
            case RemovalPhase.EVICTING:
                return self._evict(removal, node, view, now)
            case RemovalPhase.ENDING:
                return self._await_end(removal, node, view, now)
            case RemovalPhase.DELETING:
                if not removal.drains and view.movers(node, now):
                    return "new pods were scheduled on the node"
                return "the instance could not be deleted" if removal.name in self._settings.fail_deletions else ""

    def _evict(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        pods = [pod for pod in view.movers(node, now) if pod["metadata"]["uid"] not in removal.evicted]
        if not removal.evicted and (reason := obstacle(pods, view)):
            return f"failed to drain: {reason}"
        left = [pod for pod in pods if not self._is_evicted(pod, removal)]
        if left and now >= removal.until:
            return f"failed to evict {len(left)} pods in time"
        removal.due_at = now + _EVICTION_RETRY
        if not left:
            removal.phase, removal.due_at = RemovalPhase.ENDING, now
            removal.until = now + removal.longest_grace + self._settings.grace_headroom
        return None

    def _is_evicted(self, pod: Json, removal: NodeRemoval) -> bool:
        grace = int(pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE))
        try:
            if not is_terminating(pod):
                self._client.evict(pod, grace)
        except RefusedCall as error:
            if error.status != 404:  # noqa: PLR2004 - gone is as good as evicted
                return False
        removal.evicted.add(pod["metadata"]["uid"])
        removal.longest_grace = max(removal.longest_grace, grace)
        return True

    def _await_end(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        left = [pod for pod in view.movers(node, now) if pod["metadata"]["uid"] in removal.evicted]
        if left and now >= removal.until:
            return f"{len(left)} pods did not end in time"
        removal.due_at = now + _POLL
        if not left:
            removal.phase, removal.due_at = RemovalPhase.DELETING, now + self._settings.deletion
        return None

    def _finish(self, node: Json, failure: str, view: View, now: float) -> None:
        if failure:
            self._write(node, {"unschedulable": None, "taints": without_taint(node, TO_BE_DELETED)})
            self._client.report(node, "Node", "ScaleDownFailed", f"failed to delete node: {failure}", now)
            self._not_before = now + self._settings.delay_after_failure
        else:
            self._client.report(node, "Node", "ScaleDown", "node removed by cluster autoscaler", now)
            self._client.delete_node(node["metadata"]["name"])
            view.nodes.remove(node)
            self._not_before = now + self._settings.delay_after_delete

    def _write(self, node: Json, spec: Json) -> bool:
        """Patch the node and the view's copy; False if it changed meanwhile: the next loop reads it again."""
        try:
            node.update(self._client.patch_node(node, spec))
        except RefusedCall as error:
            if error.status not in {404, 409}:
                raise
            return False
        return True
