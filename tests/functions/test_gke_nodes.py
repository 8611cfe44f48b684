"""What GKE does to single nodes meanwhile: spot preemption, auto-repair, a node reborn under its old name."""

from dataclasses import replace

import pytest

from functions.drainer.main import PushReply
from shared.core.records.orders import OrderKind, Origin
from tests.builders import node, order, pod, pod_class, taint
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
NOT_READY = taint("node.kubernetes.io/not-ready", "NoExecute")


def fake_ebb(grace: int = 60) -> FakeEbb:
    return FakeEbb(node("n1"), node("n2"), node("n3"), pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=grace))


def preempted(ebb: FakeEbb) -> None:
    """The VM is gone: the node stops answering, its pods neither end nor start."""
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], ready=False, taints=(*ebb.cluster.nodes["n1"].taints, NOT_READY)))


def gone(ebb: FakeEbb) -> None:
    """The node object goes, and its pods with it."""
    del ebb.cluster.nodes["n1"]
    ebb.cluster.finish(*(pod.key for pod in ebb.cluster.pods.values() if pod.node == "n1"))


def reborn(ebb: FakeEbb) -> None:
    """Auto-repair and upgrades make the node anew under its old name; a pod lands on it at once."""
    gone(ebb)
    ebb.cluster.put(node("n1", uid="uid-reborn"), pod("new", on="n1", kind=WEB))


def test_a_spot_node_that_is_preempted_mid_drain_is_settled_as_removed_when_its_object_goes() -> None:
    ebb = fake_ebb()
    ebb.later(20, lambda: preempted(ebb))
    ebb.later(40, lambda: gone(ebb))

    assert ebb.drain(order()) is PushReply.DONE

    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]
    assert (ebb.remembered().claims, ebb.remembered().backoffs) == ({}, {})


def test_a_node_that_stays_dead_is_returned_at_the_deadline_and_not_kept_forever() -> None:
    ebb = fake_ebb(grace=480)
    ebb.later(20, lambda: preempted(ebb))
    ebb.clock.moves[0] = lambda: None  # nothing on a dead node ends

    ebb.drain_to_end(order())

    assert ebb.reasons("drain_result") == ["deadline"]
    assert ebb.cluster.nodes["n1"].drain_taint is None


@pytest.mark.acceptance(97)
def test_a_node_reborn_under_its_old_name_mid_drain_is_not_ours() -> None:
    ebb = fake_ebb()
    ebb.later(20, lambda: reborn(ebb))

    ebb.drain(order())

    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]
    assert [call for call in ebb.effects() if "default/new" in call] == []
    new = ebb.cluster.nodes["n1"]
    assert (new.unschedulable, new.drain_taint, ebb.remembered().claims) == (False, None, {})


@pytest.mark.acceptance(97)
def test_a_node_reborn_after_its_drain_is_settled_by_the_next_pass_and_never_touched() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    reborn(ebb)
    touched = ebb.effects()

    ebb.pass_time(minutes=5)
    ebb.tick()

    assert (ebb.effects(), ebb.remembered().claims) == (touched, {})
    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["removed"]


@pytest.mark.acceptance(97)
def test_a_late_release_for_the_old_node_leaves_the_one_that_has_its_name_now_alone() -> None:
    ebb = fake_ebb()
    ebb.drain(order())
    reborn(ebb)
    ebb.cluster.put(replace(ebb.cluster.nodes["n1"], unschedulable=True))

    ebb.pass_time(minutes=26)
    ebb.deliver(order(kind=OrderKind.RELEASE, origin=Origin.PLANNER, why="watchdog"))

    assert ebb.cluster.nodes["n1"].unschedulable
