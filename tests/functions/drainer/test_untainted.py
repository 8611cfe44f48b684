"""Somebody removes our taint and nothing else: the annotation proves whose the cordon is, and it is undone."""

from dataclasses import replace

import pytest

from functions.drainer.main import PushReply
from shared.core.cluster import names
from tests.builders import NOW, node, order, pod
from tests.depth import cases
from tests.functions.drainer.one_drain import fake_ebb, released
from tests.functions.drainer.test_taken_back_orphans import untaint
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import begun, healed
from tests.functions.planner.half_empty_nodes import fake_ebb as planner_ebb

SAID = "Our taint was removed and the cordon was not; our annotation names its order."


def is_free(ebb: FakeEbb) -> bool:
    found = ebb.cluster.nodes["n1"]
    return not found.unschedulable and found.drain_taint is None and names.OUR_ANNOTATION not in found.annotations


def test_in_the_midst_of_a_drain_the_node_is_returned_whole_and_it_is_shown() -> None:
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(10, lambda: untaint(ebb))

    assert ebb.drain(order()) is PushReply.DONE

    assert is_free(ebb)
    record = ebb.record()
    assert (record.outcome, record.why, record.detail) == ("overruled", "overruled", SAID)


def test_after_a_drain_the_next_pass_gives_the_node_back_whole_and_shows_it() -> None:
    ebb = begun(planner_ebb())
    untaint(ebb)

    healed(ebb)

    assert is_free(ebb)
    assert ebb.remembered().backoffs["uid-n1"].why == "overruled"
    assert SAID in ebb.log.of("drain_result")[-1]["message"]


def test_a_person_who_cordons_the_node_after_undoing_ours_keeps_the_cordon() -> None:
    ebb = begun(planner_ebb())
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], taints=(), unschedulable=False))
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=True))

    healed(ebb)

    found = ebb.cluster.nodes["n1"]
    assert (found.unschedulable, names.OUR_ANNOTATION in found.annotations) == (True, False)
    assert ebb.remembered().claims == {}
    assert [call for call in ebb.effects() if call[0] == "return_node"] != []
    healed(ebb)
    assert ebb.cluster.nodes["n1"].unschedulable, "and is never asked about again"


@cases("cordoned", ("still cordoned", True), ("uncordoned", False))
def test_an_annotation_without_taint_or_claim_is_cleared_away(cordoned: bool) -> None:
    ebb = begun(planner_ebb())
    untaint(ebb)
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=cordoned))
    ebb.state.documents.clear()

    healed(ebb)

    assert is_free(ebb)


def test_a_persons_release_finds_the_node_by_the_annotation() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    untaint(ebb)
    ebb.state.documents.clear()

    assert ebb.deliver(released(order_id="message", node_uid="", origin="manual")) is PushReply.DONE

    assert is_free(ebb)


@pytest.mark.parametrize(
    "note", ["{}", "not json", '{"order_id": "-no id-", "since": "2026-03-04T22:00:00Z"}', '{"order_id": "x"}']
)
def test_nonsense_in_the_annotation_proves_nothing(note: str) -> None:
    ebb = planner_ebb()
    ebb.cluster.put(node("n9", created=NOW, unschedulable=True, annotations={names.OUR_ANNOTATION: note}))

    healed(ebb)

    assert ebb.cluster.nodes["n9"].unschedulable
    assert [call for call in ebb.effects() if call[0] == "return_node"] == []


def test_a_person_uncordons_for_good_a_node_that_the_autoscaler_had_uncordoned_once() -> None:
    """The event of the one failed deletion stood for hours, and each time the cordon was set again."""
    ebb = begun(planner_ebb())
    ebb.pass_time(minutes=2)
    ebb.cluster.begun_deletions["n1"] = ebb.clock.now()
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=False))
    carried_on(ebb)
    assert ebb.cluster.nodes["n1"].unschedulable

    ebb.pass_time(minutes=4)
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=False))
    carried_on(ebb)

    assert is_free(ebb)


def carried_on(ebb: FakeEbb) -> None:
    """One pass, and what it publishes for n1 carried out."""
    ebb.bus.published.clear()
    ebb.pass_time(minutes=1)
    ebb.tick()
    for sent in [sent for sent in ebb.bus.published if sent.node == "n1"]:
        ebb.deliver(sent)
