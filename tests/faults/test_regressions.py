"""Histories that once broke the promise, by name; each finds its calls by what they are, not by a number."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.call_faults import KILL_AFTER, KILL_BEFORE, CallEnd, CallFault, MessageFaults, OutsideCall
from tests.faults.catalog import calls_of
from tests.faults.directed import plain, somebody_removes_our_taint
from tests.faults.excuses import Excuse
from tests.faults.history import History, breaches_of, run
from tests.faults.oracle import judgement
from tests.faults.people import Act
from tests.faults.running import some
from tests.faults.worlds import Limits, setting, workload


def broken(histories: Iterator[History]) -> list[str]:
    tried = list(histories)
    assert tried, "no such call: the history no longer holds what this test is about"
    return [f"{history}: {fault}" for history in tried for fault in breaches_of(history)]


def killed(history: History, chosen: list[OutsideCall]) -> Iterator[History]:
    for call in chosen:
        yield replace(history, faults={call.number: KILL_BEFORE})
        yield replace(history, faults={call.number: KILL_AFTER})


def test_a_pass_that_dies_while_it_settles_a_gone_node_is_finished_by_the_next() -> None:
    history = plain("two may go")
    settling = calls_of(history, "tick", "put drains")[0].actor
    assert broken(killed(history, calls_of(history, settling, "put"))) == []


def test_a_release_that_dies_while_it_ends_a_drain_is_finished_when_it_comes_again() -> None:
    history = plain("nobody deletes")
    release = calls_of(history, "push", "patch nodes")[-1].actor
    writes = [*calls_of(history, release, "put"), *calls_of(history, release, "patch")]
    assert broken(killed(history, writes)) == []


def test_a_step_that_was_overtaken_and_then_finds_its_node_gone_ends_no_claim() -> None:
    history = plain("two may go")
    looks = some(calls_of(history, "push", "get nodes"), "looks", 7)
    assert broken(replace(history, faults={look.number: CallFault(before=100.0)}) for look in looks) == []


@pytest.mark.parametrize("wait", [70.0, 100.0, 200.0])
def test_a_step_that_slept_before_its_claim_heeds_what_people_chose_meanwhile(wait: float) -> None:
    history = replace(plain("two may go"), acts=((4.0, Act("pause")), (4.0, Act("delete", 4))))
    tries = calls_of(plain("two may go"), "push", "create pods/eviction")[:4]
    assert broken(replace(history, faults={call.number: CallFault(before=wait)}) for call in tries) == []


@pytest.mark.parametrize(("delay", "deletion"), [(30, 15), (60, 30), (75, 10), (75, 15)])
def test_an_autoscaler_that_fails_forever_does_not_put_the_watchdog_off(delay: int, deletion: int) -> None:
    """Each pass finds the cordon cleared by the autoscaler, which has just failed again."""
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    times: Any = {"scanInterval": 5, "unneededTime": 10, "delayAfterFailure": delay, "deletion": deletion}
    failing = setting("fails", [web], limits=Limits(minimum_nodes=4), failDeletions=["web/0-4"], **times)
    assert breaches_of(History(failing)) == []


def test_a_write_of_the_claim_that_fails_after_its_effect_is_no_second_claim() -> None:
    history = plain("one at a time")
    writes = calls_of(history, "push", "put cluster")
    late = CallFault(CallEnd.FAIL, after=30.0)
    assert broken(replace(history, faults={call.number: late}) for call in writes) == []


@pytest.mark.parametrize("index", range(4))
def test_pods_of_a_node_that_has_just_gone_are_given_a_place_first(index: int) -> None:
    """They count as running on it until the garbage collector has seen them, and then need the room of the plan."""
    acts = ((0.0, Act("pause")), (50.0, Act("resume")), (51.0, Act("delete", index)))
    assert broken(iter([replace(plain("tight"), acts=acts)])) == []


def test_a_node_that_a_person_took_back_before_its_cordon_was_written_down_is_left_alone() -> None:
    """The step died between the patch and its record, and the record still says that nothing has been done."""
    history = replace(plain("two may go"), acts=((14.0, Act("take back", 0)), (14.0, Act("take back", 1))))
    events = calls_of(plain("two may go"), "push", "create events")
    assert broken(killed(history, events)) == []


def test_a_cordon_whose_taint_somebody_removed_is_undone() -> None:
    assert broken(somebody_removes_our_taint()) == []


def test_an_eviction_that_is_long_on_its_way_rests_on_the_room_there_was_when_it_set_out() -> None:
    """Another team takes the room meanwhile, and the node is given back; no look can stop the call any more."""
    history = plain("little room")
    drain = calls_of(history, "push", "create pods/eviction")[0].actor
    cordon = calls_of(history, drain, "patch nodes")[0]
    first = next(call for call in calls_of(history, drain, "create pods/eviction") if call.number > cordon.number)

    late = replace(history, faults={first.number: CallFault(before=70.0, after=40.0)}, acts=((8.0, Act("rival")),))
    found = judgement(run(late))

    assert (found.breaches, found.excuses.used[Excuse.UNDER_WAY] > 0) == ([], True)


@pytest.mark.parametrize("act", ["uncordon", "untaint", "take back"])
def test_a_node_that_a_person_took_back_after_the_state_was_lost_is_left_alone(act: str) -> None:
    """No claim and no record tells of the drain, but a part of what its one patch wrote does."""
    taken_back = replace(plain("nobody deletes"), acts=((12.0, Act("lose the state")), (40.0, Act(act, 0))))
    assert broken(iter([taken_back])) == []


def test_an_order_that_a_late_copy_of_an_acknowledged_message_brings_back_to_life_is_one_that_was_forgotten() -> None:
    """The state was lost in between, and the copy fails: nobody sends it again."""
    late = MessageFaults(late={2: 300.0})
    history = replace(plain("nobody deletes"), message_faults=late, acts=((250.0, Act("lose the state")),))
    write = next(
        call for call in run(history).call_gate.calls if (call.actor, call.what[:10]) == ("push-2", "put drains")
    )

    found = judgement(run(replace(history, faults={write.number: CallFault(CallEnd.FAIL)})))

    assert (found.breaches, found.excuses.used[Excuse.FORGOTTEN] > 0) == ([], True)
