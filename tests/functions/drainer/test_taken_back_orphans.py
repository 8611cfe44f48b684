"""A person takes a node back of whose drain nobody knows any more, because the state was lost: it is left alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from functions.drainer.main import PushReply
from shared.core.cluster import names
from shared.core.records.claims import OVERRULED_FOR
from shared.core.records.orders import OrderKind, Origin
from shared.errors import Retryable
from tests.builders import order, taint
from tests.depth import cases
from tests.functions.drainer.one_drain import fake_ebb, released
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import begun, healed
from tests.functions.planner.half_empty_nodes import fake_ebb as planner_ebb


def uncordon(ebb: FakeEbb) -> None:
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=False))


def untaint(ebb: FakeEbb) -> None:
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], taints=()))


def take_back(ebb: FakeEbb) -> None:
    uncordon(ebb)
    untaint(ebb)


def lose_the_annotation(ebb: FakeEbb) -> None:
    notes = {key: text for key, text in ebb.cluster.nodes["n1"].annotations.items() if key != names.OUR_ANNOTATION}
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], annotations=notes))


def fail_to_delete(ebb: FakeEbb) -> None:
    """The autoscaler clears the cordon, whoever set it."""
    uncordon(ebb)
    ebb.cluster.begun_deletions["n1"] = ebb.clock.now()


def be_deleting(ebb: FakeEbb) -> None:
    """The autoscaler has begun, and may clear the cordon at any time."""
    uncordon(ebb)
    kept = ebb.cluster.nodes["n1"].taints
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], taints=(*kept, taint(names.AUTOSCALER_DELETING_TAINT))))


@cases(
    "expected, act",
    ("a person uncordons it", "overruled", uncordon),
    ("a person removes our taint", "overruled", untaint),
    ("a person does both", "overruled", take_back),
    ("nobody does anything", "orphan", lambda _: None),
    ("the annotation alone is gone, and the node is ours all the same", "orphan", lose_the_annotation),
    ("the autoscaler failed to delete it", "orphan", fail_to_delete),
    ("the autoscaler begins to delete it", "orphan", be_deleting),
)
def test_what_is_left_on_an_orphan_shows_whether_a_person_wants_it(
    expected: str, act: Callable[[FakeEbb], None]
) -> None:
    ebb = begun(planner_ebb())
    act(ebb)
    ebb.state.documents.clear()

    healed(ebb)

    found, backoffs = ebb.cluster.nodes["n1"], ebb.remembered().backoffs
    assert (found.unschedulable, found.drain_taint, names.OUR_ANNOTATION in found.annotations) == (False, None, False)
    assert ebb.log.of("drain_result")[-1]["reason"] == expected
    left_alone = {uid: (backoff.node, backoff.why, backoff.delay) for uid, backoff in backoffs.items()}
    assert left_alone == ({"uid-n1": ("n1", "overruled", OVERRULED_FOR)} if expected == "overruled" else {})


def test_without_the_annotation_the_claim_shows_that_the_autoscaler_cleared_the_cordon() -> None:
    ebb = begun(planner_ebb())
    lose_the_annotation(ebb)
    fail_to_delete(ebb)
    (held,) = ebb.remembered().claims.values()

    ebb.deliver(released(order_id=held.order_id, origin=Origin.PLANNER, why="overruled"))

    assert ebb.cluster.nodes["n1"].drain_taint == held.order_id


def test_the_pass_that_finds_it_does_not_order_it_again() -> None:
    ebb = begun(planner_ebb())
    take_back(ebb)
    ebb.state.documents.clear()

    ebb.tick()

    assert [sent.kind for sent in ebb.bus.published if sent.node == "n1"] == [OrderKind.RELEASE]


def test_a_return_that_dies_halfway_forgets_nothing_of_what_the_person_wants() -> None:
    ebb = begun(planner_ebb())
    uncordon(ebb)
    ebb.state.documents.clear()
    ebb.cluster.failures["return_node"] = [Retryable("kubernetes", "timeout")]
    orphan = released(order_id=ebb.cluster.nodes["n1"].drain_taint, origin=Origin.PLANNER, why="orphan")

    assert ebb.deliver(orphan) is PushReply.AGAIN
    first = ebb.remembered().backoffs["uid-n1"]
    ebb.pass_time(minutes=1)
    assert ebb.deliver(orphan) is PushReply.DONE

    assert (ebb.cluster.nodes["n1"].drain_taint, ebb.remembered().backoffs["uid-n1"]) == (None, first)


def test_an_orphan_that_a_person_releases_is_left_alone_as_any_node_that_one_releases() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.state.documents.clear()

    assert ebb.deliver(released(order_id="message", node_uid="", origin="manual")) is PushReply.DONE

    assert ebb.remembered().backoffs["uid-n1"].delay == timedelta(hours=24)


def test_a_release_of_a_node_that_nobody_holds_leaves_it_to_the_next_pass() -> None:
    ebb = fake_ebb()

    assert ebb.deliver(released(order_id="message", node_uid="", origin="manual")) is PushReply.DONE

    assert ebb.remembered().backoffs == {}
