"""Scale-down: which nodes are unneeded, since when, and their removal with the taints and events of the real one.

Only nodes without movable pods go: this autoscaler never drains. It clears `unschedulable` after a failed deletion
without asking who cordoned the node, as the real one does (pkg/utils/taints CleanTaints).
"""

from collections import Counter
from dataclasses import dataclass, replace

from infra.local.clocks import stamp
from infra.local.machines import Pool
from infra.local.scaling.client import ApiError, Client
from infra.local.scaling.settings import AutoscalerSettings
from infra.local.scaling.view import (
    CANDIDATE,
    DISABLED,
    TO_BE_DELETED,
    Group,
    View,
    group_of,
    has_taint,
    is_movable,
    taints_of,
    without_taint,
)
from infra.local.world.kinds import Json
from infra.local.world.pods import annotations_of, is_ready


@dataclass(frozen=True)
class _Deletion:
    name: str
    group: Group
    due_at: float


def at_minimum(pool: Pool, group: Group, sizes: Counter[Group], leaving: Counter[Group]) -> bool:
    """May no further node of the group go? `leaving` are the nodes on their way out."""
    if pool.total_max_nodes is not None or pool.total_min_nodes is not None:
        own = sum(size for (name, _), size in sizes.items() if name == pool.name)
        gone = sum(size for (name, _), size in leaving.items() if name == pool.name)
        return own - gone <= (pool.total_min_nodes or 0)
    return sizes[group] - leaving[group] <= pool.min_nodes


class ScaleDown:
    """Keeps the clock of each unneeded node and removes those whose time has come."""

    def __init__(self, client: Client, settings: AutoscalerSettings) -> None:
        self._client = client
        self.settings = settings
        self._since: dict[str, float] = {}
        self._deletions: dict[str, _Deletion] = {}
        self._not_before = 0.0
        self._started = False

    def fail_deletions(self, names: frozenset[str]) -> None:
        self.settings = replace(self.settings, fail_deletions=names)

    def step(self, view: View, now: float) -> None:
        if not self._started:
            self._clean_up(view)
        self._finish_deletions(view, now)
        self._watch(view, now)
        self._mark_candidates(view, now)
        if now >= self._not_before:
            self._start_deletions(view, now)

    def _clean_up(self, view: View) -> None:
        """After a start, every ToBeDeleted taint is taken off and the node is uncordoned."""
        for node in view.nodes:
            if has_taint(node, TO_BE_DELETED):
                self._release(node)
        self._started = True

    def unneeded(self, view: View, node: Json) -> bool:
        """Could the node go, its time and the size of its group apart?"""
        pool = view.pool_of(node)
        if pool is None or not pool.autoscaled or annotations_of(node).get(DISABLED) == "true":
            return False
        if not is_ready(node):  # it boots for pods that wait, or counts by scaleDownUnreadyTime (20 min)
            return False
        if any(is_movable(pod) for pod in view.pods_on(node)):
            return False
        return view.utilisation(node, ignore_daemonsets=self.settings.ignore_daemonsets) <= self.settings.threshold

    def _watch(self, view: View, now: float) -> None:
        sizes, leaving = view.sizes(), self._leaving()
        since: dict[str, float] = {}
        for node in view.nodes:
            uid, pool = node["metadata"]["uid"], view.pool_of(node)
            if pool is None or uid in self._deletions or not self.unneeded(view, node):
                continue
            if not at_minimum(pool, group_of(node), sizes, leaving):
                since[uid] = self._since.get(uid, now)
        self._since = since

    def _leaving(self) -> Counter[Group]:
        return Counter(deletion.group for deletion in self._deletions.values())

    def _mark_candidates(self, view: View, now: float) -> None:
        for node in view.nodes:
            wanted = node["metadata"]["uid"] in self._since
            if wanted is has_taint(node, CANDIDATE) or has_taint(node, TO_BE_DELETED):
                continue
            taint = {"key": CANDIDATE, "value": str(int(now)), "effect": "PreferNoSchedule"}
            taints = [*taints_of(node), taint] if wanted else without_taint(node, CANDIDATE)
            self._write(node, {"taints": taints})

    def _start_deletions(self, view: View, now: float) -> None:
        sizes = view.sizes()
        for node in view.nodes:
            uid, pool = node["metadata"]["uid"], view.pool_of(node)
            since = self._since.get(uid)
            if since is None or pool is None or since + self.settings.unneeded_time > now:
                continue
            full = len(self._deletions) >= self.settings.parallelism
            if not full and not at_minimum(pool, group_of(node), sizes, self._leaving()):
                self._start(node, now)

    def _start(self, node: Json, now: float) -> None:
        meta = node["metadata"]
        taint = {"key": TO_BE_DELETED, "value": str(int(now)), "effect": "NoSchedule"}
        fresh = self._write(node, {"unschedulable": True, "taints": [*taints_of(node), taint]})
        if fresh:
            self._deletions[meta["uid"]] = _Deletion(meta["name"], group_of(node), now + self.settings.deletion)
            del self._since[meta["uid"]]

    def _finish_deletions(self, view: View, now: float) -> None:
        nodes = {node["metadata"]["uid"]: node for node in view.nodes}
        for uid, deletion in list(self._deletions.items()):
            if uid not in nodes:
                del self._deletions[uid]
            elif deletion.due_at <= now:
                del self._deletions[uid]
                self._finish(view, nodes[uid], now)

    def _finish(self, view: View, node: Json, now: float) -> None:
        name = node["metadata"]["name"]
        if any(is_movable(pod) for pod in view.pods_on(node)):
            self._fail(node, "new pods were scheduled on the node", now)
        elif name in self.settings.fail_deletions:
            self._fail(node, "the instance could not be deleted", now)
        else:
            self._client.event(node, "Node", "ScaleDown", "node removed by cluster autoscaler", stamp(now))
            self._client.delete_node(name)
            view.nodes.remove(node)
            self._not_before = now + self.settings.delay_after_delete

    def _fail(self, node: Json, why: str, now: float) -> None:
        self._release(node)
        message = f"failed to delete empty node: {why}"
        self._client.event(node, "Node", "ScaleDownFailed", message, stamp(now))
        self._not_before = now + self.settings.delay_after_failure

    def _release(self, node: Json) -> None:
        self._write(node, {"unschedulable": None, "taints": without_taint(node, TO_BE_DELETED)})

    def _write(self, node: Json, spec: Json) -> bool:
        """Patch the node and the view's copy; False if it changed meanwhile (the next loop sees it anew)."""
        try:
            node.update(self._client.patch_node(node, spec))
        except ApiError as error:
            if error.status not in {404, 409}:
                raise
            return False
        return True
