"""Publishes what a pass ordered: first written down as on its way, then sent, so that the next pass orders it once.

A crash in between loses this pass's orders and nothing else: what a pass that was not completed wrote down does not
count (`records.published`). No rule lives here.
"""

from collections.abc import Iterable
from datetime import datetime

from functions.planner.pass_inputs import PassInputs
from functions.planner.pass_log import dollars
from shared.core.draining.admission import claim_to_be
from shared.core.planning.plan import Plan, PlannedOrder
from shared.core.policy import Policy
from shared.core.records.claims import with_published
from shared.core.records.orders import CLAIM_WITHIN, Order, Origin, order_id
from shared.core.records.state import Published
from shared.core.rules.situation import Situation
from shared.ports import Ports
from shared.store.compare_and_set import change_cluster


def publish(ports: Ports, run_id: str, plan: Plan, inputs: PassInputs) -> tuple[str, ...]:
    """Publish the plan's orders and return their nodes; in dry run none.

    Raises:
        Retryable: the state or the bus does not answer; what was published is on its way all the same.
    """
    if plan.dry_run or not plan.orders or inputs.policy is None:
        return ()
    orders = {planned.uid: _order(plan, planned, run_id, inputs.snapshot.began_at) for planned in plan.orders}
    published = _claims_to_come(orders.values(), inputs, inputs.policy)
    change_cluster(ports.state, ports.clock, lambda state, _: with_published(state, published))
    for planned in plan.orders:
        _send(ports, orders[planned.uid], planned)
    return tuple(planned.node for planned in plan.orders)


def _order(plan: Plan, planned: PlannedOrder, run_id: str, picture_at: datetime) -> Order:
    return Order(
        order_id=order_id(run_id, planned.uid),
        cluster=plan.cluster,
        node=planned.node,
        node_uid=planned.uid,
        reason=planned.reason,
        origin=Origin.PLANNER,
        issued_at=plan.taken_at,
        expires_at=plan.taken_at + CLAIM_WITHIN,
        picture_at=picture_at,
    )


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
