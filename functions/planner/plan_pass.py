"""READ FIRST here. One pass: reads, repairs, plans, publishes, and warns of settings."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from functions.planner import weekly
from functions.planner.commitments import with_commitments
from functions.planner.lease import PlannerLease
from functions.planner.pass_log import PassLog, PassReport, dollars
from functions.planner.read_and_repair import PassInputs, heal, log_skipped, read_inputs
from functions.planner.steer import Steered, steer
from functions.planner.waves import ActiveWave, active_wave, keep_document, order_soft_taints, release_expired_wave
from shared import VERSION
from shared.adapters.process import no_search_for_cycles
from shared.core.draining.admission import claim_to_be
from shared.core.planning.bill import unpriced_families
from shared.core.planning.candidates import NO_MARKS, changed_pools
from shared.core.planning.make_plan import PassOptions, make_plan, plan_without_policy
from shared.core.planning.plan import Plan, PlannedOrder
from shared.core.planning.prices import Prices
from shared.core.planning.steering import steering
from shared.core.planning.waves import still_to_order
from shared.core.policy import Policy
from shared.core.policy.warnings import warnings
from shared.core.records.claims import still_saved, with_published, without_past, without_void
from shared.core.records.orders import Order, order_id
from shared.core.records.state import Advised, ClusterState, PoolMarks, Published, is_advice_due
from shared.core.rules.nodes import unknown_pools
from shared.core.rules.pod_costs import unread_costs
from shared.core.rules.situation import Situation
from shared.errors import BadPolicy, Stale
from shared.ports import PoolsReading, Ports, StoredDocument, pool_key
from shared.settings import Settings


def advise(ports: Ports, inputs: PassInputs, unknown: str = "") -> Advised | None:
    """Log a line for each oddity, and return what is to be remembered; None if there is none now."""
    policy, snapshot, now = inputs.policy, inputs.snapshot, inputs.now
    if not policy or not is_advice_due(inputs.state.advised, policy.hash, now):
        return None
    in_earnest = dataclasses.replace(policy, dry_run=False)  # each pass logs a dry run: would_order, run_summary
    unknown_ones = unknown_pools(policy, snapshot).items()
    found = [(sentence, {"pool": pool, "reason": "unknown_pool"}) for pool, sentence in unknown_ones]
    found += [(warning, {"reason": "hardly_meant"}) for warning in warnings(in_earnest)]
    found += [(cost, {"reason": "unread_cost"}) for cost in unread_costs(snapshot)]
    odd = (unpriced_families(policy.commitments, ports.prices), unknown)
    found += [(sentence, {"reason": "unknown_commitment"}) for sentence in odd if sentence]
    for sentence, labels in found:
        ports.log.event("policy_warning", sentence, severity="WARNING", **labels)
    return Advised(policy.hash, now) if found else None


SEARCH_TIME_SHARE: Final = 0.5
"""The share of the planner's lease after which the search for the steady state ends with what it has."""


@dataclass(frozen=True)
class PlannerDeps:
    ports: Ports
    settings: Settings
    pass_log: PassLog


