"""A pass in numbers: how many nodes, how full, what they cost, what holds Ebb back, and the savings it missed.

A missed saving is a node that the steady state is without, or one that only a pod, a budget or time keeps.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from shared.core.cluster.resources import Resources, total
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.planning.prices import Prices
from shared.core.reasons import ReasonGroup, Unremovable, group_of
from shared.core.records.claims import hours_since, open_breakers, still_saved
from shared.core.records.state import INTERVAL, Claim, ClusterState
from shared.core.rules.drain_time import LONGEST_DISK_MOVES
from shared.core.rules.utilization import is_untainted


@dataclass(frozen=True, slots=True)
class NodeMetrics:
    """The nodes of one pool, or of the whole cluster, without those that stand by or that Google manages."""

    nodes: int
    ready_nodes: int
    non_tainted_nodes: int  # Schedulable and without a taint that repels pods (node-refiner).
    unschedulable_nodes: int  # Cordoned, by whomever.
    underutilized: int
    marked: int
    in_flight: int
    pods: int
    allocatable: Resources
    requested: Resources
    excess: Fraction | None
    cost: int  # Micro-dollars per hour.
    saving: int  # Micro-dollars per hour that this pass's orders save (in dry run: would save).

    @property
    def cpu_ratio(self) -> Fraction | None:
        return _share(self.requested.cpu, self.allocatable.cpu)

    @property
    def memory_ratio(self) -> Fraction | None:
        return _share(self.requested.memory, self.allocatable.memory)


@dataclass(frozen=True, slots=True)
class ClusterMetrics:
    unschedulable_pods: int  # Pods that the scheduler has found no place for.
    oldest_mark: timedelta
    kept: Mapping[ReasonGroup, int]  # How many nodes stay, by group; all groups are named.
    claims: int
    overdue_claims: int  # Claims older than drain deadline, watchdog and two passes: none should ever be.
    open_breakers: int
    backing_off: int
    reclaimed_nodes: int
    reclaimed_cost: int  # Micro-dollars per hour, as `reclaimed` counts it.
    bill: int | None
    """What is paid for all nodes with commitments, in micro-dollars per hour; None where nothing is committed."""
    idle: int | None  # What of that is paid for commitments that no node uses.
    hours: float  # Hours since the last pass: reclaimed nodes and cost times these are node-hours and money.


def node_metrics(plan: Plan, snapshot: Snapshot, prices: Prices, pool: str | None = None) -> NodeMetrics:
    """Return a pool's numbers, or the whole cluster's, whose pods include those that are bound to no node."""
    rows = [row for row in plan.decisions if not row.outside and pool in {None, row.pool}]
    nodes = [snapshot.node_by_name[row.name] for row in rows]
    names = {node.name for node in nodes}
    return NodeMetrics(
        nodes=len(nodes),
        ready_nodes=sum(node.ready for node in nodes),
        non_tainted_nodes=sum(is_untainted(node) for node in nodes),
        unschedulable_nodes=sum(node.unschedulable for node in nodes),
        underutilized=sum(row.underutilized for row in rows),
        marked=sum(row.marked_since is not None for row in rows),
        in_flight=sum(row.verdict is Verdict.IN_FLIGHT for row in rows),
        pods=plan.pods if pool is None else sum(len(snapshot.pods_by_node[name]) for name in names),
        allocatable=total([row.allocatable for row in rows]),
        requested=total([row.requested for row in rows]),
        excess=plan.excess.get(pool or ""),
        cost=prices.cost_of(nodes),
        saving=sum(order.saving for order in plan.orders if order.node in names),
    )


def cluster_metrics(
    plan: Plan, snapshot: Snapshot, state: ClusterState, now: datetime, interval: timedelta = INTERVAL
) -> ClusterMetrics:
    """Return what else is reported. `state` is the cluster's document as the pass began with it."""
    saved = still_saved(state.reclaimed, snapshot.nodes, state.last_pass, now)
    marked = [decision.marked_since for decision in plan.decisions if decision.marked_since is not None]
    kept = Counter(group_of(decision.reason) for decision in plan.decisions if decision.verdict in _STAY)
    bill = plan.savings.bill if plan.savings and not plan.savings.bill.is_list else None
    return ClusterMetrics(
        unschedulable_pods=sum(not pod.node and pod.unschedulable_since is not None for pod in snapshot.pods),
        oldest_mark=now - min(marked, default=now),
        kept={group: kept[group] for group in ReasonGroup},
        claims=len(state.claims),
        overdue_claims=sum(_is_overdue(claim, interval, now) for claim in state.claims.values()),
        open_breakers=len(open_breakers(state, now)),
        backing_off=sum(now < backoff.until for backoff in state.backoffs.values()),
        reclaimed_nodes=sum(reclaimed.nodes for reclaimed in saved),
        reclaimed_cost=sum(reclaimed.cost_per_hour for reclaimed in saved),
        bill=bill.cost_of(snapshot.nodes) if bill else None,
        idle=bill.idle(snapshot.nodes) if bill else None,
        hours=hours_since(state.last_pass, now),
    )


def _is_overdue(claim: Claim, interval: timedelta, now: datetime) -> bool:
    """Whether a claim is older than drain deadline, watchdog and two passes (docs/decisions/promise.md)."""
    limits = claim.settings
    longest_drain = limits.timeout + limits.max_grace + LONGEST_DISK_MOVES
    return now - claim.since > longest_drain + limits.watchdog + 2 * interval


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole > 0 else None


_STAY: Final = frozenset({Verdict.KEEP, Verdict.WAITING})
_BY_POD: Final = Unremovable.BLOCKED_BY_POD.value
_COVERED: Final = Unremovable.COVERED_BY_COMMITMENT.value


@dataclass(frozen=True, slots=True)
class MissedSaving:
    """What one word keeps in one pool: so many nodes, without which so many micro-dollars an hour are saved."""

    pool: str
    reason: str  # The first thing that keeps the nodes; the pod's own word where it is a pod.
    nodes: int
    per_hour: int


def missed_savings(plan: Plan, snapshot: Snapshot) -> tuple[MissedSaving, ...]:
    """Return what each word keeps, by pool and word; what a pass of a dry run would order is missed by no word."""
    proved = frozenset(plan.at_rest.nodes) if plan.at_rest else frozenset()
    kept: dict[tuple[str, str], list[NodeDecision]] = {}
    for decision in plan.decisions:
        if decision.verdict in _STAY and _is_seen(decision, proved):
            kept.setdefault((decision.pool, _word(decision)), []).append(decision)
    found = []
    for key in sorted(kept):
        nodes = [snapshot.node_by_name[decision.name] for decision in kept[key]]
        # What they cost while no policy is known.
        saved = plan.savings.saving_of(nodes) if plan.savings else sum(decision.cost for decision in kept[key])
        found.append(MissedSaving(*key, len(nodes), saved))
    return tuple(found)


def _is_seen(decision: NodeDecision, proved: frozenset[str]) -> bool:
    if decision.name in proved:
        return True
    is_room = group_of(decision.reason) is ReasonGroup.ROOM or decision.reason == _COVERED
    return decision.underutilized and not is_room


def _word(decision: NodeDecision) -> str:
    own = (blocker.reason.value for blocker in decision.blockers if blocker.reason.value != _BY_POD)
    return next(own, decision.reason) if decision.reason == _BY_POD else decision.reason
