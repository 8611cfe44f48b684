"""Which nodes are unneeded, and since when: eligibility, simulation, the clock of each, and who is not looked at again.

Source: cluster-autoscaler pkg/core/scaledown (eligibility, planner, unneeded, unremovable). Must not write.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from infra.local.machine_types import MachinePool
from infra.local.scaling.drainability import obstacle
from infra.local.scaling.settings import AutoscalerSettings
from infra.local.scaling.simulation import RemovalSimulation
from infra.local.scaling.utilisation import GPU_LABEL, utilisation
from infra.local.scaling.view import DISABLED, TO_BE_DELETED, Group, View, group_of, has_taint, is_reserved
from infra.local.world.kinds import Json
from infra.local.world.pods import annotations_of, is_finished, is_ready, is_terminating, labels_of, node_of, owner_kind


def at_minimum(pool: MachinePool, group: Group, sizes: Counter[Group], leaving: Counter[Group]) -> bool:
    """May no further node of the group go? `leaving` are the nodes on their way out."""
    if pool.total_max_nodes is not None or pool.total_min_nodes is not None:
        own = sum(size for (name, _), size in sizes.items() if name == pool.name)
        gone = sum(size for (name, _), size in leaving.items() if name == pool.name)
        return own - gone <= (pool.total_min_nodes or 0)
    return sizes[group] - leaving[group] <= pool.min_nodes


@dataclass(frozen=True)
class Leaving:
    """What is on its way out already: nodes by UID, and how many of each group."""

    uids: Collection[str] = ()
    groups: Counter[Group] = field(default_factory=Counter)


@dataclass
class Candidates:
    """The unneeded nodes by UID, each with the time since when it was so in every loop."""

    settings: AutoscalerSettings
    since: dict[str, float] = field(default_factory=dict)
    _parked: dict[str, float] = field(default_factory=dict)

    def update(self, view: View, leaving: Leaving, now: float) -> None:
        """Look at every node anew, empty ones first, then those that were unneeded before."""
        self._parked = {uid: until for uid, until in self._parked.items() if until > now}
        eligible = [node for node in view.nodes if self._is_eligible(view, node, leaving, now)]
        movers = {node["metadata"]["uid"]: view.movers(node, now) for node in eligible}
        simulation = self._begun(view, leaving) if any(movers.values()) or view.chunks else None
        since: dict[str, float] = {}
        for node in sorted(eligible, key=lambda node: self._turn(node, movers)):
            uid = node["metadata"]["uid"]
            if simulation is None or self._can_go(view, node, movers[uid], simulation, now):
                since[uid] = self.since.get(uid, now)
            else:
                self._parked[uid] = now + self.settings.recheck
        self.since = since

    def ripe(self, view: View, now: float) -> list[Json]:
        """The nodes that have been unneeded for long enough."""
        return [node for node in view.nodes if self._is_ripe(view, node, now)]

    def _is_ripe(self, view: View, node: Json, now: float) -> bool:
        said = view.rule_of(node).unneeded_time
        waits = self.settings.unneeded_time if said is None else said
        return self.since.get(node["metadata"]["uid"], now + 1) <= now - waits

    def _turn(self, node: Json, movers: dict[str, list[Json]]) -> tuple[bool, bool]:
        uid = node["metadata"]["uid"]
        return bool(movers[uid]), uid not in self.since

    def _begun(self, view: View, leaving: Leaving) -> RemovalSimulation:
        """A simulation in which all that already looks for room has taken it."""
        simulation = RemovalSimulation(view)
        simulation.place(pod for pod in view.pods if _waits(pod))
        simulation.place(view.chunks)
        for node in view.nodes:
            if node["metadata"]["uid"] in leaving.uids:
                simulation.remove(node, [pod for pod in view.pods_on(node) if _comes_again(pod)])
        return simulation

    def _is_eligible(self, view: View, node: Json, leaving: Leaving, now: float) -> bool:
        pool, uid = view.pool_of(node), node["metadata"]["uid"]
        if pool is None or not pool.autoscaled or uid in leaving.uids or uid in self._parked:
            return False
        if not is_ready(node):  # it boots for pods that wait, or counts by scaleDownUnreadyTime (20 min)
            return False
        if annotations_of(node).get(DISABLED) == "true" or has_taint(node, TO_BE_DELETED) or is_reserved(node):
            return False
        if at_minimum(pool, group_of(node), view.sizes(), leaving.groups):
            return False
        share = utilisation(view, node, now, ignore_daemonsets=self.settings.ignore_daemonsets)
        rule = view.rule_of(node)
        said = rule.gpu_threshold if GPU_LABEL in labels_of(node) else rule.threshold
        return share <= (self.settings.threshold if said is None else said)

    def _can_go(self, view: View, node: Json, movers: list[Json], simulation: RemovalSimulation, now: float) -> bool:
        return obstacle(movers, view, now) is None and simulation.remove(node, movers)


def _waits(pod: Json) -> bool:
    return not (node_of(pod) or is_finished(pod) or is_terminating(pod) or pod["spec"].get("schedulingGates"))


def _comes_again(pod: Json) -> bool:
    """A pod of a node being drained whose replacement is not there yet; a StatefulSet's waits for its end."""
    return bool(owner_kind(pod)) and (not is_terminating(pod) or owner_kind(pod) == "StatefulSet")
