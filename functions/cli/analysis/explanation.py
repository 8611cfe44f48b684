"""What is known of one node, pod or workload, by the pass's own rules after the orders that the plan has before it."""

from dataclasses import dataclass
from datetime import datetime

from functions.cli.analysis.exclusions import Landing, landings
from functions.cli.analysis.openings import Closed, describe_gate
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.placement import Simulation
from shared.core.placement.search import LITTLE
from shared.core.planning.bill import Bill, Savings
from shared.core.planning.candidates import assess_nodes, counts_and_excess
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.planning.selection import planned_simulation
from shared.core.policy.values import FLEXIBLE
from shared.core.reasons import Blocker
from shared.core.rules.drain_time import DrainTime
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import blockers
from shared.core.rules.pods import judge, movable
from shared.core.rules.situation import Situation
from shared.core.rules.surges import is_surged, restart_together


@dataclass(frozen=True, slots=True)
class NodeWorth:
    """A node's marginal worth where capacity is committed, in micro-dollars an hour."""

    saves: int
    covered_by: tuple[str, ...] = ()
    """The families whose commitments cover what it saves less than it costs; empty if it saves its price."""
    saves_from: datetime | None = None
    """When it saves more than now, because commitments have ended; None if no known end changes that."""
    saves_then: int = 0


def worth_of(savings: Savings | None, node: Node) -> NodeWorth | None:
    """Return what the bill falls by without the node alone; None where nothing is committed."""
    if savings is None or savings.bill.is_list:
        return None
    saves = savings.of(node)
    if savings.bill.prices.of(node).per_hour - saves <= LITTLE:
        return NodeWorth(saves)
    covered = _covering(savings.bill, node)
    then = ((at, savings_then.of(node)) for at, savings_then in savings.later)
    more = next(((at, saved) for at, saved in then if saved - saves > LITTLE), None)
    return NodeWorth(saves, covered, *more) if more else NodeWorth(saves, covered)


def _covering(bill: Bill, node: Node) -> tuple[str, ...]:
    """Return the commitment of the node's own family, and the flexible one."""
    size = bill.prices.size(node.machine)
    own = {commitment.family for commitment in bill.commitments.families if size and commitment.family == size[0]}
    return (*sorted(own), *((FLEXIBLE,) if bill.commitments.flexible else ()))


@dataclass(frozen=True, slots=True)
class PodPlace:
    """One pod of a node: what keeps it, where it would land, and the budgets that speak for it."""

    landing: Landing
    blockers: tuple[Blocker, ...]
    budgets: tuple[PodDisruptionBudget, ...]
    workload: Workload
    restarts: str = ""
    """The Deployment that a drain restarts, so that the pod leaves without a gap; empty of one that is evicted."""

    @property
    def pod(self) -> Pod:
        return self.landing.pod


@dataclass(frozen=True, slots=True)
class NodeExplanation:
    """One node. `closed` are the gates that it would meet now, whether or not its mark is old enough."""

    node: Node
    decision: NodeDecision
    pods: tuple[PodPlace, ...]
    staying: int  # Pods that go with the node: DaemonSets', mirror and finished ones.
    refusal: str  # Why its pods do not all fit at once under every strategy; empty where they do.
    takes: DrainTime
    closed: tuple[Closed, ...]
    worth: NodeWorth | None = None


class Explainer:
    """Explains a plan; keep one for a plan, it makes the simulation once."""

    def __init__(self, situation: Situation, plan: Plan) -> None:
        self._situation = situation
        self._plan = plan
        self._simulation = planned_simulation(situation)
        self._rows = {row.node.name: row for row in assess_nodes(situation)}
        self._counts, _ = counts_and_excess(situation, tuple(self._rows.values()))
        self._decisions = {decision.name: decision for decision in plan.decisions}
        self._explained: dict[str, NodeExplanation] = {}

    def node(self, name: str) -> NodeExplanation:
        """Return all about a node; raises KeyError where no node has that name."""
        if name not in self._explained:
            self._explained[name] = self._explain(name)
        return self._explained[name]

    def _explain(self, name: str) -> NodeExplanation:
        assessed, situation = self._rows[name], self._situation
        pods = situation.snapshot.pods_by_node[name]
        moving = movable(pods, situation.now)
        decision = self._decisions[name]
        proposed = ProposedDrain(self._counts, assessed.node, assessed.reason)
        gates = () if assessed.claimed_by is not None else blockers(self._counts, assessed.node, assessed.reason)
        places, refusal = self._places(name)
        return NodeExplanation(
            node=assessed.node,
            decision=decision,
            pods=places,
            staying=len(pods) - len(moving),
            refusal=refusal,
            takes=decision.drain or situation.drain_estimate(assessed.node).alone,
            closed=tuple(describe_gate(blocker, proposed) for blocker in gates),
            worth=worth_of(self._plan.savings, assessed.node),
        )

    def pod(self, pod: Pod) -> tuple[NodeExplanation, PodPlace | None]:
        """Return all about a pod's node, and of the pod itself; None of one that goes with its node."""
        found = self.node(pod.node)
        return found, next((place for place in found.pods if place.pod.key == pod.key), None)

    def _places(self, name: str) -> tuple[tuple[PodPlace, ...], str]:
        simulation = self._before(name)
        if self._decisions[name].verdict is Verdict.IN_FLIGHT:
            kept = {move.pod: move.node for move in simulation.assignments.reservations()}
            pods = movable(self._situation.snapshot.pods_by_node[name], self._situation.now)
            return tuple(self._place(Landing(pod, kept.get(pod.key, "")), name) for pod in pods), ""
        found = landings(simulation, name)
        refused = simulation.refuses(name)
        refusal = refused.sentence if refused else ""
        return tuple(self._place(landing, name) for landing in found), refusal

    def _before(self, name: str) -> Simulation:
        simulation = self._simulation.copy()
        for order in self._plan.orders:
            if order.node == name:
                break
            simulation.try_remove(order.node)
        return simulation

    def _place(self, landing: Landing, name: str) -> PodPlace:
        context = self._situation.drain_context(self._situation.snapshot.node_by_name[name].pool)
        spec = landing.pod.spec
        apart = restart_together(self._situation.moving(name), context)
        own = (blocker for blocker in apart if blocker.object == landing.pod.key)
        found, workload = (*judge(landing.pod, context), *own), context.workload_of(spec)
        restarts = workload.name if is_surged(spec, context) and not found else ""
        return PodPlace(landing, found, context.budgets_of(spec), workload, restarts)