def run_pass(deps: PlannerDeps, lease: PlannerLease, run_id: str) -> dict[str, Any]:
    """Run one pass and return its summary. Raises Retryable, Stale, Terminal; it may have healed all the same."""
    ports, settings = deps.ports, deps.settings
    begun, asked = ports.clock.monotonic(), ports.cluster.traffic()
    policy, unread = _read_policy(ports)
    ports = dataclasses.replace(ports, log=ports.log.bind(policy_hash=policy.hash if policy else ""))
    pools, unknown = _read_pools(ports)
    if fault := unread or unknown:
        _heal_only(ports, settings, policy, pools)
        raise fault
    try:
        found = read_inputs(ports, settings, policy, pools)
    except Exception:
        _heal_only(ports, settings, policy, pools, whole=(False,))
        raise
    interval = timedelta(seconds=settings.interval_seconds)
    late = begun + SEARCH_TIME_SHARE * settings.pass_seconds
    try:
        healed, inputs = heal(ports, settings, found)
        inputs, paid = with_commitments(ports, inputs)
        marks, wave = _read_marks(ports), active_wave(ports, inputs)  # after healing, which needs neither
        plan = _plan(inputs, _values(marks), ports.prices, interval, lambda: ports.clock.monotonic() > late, wave)
        _log_unforeseen(ports, plan)
        _save_marks(ports, lease, marks, plan)
        lives = keep_document(ports, run_id, plan, policy, wave)
    except Exception:
        release_expired_wave(ports, settings.cluster, found)
        raise
    # first: what the first drains move goes elsewhere already
    order_soft_taints(ports, plan.cluster, inputs, lives, before=wave.document.value)
    published = _publish(ports, lease, run_id, plan, inputs)
    _tidy(lease, inputs, plan, advise(ports, inputs, paid.unknown))
    over = begun + settings.pass_seconds
    steered = _steer(ports, plan, inputs, lambda: ports.clock.monotonic() < over)
    took, traffic = ports.clock.monotonic() - begun, ports.cluster.traffic().since(asked)
    left = len(still_to_order(plan, found.policy))
    about = plan, found, ports.prices, interval, run_id
    report = PassReport(*about, published, healed.repaired, healed.failed, took, traffic, steered, paid, left)
    weekly.count(ports, report, settings)
    return deps.pass_log.write(ports.log, report)


def _plan(
    inputs: PassInputs,
    marks: Mapping[str, PoolMarks],
    prices: Prices,
    interval: timedelta,
    brake: Callable[[], bool],
    wave: ActiveWave,
) -> Plan:
    if inputs.policy is None:
        return plan_without_policy(inputs.snapshot, inputs.planned, marks, prices)
    with no_search_for_cycles():
        situation = Situation(inputs.snapshot, inputs.planned, inputs.policy)
        return make_plan(situation, marks, prices, interval, wave.left, PassOptions(brake))


def _steer(ports: Ports, plan: Plan, inputs: PassInputs, may_write: Callable[[], bool]) -> Steered:
    """Write deletion costs last, no order waits for them; without a policy what stands is taken back."""
    found = steering(plan, Situation(inputs.snapshot, inputs.state, inputs.policy or Policy()))
    return steer(ports, found, dry_run=plan.dry_run, may_write=may_write)


def _read_policy(ports: Ports) -> tuple[Policy | None, Exception | None]:
    """Return the policy, none where it is missing or invalid, and what kept it from being read."""
    try:
        return ports.policy.read(), None
    except BadPolicy as fault:
        ports.log.event("policy_invalid", f"Nothing is ordered until the policy is fixed: {fault}", severity="ERROR")
        return None, None
    except Exception as fault:  # noqa: BLE001 - raised again once the pass has healed
        return None, fault


def _read_pools(ports: Ports) -> tuple[PoolsReading, Exception | None]:
    """Return the pools; if the GKE API does not answer, minimums are unknown: heal only, then 503 or 500."""
    try:
        return ports.pools.read(), None
    except Exception as fault:  # noqa: BLE001 - as above
        return PoolsReading({}, known=False), fault


def _heal_only(
    ports: Ports, settings: Settings, policy: Policy | None, pools: PoolsReading, whole: Sequence[bool] = (True, False)
) -> None:
    """Heal in a pass that ends by a fault: on a `whole` snapshot, or else on nodes, pods and documents."""
    faults = []
    for is_whole in whole:
        try:
            found = read_inputs(ports, settings, policy, pools, whole=is_whole)
            release_expired_wave(ports, settings.cluster, found)
            heal(ports, settings, found)
        except Exception as fault:  # noqa: BLE001 - as above
            faults.append(f"{type(fault).__name__}: {fault}")
        else:
            return
    ports.log.event("run_summary", f"Nothing could be healed either: {'; '.join(faults)}", severity="WARNING")


def _log_unforeseen(ports: Ports, plan: Plan) -> None:
    for fault in plan.unforeseen:
        sentence = f"A fault of Ebb cost one decision, and the pass went on: {fault}"
        ports.log.event("run_summary", sentence, severity="ERROR", reason="unforeseen")


StoredMarks = Mapping[str, StoredDocument[PoolMarks]]
"""The pools' marks as they stand in the state, with the versions that were read."""


