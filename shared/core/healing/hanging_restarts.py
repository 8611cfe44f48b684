"""Deployments that still wait for a pod on behalf of a drain that is over, and whose restart is to be undone.

A drain that gives up undoes its restarts itself. What is left is what it may not undo at that time, and a write that
was under way while the drain was ended. Only a drain whose record tells what stood there before is repaired; a rollout
that is over needs nothing. Must not act.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.deployment import Deployment
from shared.core.cluster.workloads import Workload
from shared.core.healing.healing_input import HealingInput, Repair, RepairKind
from shared.core.outcomes import Halt
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import is_order_id
from shared.core.records.state import ClusterState

LOOKED_FOR: Final = timedelta(days=1)
"""How long after a drain's end passes try: a webhook that is down for a night is back by then."""
MOST: Final = 20
"""So many are looked at in a pass: each costs the reading of its drain's record."""
MOST_REFUSED: Final = 3
"""So many releases may be refused to undo one for good; then a person has been told often enough."""


def hanging(workloads: Iterable[Workload], state: ClusterState) -> dict[str, tuple[Deployment, ...]]:
    """Return by drain, none that holds a claim, the Deployments that say it restarted them, not rolled out.

    The owner of a Deployment may write there what he likes: another drain's id, or what is no id at all.
    """
    held = {claim.order_id for claim in state.claims.values()}
    left: dict[str, tuple[Deployment, ...]] = {}
    for found in {each.deployment for each in workloads if each.deployment is not None}:
        if is_order_id(found.stamp) and found.stamp not in held and not _is_rolled_out(found):
            left[found.stamp] = (*left.get(found.stamp, ()), found)
    return left


def in_turn(found: Iterable[str], now: datetime, interval: timedelta) -> tuple[str, ...]:
    """Return the drains that are looked at in this pass: a few, and in each pass the next few, round and round.

    What stands first may be what nobody knows any more; it must not keep the others from being looked at. Passes come
    at the beginning of an interval, a little late or early: the turn changes in its middle.
    """
    rows = sorted(found)
    turn = round(now.timestamp() / interval.total_seconds())
    return tuple(rows[(turn * MOST + place) % len(rows)] for place in range(min(MOST, len(rows))))


def _is_rolled_out(deployment: Deployment) -> bool:
    return deployment.observed and deployment.created == deployment.updated


def restart_repairs(inputs: HealingInput) -> Iterator[Repair]:
    """Yield a release of each settled drain that has left one waiting: the drainer looks again and undoes it."""
    for order_id, found in sorted(hanging(inputs.snapshot.workloads.values(), inputs.state).items()):
        record = inputs.records.get(order_id)
        if record is None or record.phase is not DrainPhase.SETTLED or record.updated_at is None:
            continue
        ours = sorted(each.name for each in found if _is_worth_a_look(each, record))
        if ours and inputs.now - record.updated_at < LOOKED_FOR:
            detail = f"{ours[0]} still waits for a pod on its behalf"
            yield Repair(RepairKind.RELEASE, record.node_uid, record.order.node, order_id, Halt.ORPHAN, detail)


def _is_worth_a_look(found: Deployment, record: DrainRecord) -> bool:
    """Whether it may be ours to undo: not where a look has found that it is not, and nobody has changed it since."""
    asked = record.surges.get(found.name)
    if asked is None or asked.uid != found.uid or record.drained_at is not None:
        return False
    return asked.looked_at != found.generation and asked.refused < MOST_REFUSED
