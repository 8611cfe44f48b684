"""Scale-down of the simulated autoscaler: unneeded nodes, their drain and their deletion."""

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum

from infra.local.clocks import stamp
from infra.local.scaling.candidates import Candidates, Leaving, at_minimum, obstacle
from infra.local.scaling.client import Client, RefusedCall
from infra.local.scaling.view import (
    CANDIDATE,
    TO_BE_DELETED,
    AutoscalerSettings,
    Group,
    View,
    group_of,
    has_taint,
    taints_of,
    without_taint,
)
from infra.local.world.kinds import Json
from infra.local.world.kubelet import DEFAULT_GRACE
from infra.local.world.pods import is_terminating

_POLL = 5.0


class RemovalPhase(StrEnum):
    """Where a removal stands."""

    EVICTING = "evicting"
    ENDING = "ending"
    DELETING = "deleting"


@dataclass
class NodeRemoval:
    """One node on its way out; `due_at` is when it is looked at next, `until` when its phase has failed."""

    name: str
    group: Group
    phase: RemovalPhase
    due_at: float
    until: float = 0.0
    drains: bool = False
    evicted: set[str] = field(default_factory=set)
    longest_grace: int = 0


@dataclass
class Removals:
    """All removals under way by the node's UID; `not_before` is when the next may begin."""

    client: Client
    settings: AutoscalerSettings
    under_way: dict[str, NodeRemoval] = field(default_factory=dict)
    not_before: float = 0.0

    def leaving(self) -> Leaving:
        return Leaving(frozenset(self.under_way), Counter(removal.group for removal in self.under_way.values()))

    def drains(self) -> int:
        """How many of them still move pods or did."""
        return sum(removal.drains for removal in self.under_way.values())

    def due_at(self) -> float:
        """When the next of them is to be looked at."""
        return min((removal.due_at for removal in self.under_way.values()), default=float("inf"))

    def start(self, node: Json, now: float, *, drains: bool) -> bool:
        """Taint and cordon the node; False if it changed meanwhile."""
        meta, settings = node["metadata"], self.settings
        taint = {"key": TO_BE_DELETED, "value": str(int(now)), "effect": "NoSchedule"}
        if not write(self.client, node, {"unschedulable": True, "taints": [*taints_of(node), taint]}):
            return False
        begins = now + settings.delay_after_taint
        phase, due = (RemovalPhase.EVICTING, begins) if drains else (RemovalPhase.DELETING, now + settings.deletion)
        until = begins + settings.eviction_time
        self.client.event(node, "Node", "ScaleDown", "marked the node as toBeDeleted/unschedulable", stamp(now))
        self.under_way[meta["uid"]] = NodeRemoval(meta["name"], group_of(node), phase, due, until, drains)
        return True

    def proceed(self, view: View, now: float) -> None:
        """Take every removal that is due one step on."""
        nodes = {node["metadata"]["uid"]: node for node in view.nodes}
        for uid, removal in list(self.under_way.items()):
            if uid not in nodes:
                del self.under_way[uid]
            elif removal.due_at <= now and (why := self._step(removal, nodes[uid], view, now)) is not None:
                del self.under_way[uid]
                self._end(nodes[uid], why, view, now)

    def release(self, node: Json) -> None:
        write(self.client, node, {"unschedulable": None, "taints": without_taint(node, TO_BE_DELETED)})

    def _step(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        """One step; a text when it is over: why it failed, or nothing if the node may go."""
        match removal.phase:
            case RemovalPhase.EVICTING:
                return self._evict(removal, node, view, now)
            case RemovalPhase.ENDING:
                return self._await(removal, node, view, now)
            case RemovalPhase.DELETING:
                return self._deletable(removal, node, view, now)

    def _evict(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        pods = [pod for pod in view.movers(node, now) if pod["metadata"]["uid"] not in removal.evicted]
        if not removal.evicted and (why := obstacle(pods, view, now)):
            return f"failed to drain: {why}"
        left = [pod for pod in pods if not self._is_evicted(pod, removal)]
        if left and now >= removal.until:
            return f"failed to evict {len(left)} pods in time"
        removal.due_at = now + self.settings.eviction_retry
        if not left:
            removal.phase, removal.due_at = RemovalPhase.ENDING, now
            removal.until = now + removal.longest_grace + self.settings.grace_headroom
        return None

    def _is_evicted(self, pod: Json, removal: NodeRemoval) -> bool:
        own = int(pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE))
        grace = min(own, self.settings.longest_grace)
        try:
            if not is_terminating(pod):
                self.client.evict(pod, grace)
        except RefusedCall as error:
            if error.status != 404:  # noqa: PLR2004 - gone is as good as evicted
                return False
        removal.evicted.add(pod["metadata"]["uid"])
        removal.longest_grace = max(removal.longest_grace, grace)
        return True

    def _await(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str | None:
        left = [pod for pod in view.movers(node, now) if pod["metadata"]["uid"] in removal.evicted]
        if left and now >= removal.until:
            return f"{len(left)} pods did not end in time"
        removal.due_at = now + _POLL
        if not left:
            removal.phase, removal.due_at = RemovalPhase.DELETING, now + self.settings.deletion
        return None

    def _deletable(self, removal: NodeRemoval, node: Json, view: View, now: float) -> str:
        if not removal.drains and view.movers(node, now):
            return "new pods were scheduled on the node"
        return "the instance could not be deleted" if removal.name in self.settings.fail_deletions else ""

    def _end(self, node: Json, why: str, view: View, now: float) -> None:
        if why:
            self.release(node)
            self.client.event(node, "Node", "ScaleDownFailed", f"failed to delete node: {why}", stamp(now))
            self.not_before = now + self.settings.delay_after_failure
        else:
            self.client.event(node, "Node", "ScaleDown", "node removed by cluster autoscaler", stamp(now))
            self.client.delete_node(node["metadata"]["name"])
            view.nodes.remove(node)
            self.not_before = now + self.settings.delay_after_delete


def write(client: Client, node: Json, spec: Json) -> bool:
    """Patch the node and the view's copy; False if it changed meanwhile (the next loop sees it anew)."""
    try:
        node.update(client.patch_node(node, spec))
    except RefusedCall as error:
        if error.status not in {404, 409}:
            raise
        return False
    return True


class ScaleDown:
    """Everything that makes nodes fewer."""

    def __init__(self, client: Client, settings: AutoscalerSettings) -> None:
        self._client = client
        self._candidates = Candidates(settings)
        self._removals = Removals(client, settings)
        self._started = False

    def fail_deletions(self, names: frozenset[str]) -> None:
        self._removals.settings = replace(self._removals.settings, fail_deletions=names)

    def due_at(self) -> float:
        """When a removal under way is to be looked at, between two loops."""
        return self._removals.due_at()

    def is_idle(self) -> bool:
        """No node is unneeded or on its way out."""
        return not self._candidates.since and not self._removals.under_way

    def proceed(self, view: View, now: float) -> None:
        """Go on with the removals under way."""
        self._removals.proceed(view, now)

    def step(self, view: View, now: float) -> None:
        """One loop."""
        if not self._started:
            self._clean_up(view)
        self.proceed(view, now)
        self._candidates.update(view, self._removals.leaving(), now)
        self._mark_candidates(view, now)
        if now >= self._removals.not_before:
            self._start(view, now)

    def _clean_up(self, view: View) -> None:
        """After a start, every ToBeDeleted taint is taken off and the node is uncordoned."""
        for node in view.nodes:
            if has_taint(node, TO_BE_DELETED):
                self._removals.release(node)
        self._started = True

    def _mark_candidates(self, view: View, now: float) -> None:
        for node in view.nodes:
            wanted = node["metadata"]["uid"] in self._candidates.since
            if wanted is has_taint(node, CANDIDATE) or has_taint(node, TO_BE_DELETED):
                continue
            taint = {"key": CANDIDATE, "value": str(int(now)), "effect": "PreferNoSchedule"}
            taints = [*taints_of(node), taint] if wanted else without_taint(node, CANDIDATE)
            write(self._client, node, {"taints": taints})

    def _start(self, view: View, now: float) -> None:
        ripe = self._candidates.ripe(view, now)
        for node in sorted(ripe, key=lambda node: bool(view.movers(node, now))):
            drains = bool(view.movers(node, now))
            may = self._has_room(drains=drains) and not self._at_minimum(view, node)
            if may and self._removals.start(node, now, drains=drains):
                self._candidates.since.pop(node["metadata"]["uid"])

    def _has_room(self, *, drains: bool) -> bool:
        settings, removals = self._removals.settings, self._removals
        if len(removals.under_way) >= settings.parallelism:
            return False
        return not drains or removals.drains() < settings.drain_parallelism

    def _at_minimum(self, view: View, node: Json) -> bool:
        pool = view.pool_of(node)
        return pool is None or at_minimum(pool, group_of(node), view.sizes(), self._removals.leaving().groups)
