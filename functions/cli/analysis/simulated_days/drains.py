"""The drains of a simulated Ebb: claim, cordon, evictions within every limit, and the node left or given back.

The drainer's steps without their messages: what may be evicted now is asked of the world's counts every few seconds.
A drain whose replacements find no place, or that takes too long, is given back as the real one is.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import evict, movers
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import NO_SCHEDULE, Taint
from shared.core.placement.demand import as_given_back
from shared.core.planning.plan import PlannedOrder
from shared.core.policy import DrainSettings, Policy
from shared.core.reasons import Halt
from shared.core.records.claims import drain_settings, grant, longest_rate, mark_drained, settle
from shared.core.records.orders import Origin
from shared.core.records.state import Claim, ClusterState
from shared.core.rules.gates import claim_blockers
from shared.core.rules.situation import Situation

ORDER: Final = "s"


@dataclass
class StandingDrain:
    """One claim that stands."""

    node: str
    uid: str
    order_id: str
    deadline: datetime
    settings: DrainSettings
    drained_at: datetime | None = None
    moved: set[str] = field(default_factory=set)
    """The controllers of the pods that were evicted."""


class Drains:
    """All drains under way, and the document that claims stand in."""

    def __init__(self, world: World, policy: Policy) -> None:
        self._world, self._policy = world, policy
        self.state = ClusterState()
        self.under_way: dict[str, StandingDrain] = {}
        """By node."""
        self._orders = 0

    def claim(self, order: PlannedOrder) -> None:
        """Take the node out of the budgets, if every gate of the claim is open still, and cordon it."""
        world, node = self._world, self._world.nodes.get(order.node)
        if node is None or node.has_taint(names.AUTOSCALER_DELETING_TAINT) or node.name in self.under_way:
            return
        counts = Situation(world.snapshot(), self.state, self._policy).counts([node])
        if claim_blockers(counts, node, order.reason):
            return
        self._orders += 1
        claim = self._claim_of(node, order)
        moving = dict(counts.moved_pods.get(node.uid, {}))
        self._write(grant(self.state, node.uid, claim, longest_rate(self._policy), moving))
        self._begin(node, claim)

    def give_back(self, name: str, why: Halt) -> None:
        """End a drain: the node is open again, and left alone for a while where the node was the reason."""
        drain = self.under_way.pop(name)
        self._write(settle(self.state, drain.uid, why, self._world.now))
        self._world.measures.given_back[why.value] += 1
        if name in self._world.nodes:
            self._world.change_node(as_given_back(self._world.nodes[name]))

    def settle_removed(self) -> None:
        """End the claims of nodes that are gone."""
        for name in [name for name in self.under_way if name not in self._world.nodes]:
            self._write(settle(self.state, self.under_way.pop(name).uid, None, self._world.now))

    def _write(self, after: ClusterState) -> None:
        self._world.onlooker.remembered(self._world, self.state, after)
        self.state = after

    def _claim_of(self, node: Node, order: PlannedOrder) -> Claim:
        return Claim(
            order_id=f"{ORDER}{self._orders:06d}",
            node=node.name,
            pool=node.pool,
            zone=node.zone,
            since=self._world.now,
            reason=order.reason,
            origin=Origin.PLANNER,
            settings=drain_settings(self._policy, self._world.picture.scale_down(node)),
        )

    def _begin(self, node: Node, claim: Claim) -> None:
        world = self._world
        taint = Taint(names.OUR_TAINT, NO_SCHEDULE, claim.order_id)
        world.change_node(replace(node, unschedulable=True, taints=(*node.taints, taint)))
        world.measures.drains += 1
        graces = (
            min(pod.spec.grace_seconds, claim.settings.max_grace.total_seconds()) for pod in self._left(node.name)
        )
        deadline = world.now + claim.settings.timeout + timedelta(seconds=max(graces, default=0))
        drain = StandingDrain(node.name, node.uid, claim.order_id, deadline, claim.settings)
        self.under_way[node.name] = drain
        world.agenda.note(world.now + world.delays.settle, lambda: self._step(drain))

    def _step(self, drain: StandingDrain) -> None:
        world = self._world
        if self.under_way.get(drain.node) is not drain or drain.node not in world.nodes:
            return
        self._evict(drain)
        if self._is_stranded(drain):
            self.give_back(drain.node, Halt.REPLACEMENT_PENDING)
        elif not self._left(drain.node) and not self._owed(drain):
            drain.drained_at = world.now
            self.state = mark_drained(self.state, drain.uid, drain.order_id)
        elif world.now >= drain.deadline:
            self.give_back(drain.node, Halt.DEADLINE)
        else:
            world.agenda.note(world.now + world.delays.retry, lambda: self._step(drain))

    def _evict(self, drain: StandingDrain) -> None:
        """Ask for every pod that may go now, ordinary ones before critical ones."""
        world = self._world
        left = [pod for pod in self._left(drain.node) if pod.deleting is None]
        under_way = len(self._left(drain.node)) - len(left)
        ordinary = [pod for pod in left if not pod.spec.critical]
        for pod in ordinary or left:
            if under_way < drain.settings.max_parallel_evictions and self._may_go(pod):
                evict(world, pod, Actor.EBB)
                drain.moved.add(pod.spec.workload)
                under_way += 1

    def _may_go(self, pod: Pod) -> bool:
        world = self._world
        budgets = world.budgets.of(pod.spec)
        if budgets or not pod.ready:
            return all(world.budgets.allowed(number) for number in budgets)
        workload = world.controlled.workload(pod.spec.workload)
        if workload is None or workload.single or workload.away is None:
            return True
        pool = self._policy.pool(world.nodes[pod.node].pool)
        return workload.away < workload.may_be_away(pool.unprotected)

    def _left(self, node: str) -> list[Pod]:
        return list(movers(self._world.on.get(node, {}).values()))

    def _owed(self, drain: StandingDrain) -> list[Pod]:
        """Return the pods that wait for a node because of this drain."""
        world = self._world
        return [world.pods[key] for key in world.pending if world.moved_from.get(key) == drain.node]

    def _is_stranded(self, drain: StandingDrain) -> bool:
        grace = drain.settings.pending_grace
        waits = (pod.unschedulable_since for pod in self._owed(drain))
        return any(since is not None and self._world.now - since > grace for since in waits)
