"""The oracle: the promise of design §2, judged from the record of a history and the documents at its end.

It shares no code with Ebb's rules; a document is only decoded. Each rule says itself what it excuses.
"""

from collections.abc import Iterator
from itertools import chain

from shared.core.state import DrainPhase, DrainRecord, PoolMarks, Run
from tests.faults import deeds
from tests.faults.grants import Grants
from tests.faults.installation import Installation
from tests.faults.replay import moments
from tests.faults.waiting import Cordons, Places
from tests.faults.wishes import Wishes

PLANNER_LEASE = 360.0
REDELIVERY = 120.0


def breaches(end: Installation) -> list[str]:
    """Return what broke the promise, in the order in which it happened; empty when it was kept."""
    return list(dict.fromkeys([*_of_the_record(end), *_of_the_documents(end)]))


def longest_cordon(end: Installation) -> float:
    """The promise's bound; once a call was killed or failed, its leases lapse first and its message comes again."""
    extra = PLANNER_LEASE + REDELIVERY if end.disturbances() else 0.0
    return end.setting.limits.longest_cordon + extra


def _of_the_record(end: Installation) -> Iterator[str]:
    grants, places, wishes = Grants(end.setting.limits), Places(), Wishes()
    cordons = Cordons(longest_cordon(end), end.disturbances())
    for entry, scene in moments(end.cloud.world.record.entries):
        for fault in chain(
            grants.of(entry, scene),
            deeds.of(entry, scene),
            cordons.of(entry, scene),
            places.of(entry, scene),
            wishes.of(entry, scene),
        ):
            yield f"{scene.at - end.begun:.1f} s: {fault}"
    yield from cordons.at_the_end(end.clock.now())
    if not end.lost_orders:  # a release whose message was lost cannot be carried out
        yield from wishes.not_granted({claim.order_id for claim in end.remembered().claims.values()})


def _of_the_documents(end: Installation) -> Iterator[str]:
    """Every document decodes, no claim and no message outlives its drain, every order that was delivered is settled.

    Excused are the claims of drains that are still within their time, orders whose message was lost for good, and
    orders begun before the state was lost: a write under way may bring their record back to life, without a claim.
    """
    for collection, type_ in (("pools", PoolMarks), ("runs", Run)):
        yield from (found.fault for found in end.state.all(collection, type_).values() if found.fault)
    state, records = end.remembered(), end.state.all("drains", DrainRecord)
    yield from (found.fault for found in records.values() if found.fault)
    for claim in state.claims.values():
        age = end.clock.now() - max(claim.since.timestamp(), *end.disturbances(), end.begun)
        if age > longest_cordon(end):
            yield f"the claim of {claim.node} stands for {age:.0f} s at the end"
    for message, since in end.unanswered.items():
        age = end.clock.now() - max(since, *end.disturbances(), end.begun)
        if age > longest_cordon(end):
            yield f"message {message} still comes again after {age:.0f} s"
    held = {claim.order_id for claim in state.claims.values()}
    for order_id, found in records.items():
        if found.value and found.value.phase is not DrainPhase.SETTLED and order_id not in held:
            yield from _unsettled(end, order_id, found.value)


def _unsettled(end: Installation, order_id: str, record: DrainRecord) -> Iterator[str]:
    begun = record.begun_at.timestamp() if record.begun_at else end.begun
    if not end.is_busy() and order_id not in end.lost_orders and begun > end.lost_state_at:
        yield f"order {order_id} ended in phase {record.phase.value}, never settled"
