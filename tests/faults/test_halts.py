"""Every way in which a drain is given back has a history that reaches it, and the promise holds there."""

import pytest

from shared.core.draining import next_step
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.ways_to_halt import histories

HISTORIES = histories()


def returned_for(end: Installation) -> set[str]:
    """Return the words in the drains' records, and those that were told where no record was left."""
    records = (found.value for found in end.state.all("drains", DrainRecord).values())
    told = {
        reason.value
        for reason in ReturnReason
        for line in end.log.lines
        if "drain_result" in line and reason.sentence in line
    }
    return told | {record.why for record in records if record}


def lost_room(end: Installation) -> list[str]:
    records = (found.value for found in end.state.all("drains", DrainRecord).values())
    return [record.detail for record in records if record and record.why == ReturnReason.BUFFER]


def test_no_word_is_without_its_history() -> None:
    assert HISTORIES.keys() == set(ReturnReason)


@pytest.mark.parametrize(("reason", "history"), HISTORIES.items(), ids=lambda word: getattr(word, "value", ""))
def test_each_word_is_reached_and_the_promise_holds(reason: ReturnReason, history: History) -> None:
    end = run(history)

    assert reason.value in returned_for(end)
    assert breaches(end) == []


def test_a_node_comes_back_as_soon_as_the_count_of_a_buffer_falls() -> None:
    end = run(HISTORIES[ReturnReason.BUFFER])
    (held,) = end.cloud.world.store.all("capacitybuffers")

    assert "default/spare: 0 of 1 chunks have room, 1 had before" in lost_room(end)
    assert held["status"]["readyReplicas"] == held["status"]["replicas"], "the node gives it room again"


def test_a_drainer_that_does_not_watch_the_count_is_seen() -> None:
    rules = {
        phase: tuple(rule for rule in rules if rule.__name__ != "buffer_fell")
        for phase, rules in next_step.RULES.items()
    }
    assert rules[DrainPhase.DRAINED] != next_step.RULES[DrainPhase.DRAINED]
    with swapped((next_step, "RULES", rules)):
        end = run(HISTORIES[ReturnReason.BUFFER])

    assert not any("chunks have room" in detail for detail in lost_room(end))
