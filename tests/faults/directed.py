"""Histories that show one mistake each, built of what it needs; Ebb as it is keeps the promise in all."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.faults.call_faults import KILL_AFTER, KILL_BEFORE, CallFault
from tests.faults.catalog import LATE, LONG_STALL, Begin, begun_in, calls_of, since_begun
from tests.faults.families import bases
from tests.faults.history import History
from tests.faults.outages import Ending, Outage
from tests.faults.people import Act
from tests.faults.steering import steered_settings
from tests.faults.surging_worlds import NEVER_READY, surging_settings, undo_restart
from tests.faults.worlds import STAYS, Limits, Setting, setting, with_buffers, workload

LONG: Final = 100.0
"""Seconds: past the drain's lease."""
_ALONE: Final = Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0)


def plain(world: str) -> History:
    return bases()[world]


def one(world: str) -> Iterator[History]:
    yield plain(world)


def a_claim_is_overtaken() -> Iterator[History]:
    """The write of a claim sets out, and arrives when another claim has long been written and has ended."""
    base = plain("two may go")
    for write in calls_of(base, "push", "put cluster"):
        yield replace(base, faults={write.number: CallFault(before=LONG)})


def an_eviction_arrives_after_its_pod_has_moved() -> Iterator[History]:
    """A person moves the pod of a StatefulSet meanwhile: another one bears its name, on another node."""
    base = History(_three("stateful", workload("a", [0], kind="StatefulSet", cpu=400), workload("b", [1, 2], cpu=900)))
    cordon = calls_of(base, "push", "patch nodes")[0]
    for eviction in calls_of(base, "push", "create pods/eviction"):
        if eviction.number > cordon.number:
            act = since_begun(base, eviction) + 1.0, Act("evict")
            yield replace(base, faults={eviction.number: CallFault(before=20.0)}, acts=(act,))


def an_order_comes_late_and_its_node_is_cordoned() -> Iterator[History]:
    yield replace(plain("little room"), message_faults=LATE, acts=((10.0, Act("cordon")),))


def a_node_is_taken_back_and_cordoned() -> Iterator[History]:
    """What stands on the node then is the person's cordon."""
    yield replace(plain("nobody deletes"), acts=((30.0, Act("take back")), (30.0, Act("cordon"))))


def a_drainer_dies_before_its_claim() -> Iterator[History]:
    base = plain("two may go")
    for write in calls_of(base, "push", "put cluster"):
        yield replace(base, faults={write.number: KILL_BEFORE})


def somebody_removes_our_taint() -> Iterator[History]:
    for at in (15.0, 40.0, 100.0):
        yield replace(plain("nobody deletes"), acts=((at, Act("untaint", 0)),))


def nobody_deletes() -> Iterator[History]:
    yield plain("nobody deletes")


def a_person_orders_a_drain_at_the_minimum() -> Iterator[History]:
    """The planner would not have chosen the node; only the claim counts."""
    for index in (1, 2, 3):
        yield replace(plain("deletion fails"), acts=((20.0, Act("drain", index)),))


def room_is_tight() -> Iterator[History]:
    yield plain("tight")


def a_rival_takes_the_room_of_what_was_moved() -> Iterator[History]:
    """It comes when one pod has left its node, and before the pod that replaces it is placed."""
    for at in (10.0, 8.0, 12.0, 6.0, 14.0):
        yield replace(plain("little room"), acts=((at, Act("rival")),))


def a_rival_takes_the_room_of_a_late_order() -> Iterator[History]:
    yield replace(plain("little room"), message_faults=LATE, acts=((4.0, Act("rival")),))


def an_announced_node_needs_the_room() -> Iterator[History]:
    """The third node has room for what the autoscaler will move from the second, or for the first one's pod."""
    rest = workload("rest", [2], cpu=100, **STAYS)
    world = _three("announced", workload("a", [0], cpu=400), workload("large", [1], cpu=1450), rest)
    yield History(world, acts=((0.0, Act("announce", 1)),))


def people_write_costs() -> Iterator[History]:
    yield History(steered_settings()[0], acts=((95.0, Act("rank", 2)), (120.0, Act("shrink"))))


def steering_ends() -> Iterator[History]:
    yield History(steered_settings()[0], acts=((100.0, Act("stop steering")),))


def fails(what: str, seconds: float, ending: Ending = Ending.SILENCE, index: int | None = None) -> Iterator[History]:
    """Let that fail for so long where nobody deletes nodes."""
    begin = Begin(Outage(what, seconds, ending=ending), index)
    yield replace(plain("partly waved, and nobody deletes"), acts=((40.0, begin),))


def a_pass_stalls_past_its_lease() -> Iterator[History]:
    base = plain("partly marked")
    yield replace(base, faults={calls_of(base, "tick", "put pools")[0].number: CallFault(before=LONG_STALL)})


def a_restart_is_undone_before_it_was_written_down() -> Iterator[History]:
    """The drainer dies right after its restart, and before it comes back somebody has taken that restart back."""
    base = plain(NEVER_READY)
    restart = calls_of(base, "", "patch deployments one")[1]
    undone = since_begun(base, restart) + 1.0, undo_restart("one")
    yield replace(base, faults={restart.number: KILL_AFTER}, acts=(undone,))


def single_replicas() -> Iterator[History]:
    yield from begun_in(surging_settings())


def buffers() -> Iterator[History]:
    yield from begun_in(with_buffers())


def _three(name: str, *workloads: dict[str, Any]) -> Setting:
    return setting(name, [*workloads], nodes=3, limits=_ALONE, enabled=False)
