"""The drains of a simulated Ebb: the drainer's own rules, from the claim to the end, on the simulated cluster.

Calls take no time and do not fail: what guards against that (messages, leases, reads seconds old) is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from msgspec import structs

from functions.cli.analysis.simulated_days.measures import Actor
from functions.cli.analysis.simulated_days.pod_lives import end, evict, surge
from functions.cli.analysis.simulated_days.world import World
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import NO_SCHEDULE, Taint
from shared.core.cluster.workloads import Workload
from shared.core.draining.admission import (
    claim_to_be,
    exceeded_limits,
    lost_place,
    may_move,
    needs_whole_snapshot,
    no_place,
    objections,
    refusal_of,
)
from shared.core.draining.completion import deadline, grace_seconds
from shared.core.draining.drain import (
    LOOK_EVERY,
    Await,
    Compare,
    Cordon,
    Evict,
    LeaveToAutoscaler,
    Observation,
    OtherDrain,
    OtherDrains,
    Proof,
    Prove,
    Restart,
    ReturnNode,
    Settle,
    Step,
    WritePhase,
)
from shared.core.draining.evicting import counted_at
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, waiting_for_a_place, with_baselines
from shared.core.draining.surging import asked_of, why_not_restart
from shared.core.placement.demand import as_returned
from shared.core.planning.plan import PlannedOrder
from shared.core.policy import Policy
from shared.core.reasons import ReturnReason
from shared.core.records.claims import grant, longest_rate, mark_drained, settle
from shared.core.records.drain_record import DrainPhase, DrainRecord, EvictionAnswer, PodProgress
from shared.core.records.orders import Order
from shared.core.records.state import ClusterState, Lease, Wave
from shared.core.rules.drain_time import NO_TIME
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation
from shared.core.rules.workload_limits import other_claims


@dataclass
class DrainUnderWay:
    """One drain from its claim until the claim is settled."""

    record: DrainRecord
    since: datetime
    proof: Proof | None = None

    @property
    def node(self) -> str:
        return self.record.order.node

    @property
    def order_id(self) -> str:
        return self.record.order.order_id

    def write(self, **changed: object) -> None:
        self.record = structs.replace(self.record, **changed)


class Drains:
    """All drains under way, and the document that claims stand in."""

    def __init__(self, world: World, policy: Policy) -> None:
        self._world, self._policy = world, policy
        self.state = ClusterState()
        self.wave: Wave | None = None
        self.under_way: dict[str, DrainUnderWay] = {}
        self._orders = 0

    @property
    def records(self) -> dict[str, DrainRecord]:
        return {name.order_id: name.record for name in self.under_way.values()}

    def write(self, after: ClusterState) -> None:
        self._world.onlooker.note_memory(self._world, self.state, after)
        self.state = after

    # the claim

    def claim(self, planned: PlannedOrder, picture_at: datetime) -> None:
        """Claim the node of an order if the rules of admission let it go still, and begin its drain."""
        world, order = self._world, self._order(planned, picture_at)
        node, situation = world.nodes.get(order.node), Situation(world.snapshot(), self.state, self._policy)
        if node is None or refusal_of(order, node, self.state, world.now) or self._is_void(order, node, situation):
            return
        claim, pods = claim_to_be(order, node, situation)
        claim = structs.replace(claim, since=world.now, cost_per_hour=world.prices.of(node).per_hour)
        self.write(grant(self.state, node.uid, claim, longest_rate(self._policy), pods))
        record = DrainRecord(
            order=order,
            phase=DrainPhase.CLAIMED,
            node_uid=node.uid,
            lease=_ALWAYS_AT_WORK,
            deadline=deadline(claim, movable(world.on[node.name].values(), world.now)),
            max_grace=claim.settings.max_grace,
            rules=self._policy.pool(node.pool).pod_rules,
        )
        self.under_way[node.name] = drain = DrainUnderWay(record, world.now)
        world.measures.drains += 1
        self.look(drain)

    def _order(self, planned: PlannedOrder, picture_at: datetime) -> Order:
        self._orders += 1
        return planned.order(f"s{self._orders:06d}", self._world.origin.cluster, picture_at, picture_at)

    def _is_void(self, order: Order, node: Node, situation: Situation) -> bool:
        if objections(order, node, situation):
            return True
        now, nodes = self._world.now, situation.snapshot.nodes
        whole = needs_whole_snapshot(order, self.state, self._waiting(), nodes, now)
        return bool((whole and no_place(node, situation, self.wave)) or exceeded_limits(order, node, situation, now))

    # one look

    def look(self, drain: DrainUnderWay) -> None:
        """Do what the rules answer, until they wait or need nothing more."""
        pause: timedelta | None = NO_TIME
        while pause == NO_TIME and self.under_way.get(drain.node) is drain:
            observed = self._observe(drain)
            pause = self._carry_out(drain, observed, self._next_step(drain, observed))
        if pause:
            self._world.agenda.note(self._world.now + pause, partial(self.look, drain))

    def _next_step(self, drain: DrainUnderWay, observed: Observation) -> Step:
        step = next_step(drain.record, observed, self._world.now)
        if not isinstance(step, Compare):
            return step
        return next_step(drain.record, self._with_others(drain, observed), self._world.now)

    def _observe(self, drain: DrainUnderWay) -> Observation:
        world, uid = self._world, drain.record.node_uid
        pods = tuple(world.on.get(drain.node, {}).values())
        moving = movable(pods, world.now)
        drain.write(emptied_at=None if moving else drain.record.emptied_at or world.now)
        controllers = {*(pod.spec.workload for pod in moving), *drain.record.before}
        return Observation(
            node=world.nodes.get(drain.node),
            claim=self.state.claims.get(uid),
            pods=pods,
            disruption_budgets=tuple(
                world.budgets.now({number for pod in pods for number in world.budgets.of(pod.spec)})
            ),
            workloads=self._workloads(controllers),
            workloads_at=world.now,
            other_claims=other_claims(self.state.claims, uid),
            working=sum(not claim.drained for claim in self.state.claims.values()),
            unbound=self._waiting_for_a_place(drain, pods),
            deletion_begun_at=world.deletion_begun.get(drain.node),
            policy=self._policy,
            emptied_at=drain.record.emptied_at,
            proof=drain.proof,
        )

    def _workloads(self, controllers: set[str]) -> dict[str, Workload]:
        found = ((controller, self._world.controlled.workload(controller)) for controller in sorted(controllers))
        return {key: workload for key, workload in found if workload is not None}

    def _waiting(self) -> tuple[Pod, ...]:
        return tuple(self._world.pods[key] for key in self._world.pending)

    def _waiting_for_a_place(self, drain: DrainUnderWay, pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        held = for_one_pod(claims_on_their_way_out(pods), self._world.origin.storage)
        if held:
            drain.write(claims_held_at=self._world.now)
        return tuple(waiting_for_a_place(pod, held, drain.record.claims_held_at) for pod in self._waiting())

    def _with_others(self, drain: DrainUnderWay, observed: Observation) -> Observation:
        drains = tuple(OtherDrain(name.since, name.record) for name in self.under_way.values() if name is not drain)
        theirs = self._workloads({controller for drain in drains for controller in drain.record.before})
        others = OtherDrains(drains, tuple(self.state.backoffs.values()), self._world.snapshot())
        return replace(observed, others=others, workloads={**theirs, **observed.workloads})

    # steps

    def _carry_out(self, drain: DrainUnderWay, observed: Observation, step: Step) -> timedelta | None:
        """Return after how long to look again; None where the drain needs nothing more."""
        match step:
            case Await(pause):
                return pause
            case Cordon(node):
                self._cordon(drain, node)
            case WritePhase(phase):
                self._reach(drain, phase)
            case Prove():
                drain.proof = self._prove(drain)
            case Evict(pods):
                self._evict(drain, observed, pods)
            case Restart():
                return self._restart(drain, observed, step)
            case ReturnNode(why, detail, gave_way_for):
                self.return_node(drain, why, detail, gave_way_for)
            case Settle():
                self.settle_removed(drain)
            case LeaveToAutoscaler(replaced):
                self._mark_drained(drain, self._world.now if replaced else None)
                return None
        return NO_TIME

    def _cordon(self, drain: DrainUnderWay, node: Node) -> None:
        now, others = self._world.now, (taint for taint in node.taints if taint.key != names.OUR_TAINT)
        ours = Taint(names.OUR_TAINT, NO_SCHEDULE, drain.order_id)
        self._world.change_node(replace(node, unschedulable=True, taints=(*others, ours)))
        if drain.record.phase is DrainPhase.DRAINED:  # the autoscaler had cleared the cordon
            drain.write(cordoned_again_at=now)
        else:
            drain.write(phase=DrainPhase.CORDONED, cordoned_at=now)

    def _reach(self, drain: DrainUnderWay, phase: DrainPhase) -> None:
        drain.write(phase=phase, drained_at=self._world.now)
        self._once_counted(drain, partial(self._mark_drained, drain))

    def _mark_drained(self, drain: DrainUnderWay, replaced: datetime | None = None) -> None:
        self.write(mark_drained(self.state, drain.record.node_uid, drain.order_id, replaced))

    def _prove(self, drain: DrainUnderWay) -> Proof:
        snapshot, state, node = self._world.snapshot(), self.state, self._world.nodes[drain.node]
        against = lost_place(node, snapshot, state, [claim.node for claim in state.claims.values()])
        if against:
            others = [name for name in self.under_way.values() if name is not drain]
            against = lost_place(node, snapshot, state, [other.node for other in others if may_move(other.record)])
        return Proof(self._world.now, self._world.now, against)

    def _evict(self, drain: DrainUnderWay, observed: Observation, pods: tuple[Pod, ...]) -> None:
        drain.write(before=with_baselines(drain.record, observed, pods))
        answers = {pod.key: self._ask(drain, pod) for pod in pods}
        drain.write(pods={**drain.record.pods, **answers})

    def _ask(self, drain: DrainUnderWay, pod: Pod) -> PodProgress:
        refusing, answer = self._world.budgets.refusing(pod), EvictionAnswer.GRANTED
        if refusing:
            answer = EvictionAnswer.SEVERAL_PDBS if len(refusing) > 1 else EvictionAnswer.BUDGET
        else:
            most = timedelta(seconds=grace_seconds(pod, drain.record.max_grace))
            evict(self._world, pod, Actor.EBB, most)
        detail = ", ".join(budget.key for budget in refusing)
        return PodProgress(uid=pod.uid, answer=answer, detail=detail, owner=pod.spec.workload, at=self._world.now)

    def _restart(self, drain: DrainUnderWay, observed: Observation, step: Restart) -> timedelta:
        workload = self._world.controlled.workload(step.pods[0].spec.workload)
        found = workload.deployment if workload else None
        if found is None or why_not_restart(found, step.pods):
            return LOOK_EVERY
        restart = structs.replace(asked_of(found, self._world.now), written=True)
        before = with_baselines(drain.record, observed, step.pods)
        drain.write(before=before, surges={**drain.record.surges, found.name: restart})
        self._world.controlled.restart(found.name, drain.order_id)
        for pod in step.pods:
            surge(self._world, pod)
        return NO_TIME

    # the end

    def return_node(
        self, drain: DrainUnderWay, why: ReturnReason, detail: str = "", gave_way_for: tuple[str, ...] = ()
    ) -> None:
        """End a drain: uncordon its node, undo its restarts, and settle its claim with a back-off."""
        if drain.record.phase is DrainPhase.HALTING:
            return
        world = self._world
        drain.write(phase=DrainPhase.HALTING, why=why.value, detail=detail, gave_way_for=gave_way_for)
        world.measures.returned[why.value] += 1
        if drain.node in world.nodes:
            world.change_node(as_returned(world.nodes[drain.node]))
        self._undo_restarts(drain)
        self._once_counted(drain, partial(self._settle, drain, why))

    def settle_removed(self, drain: DrainUnderWay) -> None:
        self._once_counted(drain, partial(self._settle, drain, None))

    def _settle(self, drain: DrainUnderWay, why: ReturnReason | None) -> None:
        if self.under_way.get(drain.node) is drain:
            del self.under_way[drain.node]
            self.write(settle(self.state, drain.record.node_uid, why, self._world.now, drain.record.gave_way_for))

    def _undo_restarts(self, drain: DrainUnderWay) -> None:
        for name, restart in drain.record.surges.items():
            self._world.controlled.restart(name, restart.before)
        for new, old in list(self._world.replaces.items()):
            if old.node == drain.node:
                del self._world.replaces[new]
                end(self._world, self._world.pods[new])

    def _once_counted(self, drain: DrainUnderWay, action: Callable[[], None]) -> None:
        """Act once the workloads count what was evicted as away, as the drainer does: other drains go by the claim."""
        at = counted_at(drain.record)
        if at is None or at <= self._world.now:
            action()
        else:
            self._world.agenda.note(at, action)


_ALWAYS_AT_WORK: Final = Lease("simulated", datetime.max.replace(tzinfo=UTC))
"""No step of a simulated drain falls silent."""
