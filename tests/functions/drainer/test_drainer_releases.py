"""Releases, and givings back that were cut short, on fakes."""

import json

import pytest
from msgspec.structs import replace

from functions.drainer.receive import PushReply
from shared.answers import Eviction
from shared.core.records.drain_record import DrainPhase
from shared.core.records.evictions import EvictionAnswer
from shared.core.records.orders import Origin
from shared.errors import Retryable
from tests.builders import order
from tests.functions.drainer.one_drain import fake_ebb, holder, released


def test_a_release_frees_the_node_and_ends_the_claim() -> None:
    ebb = fake_ebb()
    ebb.drain(order())

    assert ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode()) is PushReply.DONE

    assert not ebb.cluster.nodes["n1"].unschedulable
    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().claims == {}
    record = ebb.record()
    assert record is not None
    assert (record.phase, record.outcome) == (DrainPhase.SETTLED, "released")


def test_a_release_is_carried_out_in_dry_run_and_without_a_policy() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.policy.policy = None

    ebb.deliver(json.dumps({"kind": "release", "node": "n1"}).encode())

    assert ebb.cluster.nodes["n1"].drain_taint is None


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


def test_a_giving_back_that_was_cut_short_is_finished_by_the_next_message() -> None:
    ebb = fake_ebb()
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), Eviction(EvictionAnswer.FORBIDDEN, "webhook")]
    ebb.cluster.failures["give_back"] = [Retryable("kubernetes", "timeout")]

    assert ebb.drain(order()) is PushReply.AGAIN
    assert ebb.record().phase is DrainPhase.HALTING  # type: ignore[union-attr]  # the record exists

    assert ebb.deliver(order()) is PushReply.DONE
    assert holder(ebb) is None
    assert ebb.remembered().claims == {}
