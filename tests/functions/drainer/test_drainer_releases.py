"""Releases, and givings back that were cut short, on fakes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from functions.drainer.main import PushReply
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Origin
from shared.core.records.state import Breaker
from shared.errors import Retryable, Stale
from shared.ports import DocumentKey, StoredDocument, drain_key
from shared.store.drain_record import LeasedRecord
from tests.builders import NOW, order, policy
from tests.fakes import FakeState
from tests.functions.drainer.one_drain import RELEASE, fake_ebb, half_returned, holder, released
from tests.functions.fake_ebb import FakeEbb, fail_next_puts


@pytest.mark.parametrize(
    "rules", [policy(), policy(cluster_wide={"dry_run": True}), None], ids=["as usual", "in dry run", "no policy"]
)
def test_a_release_frees_the_node_and_ends_the_claim(rules: Any) -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.policy.policy = rules

    assert ebb.deliver(RELEASE) is PushReply.DONE

    assert (ebb.cluster.nodes["n1"].unschedulable, holder(ebb), ebb.remembered().claims) == (False, None, {})
    assert (ebb.record().phase, ebb.record().outcome) == (DrainPhase.SETTLED, "released")


@pytest.mark.parametrize("step_seconds", [3, 480], ids=["under way", "drained"])
def test_a_release_that_names_another_node_of_that_name_ends_no_drain(step_seconds: int) -> None:
    ebb = fake_ebb(step_seconds=step_seconds)
    ebb.drain(order())

    ebb.deliver(released(node_uid="uid-other"))

    assert (holder(ebb), ebb.reasons("drain_result")) == ("order", ["other_node"])
    assert ebb.record().phase is not DrainPhase.SETTLED
    assert ebb.record().node_uid == "uid-n1"


@pytest.mark.acceptance(94)
def test_the_watchdogs_release_looks_again_before_it_undoes_anything() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    overdue = released(origin=Origin.PLANNER, why="watchdog")

    ebb.deliver(overdue)
    assert holder(ebb) == "order"

    ebb.pass_time(minutes=25)
    ebb.deliver(overdue)
    assert holder(ebb) is None
    assert ebb.remembered().backoffs["uid-n1"].why == "watchdog"


def test_a_release_for_an_orphan_spares_a_drain_that_lives() -> None:
    ebb = fake_ebb()
    ebb.drain(order())

    ebb.deliver(released(origin=Origin.PLANNER, why="orphan"))
    assert holder(ebb) == "order"

    ebb.remember(replace(ebb.remembered(), claims={}))
    ebb.deliver(released(origin=Origin.PLANNER, why="orphan"))
    assert holder(ebb) is None


def test_a_release_that_nobody_needs_any_more_does_not_wait_for_the_policy() -> None:
    ebb = fake_ebb()
    ebb.policy.policy = Retryable("storage", "timeout")

    assert ebb.deliver(released(origin=Origin.PLANNER, why="paused")) is PushReply.DONE


@pytest.mark.parametrize("fault", [Retryable("storage", "timeout"), ValueError("odd")], ids=["no answer", "a fault"])
def test_a_pause_returns_a_node_while_the_policy_cannot_be_read(fault: Exception) -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.remember(replace(ebb.remembered(), paused=True))
    ebb.policy.policy = fault

    assert ebb.deliver(released(origin=Origin.PLANNER, why="paused")) is PushReply.DONE

    assert holder(ebb) is None


def test_a_return_that_was_cut_short_is_finished_by_the_next_message() -> None:
    ebb = half_returned()
    assert ebb.record().phase is DrainPhase.HALTING

    assert ebb.deliver(order()) is PushReply.DONE
    assert holder(ebb) is None
    assert ebb.remembered().claims == {}


def test_a_persons_release_that_comes_again_ends_its_drain_although_the_node_is_gone() -> None:
    """The person names a node alone: as long as the record has not ended, the claim has to name the order."""
    ebb = fake_ebb()
    ebb.drain(order())
    fail_next_puts(ebb, "drains", after=1)
    assert ebb.deliver(RELEASE) is PushReply.AGAIN
    assert holder(ebb) is None
    ebb.state.meanwhile.clear()
    del ebb.cluster.nodes["n1"]

    assert ebb.deliver(RELEASE) is PushReply.DONE

    assert (ebb.record().phase, ebb.record().outcome) == (DrainPhase.SETTLED, "released")
    assert ebb.remembered().claims == {}


class StateOfTwo(FakeState):
    """Lets another step do something once, just after the drain's record was read so many times."""

    def __init__(self, ebb: FakeEbb, reads: int, then: Callable[[], object]) -> None:
        super().__init__(now=ebb.clock.now, documents=ebb.state.documents)
        self._reads_left, self._then = reads, then

    def get(self, key: DocumentKey[Any]) -> StoredDocument[Any]:
        found = super().get(key)
        if key == drain_key("order"):
            self._reads_left -= 1
            if self._reads_left == 0:
                self._then()
        return found


def broken_at_work() -> FakeEbb:
    """A drain that has emptied its node and is about to say so, under a breaker that is open."""
    ebb = fake_ebb()
    ebb.drain(order())
    found = ebb.state.get(drain_key("order"))
    assert found.value is not None
    ebb.state.put(drain_key("order"), replace(found.value, phase=DrainPhase.CORDONED, drained_at=None), found.version)
    breaker = Breaker(ebb.clock.now() + timedelta(minutes=31), "three drains failed")
    ebb.remember(replace(ebb.remembered(), breakers={"a": breaker}))
    return ebb


@pytest.mark.parametrize("reads", [1, 2, 3])
def test_a_drain_that_ends_while_a_breakers_release_looks_is_kept_or_was_returned_before(reads: int) -> None:
    ebb = broken_at_work()
    step, ended = LeasedRecord.seize(ebb.state, ebb.clock, "order", "step"), []
    assert step is not None

    def end() -> None:
        try:
            step.write(phase=DrainPhase.DRAINED, drained_at=NOW)
        except Stale:
            ended.append(False)
        else:
            ended.append(True)

    ebb.state = StateOfTwo(ebb, reads, end)
    broken = released(origin=Origin.PLANNER, why="breaker")
    replies = [ebb.deliver(broken)]
    if replies == [PushReply.AGAIN]:
        replies.append(ebb.deliver(broken))
    if not ended:
        end()

    assert replies[-1] is PushReply.DONE
    assert (ended, holder(ebb)) in (([True], "order"), ([False], None))
