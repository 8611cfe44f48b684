"""The oracle: the promise, judged from the record of a history and the documents at its end.

See docs/decisions/promise.md.

It shares no code with Ebb's rules; a document is only decoded. What it lets pass stands in `excuses`, all of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from infra.local.world.pods import disks_of
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import PoolMarks
from tests.faults import ebb_actions
from tests.faults.ebb_actions import BoughtBack
from tests.faults.excuses import Excuse, Excuses
from tests.faults.grants import Grants, Marks
from tests.faults.installation import Installation
from tests.faults.outages import INFORMS
from tests.faults.peoples_requests import PeoplesRequests
from tests.faults.proofs import Proofs
from tests.faults.replaced import Moments
from tests.faults.replay import Entry, ReplayedCluster, moments
from tests.faults.steering import CostWrites, left_behind
from tests.faults.surges import Surges, left_waiting, restarted_again
from tests.faults.waiting_times import Bound, CordonTimes, WaitingTimes
from tests.faults.waved_worlds import SoftTaints, left_held
from tests.faults.ways_out import WaysOut
from tests.faults.worlds import INTERVAL, STEP_SECONDS

Judge = Callable[[Entry, ReplayedCluster], Iterator[str]]
"""Tells what one entry of the record broke, where it finds the cluster as it stood before."""
PLANNER_LEASE = 360.0
REDELIVERY = 120.0
CALLS_OF_A_STEP = 10
"""More slow calls of one kind than free the soft taints of a small world, with a message that comes again."""


def breaches(end: Installation) -> list[str]:
    """Return what broke the promise, in the order in which it happened; empty when it was kept."""
    return judgement(end).breaches


@dataclass(frozen=True)
class Judgement:
    """What broke the promise, which excuses were used, and the longest wait of a pod that Ebb moved."""

    breaches: list[str]
    excuses: Excuses
    longest_wait: float


def judgement(end: Installation) -> Judgement:
    excuses = Excuses()
    places = WaitingTimes(
        excuses, end.stops(), REDELIVERY + 2 * INTERVAL, end.turned_away_at, end.outages, end.call_gate.struck_at
    )
    broke = [*_of_the_record(end, excuses, places), *_of_the_documents(end, excuses)]
    return Judgement(list(dict.fromkeys(broke)), excuses, places.longest)


def bound_of(end: Installation, excuses: Excuses) -> Bound:
    """The promise's bound; once a call was killed or failed, its leases lapse first and its message comes again.

    Each pass that was struck leaves a lease of its own, and the next one may be struck as soon as that has lapsed.
    """
    leases = max(1, len(end.call_gate.struck_passes())) * PLANNER_LEASE
    extra = leases + REDELIVERY if end.hindrances() else 0.0
    kept = end.kept.cordons
    return Bound(excuses, end.setting.limits.longest_cordon, extra + kept.get("", 0.0), kept)


def soft_bound_of(end: Installation, excuses: Excuses) -> Bound:
    """How long a soft taint may outlive its wave: the next pass orders its removal, or the one after it."""
    kept, slow = end.kept.soft_taints, sum(outage.slow for outage in end.outages)
    extra = bound_of(end, excuses).extra - end.kept.cordons.get("", 0.0) + kept.get("", 0.0) + CALLS_OF_A_STEP * slow
    return Bound(excuses, 2 * end.setting.limits.interval + STEP_SECONDS, extra, kept)


def stopped_by_what_informs(end: Installation) -> Iterator[str]:
    """Yield each pass and step that ended because something failed that only informs."""
    for name, reply in end.replies.items():
        if any(what in reply for what in INFORMS):
            yield f"{name} {reply}"
    for line in end.log.lines:
        if "come again" in line and any(what in line for what in INFORMS):
            yield line


def longest_cordon(end: Installation) -> float:
    bound = bound_of(end, Excuses())
    return max(map(bound.longest, ["", *end.kept.cordons]))


def _of_the_record(end: Installation, excuses: Excuses, places: WaitingTimes) -> Iterator[str]:
    limits, unread, store = end.setting.limits, end.call_gate.unread_at, end.cloud.world.store
    requests, cordons = PeoplesRequests(excuses), CordonTimes(bound_of(end, excuses))
    ways_out = WaysOut(end.objects, end.returning, disks_of(store.all))
    judges: tuple[Judge, ...] = (
        Grants(excuses, limits).of,
        partial(ebb_actions.of, excuses=excuses),
        cordons.of,
        places.of,
        Proofs(excuses, end.call_gate.struck_at, end.cpu, ways_out, end.begun, unread).of,
        requests.of,
        BoughtBack(excuses, end.acted_at, unread, buffers=bool(store.all("capacitybuffers"))).of,
        Surges(surging=bool(limits.single_replicas)).of,
        CostWrites().of,
        Moments().of,
        SoftTaints(soft_bound_of(end, excuses)).of,
        Marks(limits, end.cpu, end.completed_passes()).of,
    )
    cluster = ReplayedCluster()
    for entry, cluster in moments(end.cloud.world.record.entries):
        for judge in judges:
            for fault in judge(entry, cluster):
                yield f"{cluster.at - end.begun:.1f} s: {fault}"
    cluster.at = end.clock.now()
    yield from left_waiting(end, excuses)
    yield from restarted_again(end)
    yield from places.at(cluster)
    yield from cordons.at_the_end(end.clock.now())
    yield from stopped_by_what_informs(end)
    yield from left_behind(end)
    yield from (f"{name} still carries the soft taint of a wave that does not live" for name in left_held(end))
    refused = list(requests.not_granted({claim.order_id for claim in end.remembered().claims.values()}))
    if refused and not excuses.covers(Excuse.MESSAGE_LOST, bool(end.lost_orders)):
        yield from refused


def _of_the_documents(end: Installation, excuses: Excuses) -> Iterator[str]:
    """Every document decodes, no claim and no message outlives its drain, every order that was delivered is settled."""
    yield from (found.fault for found in end.state.all("pools", PoolMarks).values() if found.fault)
    bound = bound_of(end, excuses)
    state, records = end.remembered(), end.state.all("drains", DrainRecord)
    yield from (found.fault for found in records.values() if found.fault)
    for claim in state.claims.values():
        age = end.clock.now() - max(claim.since.timestamp(), end.begun)
        if bound.is_broken(age, claim.node):
            yield f"the claim of {claim.node} stands for {age:.0f} s at the end"
    slowest = max(end.kept.cordons, key=lambda node: end.kept.cordons[node], default="")
    for message, since in end.unanswered.items():
        age = end.clock.now() - since
        if bound.is_broken(age, slowest):
            yield f"message {message} still comes again after {age:.0f} s"
    yield from end.came_again
    held = {claim.order_id for claim in state.claims.values()}
    for order_id, found in records.items():
        if found.value and found.value.phase is not DrainPhase.SETTLED and order_id not in held:
            yield from _unsettled(end, order_id, found.value, excuses)


def _unsettled(end: Installation, order_id: str, record: DrainRecord, excuses: Excuses) -> Iterator[str]:
    begun = record.begun_at.timestamp() if record.begun_at else end.begun
    acknowledged = end.late_copies.get(order_id, float("inf"))
    rows = (
        (Excuse.MESSAGE_LOST, order_id in end.lost_orders),
        (Excuse.FORGOTTEN, min(begun, acknowledged) <= end.lost_state_at),
    )
    if not any(excuses.covers(*row) for row in rows):
        yield f"order {order_id} ended in phase {record.phase.value}, never settled"