def _read_marks(ports: Ports) -> StoredMarks:
    """Return the pools' marks; those of a document that does not decode begin again."""
    found = ports.state.all("pools", PoolMarks)
    for document in found.values():
        if document.fault:
            log_skipped(ports.log, document.fault)
    return found


def _values(stored: StoredMarks) -> dict[str, PoolMarks]:
    return {pool: document.value or NO_MARKS for pool, document in stored.items()}


def _save_marks(ports: Ports, lease: PlannerLease, stored: StoredMarks, plan: Plan) -> None:
    """Write the pools whose marks changed, and only those.

    If the lease ended meanwhile they begin again: another pass may have seen what breaks them, and had none to remove.
    Raises Stale: the lease is over, or another planner wrote them first.
    """
    lease.check()
    written: dict[str, str] = {}
    for pool in changed_pools(_values(stored), plan.marks):
        version = stored[pool].version if pool in stored else None
        written[pool] = ports.state.put(pool_key(pool), plan.marks.get(pool, NO_MARKS), version)
    try:
        lease.check()
    except Stale:
        for pool, version in written.items():
            ports.state.put(pool_key(pool), NO_MARKS, version)
        raise


def _publish(ports: Ports, lease: PlannerLease, run_id: str, plan: Plan, inputs: PassInputs) -> tuple[str, ...]:
    """Publish the plan's orders and return their nodes; in dry run none.

    They are first written down as on their way, then sent, so that the next pass orders them once. A crash in between
    loses this pass's orders and nothing else: what a pass that was not completed wrote down does not count. Raises
    Retryable, Stale; what was published until then is on its way all the same.
    """
    if plan.dry_run or not plan.orders or inputs.policy is None:
        return ()
    began_at = inputs.snapshot.began_at
    orders = {
        order.uid: order.order(order_id(run_id, order.uid), plan.cluster, plan.taken_at, began_at)
        for order in plan.orders
    }
    published = _claims_to_come(orders.values(), inputs, inputs.policy)
    lease.change(lambda state, _: with_published(state, published))
    for planned in plan.orders:
        _send(ports, orders[planned.uid], planned)
    return tuple(planned.node for planned in plan.orders)


def _claims_to_come(orders: Iterable[Order], inputs: PassInputs, policy: Policy) -> dict[str, Published]:
    """Return by node UID what each order will claim, as far as the planner can know."""
    found: dict[str, Published] = {}
    situation = Situation(inputs.snapshot, inputs.state, policy)
    for order in orders:
        node = inputs.snapshot.node_by_name[order.node]
        claim, pods = claim_to_be(order, node, situation)
        found[node.uid] = Published(claim=claim, expires_at=order.expires_at, pods=dict(pods))
    return found


def _send(ports: Ports, order: Order, planned: PlannedOrder) -> None:
    ports.orders.publish(order)
    ports.log.event(
        "order_published",
        f"{planned.node} is to be drained ({planned.reason.value}).",
        order_id=order.order_id,
        node=planned.node,
        pool=planned.pool,
        reason=planned.reason.value,
        saving_per_hour=dollars(planned.saving),
    )


def _tidy(lease: PlannerLease, inputs: PassInputs, plan: Plan, advised: Advised | None) -> None:
    """Forget back-offs of nodes that are gone, and all whose time is over; remember the pass and what was `advised`."""
    alive = {node.uid for node in inputs.snapshot.nodes}
    pools, is_known = inputs.snapshot.pools, inputs.snapshot.pools_known

    # The pass is as old as what it saw: nodes that come and time that goes from then on are the next one's to count.
    def change(state: ClusterState, now: datetime) -> ClusterState:
        reclaimed = still_saved(state.reclaimed, inputs.snapshot.nodes, inputs.state.last_pass, now)
        kept = without_past(without_void(state, alive.__contains__, inputs.now, now), alive, now)
        removed = {pool: total for pool, total in state.removed.items() if pool in pools or not is_known}
        return replace(
            kept,
            reclaimed=reclaimed,
            removed=removed,
            advised=advised or state.advised,
            demand=plan.demand or state.demand,
            last_pass=inputs.now,
            version=VERSION,
        )

    lease.change(change)
