"""Node-refiner's defects of draining through the whole loop, by number (docs/decisions/predecessors.md).

Each docstring says what that system did, and how the defect could be put back so that its test fails.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as changed

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase
from shared.core.policy import Budget, Limit
from shared.core.records.drain_record import DrainPhase
from shared.core.records.drain_record import EvictionAnswer as Answer
from shared.ports import Eviction
from tests.builders import node, order, pdb, pod, policy
from tests.functions.drainer.one_drain import WEB, dies_after, evicted, fake_ebb
from tests.functions.fake_ebb import FakeEbb

MINUTE = timedelta(minutes=1)


@pytest.mark.acceptance(71)
def test_n4_with_a_limit_of_one_a_second_drain_starts_only_after_the_first_has_ended() -> None:
    """N4: a drain took longer than the gap between drains, and two overlapped: nothing counted those in progress.

    Put back by leaving `budget` out of `gates.CLAIM_GATES`.
    """
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"), policy=policy(budgets=(Budget(Limit(count=1)),)))
    ebb.drain(order("n1", order_id="first", reason="empty"))
    ebb.pass_time(minutes=20)

    ebb.drain(order("n2", order_id="second", reason="empty"))
    assert ebb.reasons("drain_result") == ["budget"]

    del ebb.cluster.nodes["n1"]
    ebb.tick()
    ebb.drain(order("n2", order_id="third", reason="empty"))
    assert set(ebb.remembered().claims) == {"uid-n2"}


@pytest.mark.acceptance(87)
def test_n5_daemon_set_mirror_and_finished_pods_are_left_where_they_are() -> None:
    """N5: node-refiner evicted every pod of the node, those of DaemonSets too, which came back at once.

    Put back by letting `pods.skipped` skip nothing.
    """
    ebb = fake_ebb(
        pod("agent", on="n1", owner="DaemonSet/agent"),
        pod("proxy", on="n1", owner=None, annotations={names.MIRROR: "x"}),
        pod("done", on="n1", owner="Job/done", phase=Phase.SUCCEEDED, restart_policy="Never"),
        pod("p", on="n1", kind=WEB),
    )
    ebb.drain(order())

    assert (evicted(ebb), ebb.record().phase) == (["default/p"], DrainPhase.DRAINED)


@pytest.mark.parametrize("killed_at", ["take", "evict"])
@pytest.mark.acceptance(95)
def test_n6_a_restart_mid_drain_leaves_no_cordon_behind(killed_at: str) -> None:
    """N6: node-refiner remembered its drain in memory alone: a restart left a cordon that nobody owned.

    Put back by taking `_orphan_repairs` out of `repairs.find_repairs`.
    """
    ebb = fake_ebb(pod("p", on="n1", kind=WEB))
    dies_after(ebb, killed_at)
    ebb.drain(order())
    assert ebb.cluster.nodes["n1"].unschedulable
    ebb.state.documents.clear()

    ebb.pass_time(minutes=5)
    ebb.tick()
    for sent in [sent for sent in ebb.bus.published if sent.why]:
        ebb.deliver(sent)

    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.cluster.nodes["n1"].taints) == (False, ())


@pytest.mark.acceptance(92)
def test_n7_a_node_that_failed_is_left_alone_and_another_goes() -> None:
    """N7: node-refiner chose the same lowest node again at every gap and evicted the same pods again and again.

    Put back by returning the document as it is in `claims.back_off`.
    """
    held = pdb("web", app="web")
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pod("big", on="n2", cpu=1, owner="ReplicaSet/big"), held)
    ebb.cluster.put(pod("other", on="n3", cpu=2, owner="ReplicaSet/other"))
    ebb.cluster.answers["default/p"] = [Eviction(Answer.GRANTED), *[Eviction(Answer.BUDGET, "default/web")] * 300]
    ebb.tick()
    first = ebb.bus.published.pop()
    ebb.drain_to_end(first)

    ebb.pass_time(minutes=10)
    ebb.tick()

    assert (first.node, ebb.bus.published[-1].node) == ("n1", "n2")
    assert {line["node"]: line["reason"] for line in ebb.log.of("node_decision")}["n1"] == "backing_off"


def test_n7_each_failure_in_a_row_doubles_the_time() -> None:
    """N7, on: half an hour, then an hour. Put back as above."""
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    for turn in ("first", "second"):
        ebb.cluster.answers["default/p"] = [Eviction(Answer.GRANTED), Eviction(Answer.FORBIDDEN, "webhook")]
        ebb.drain(order(order_id=turn))
        ebb.pass_time(minutes=31)

    assert ebb.remembered().backoffs["uid-n1"].delay == 60 * MINUTE


def cordoned_by_a_person(given: Node) -> Node:
    """The person takes the node over: our taint goes, the cordon is theirs."""
    return replace(given, taints=(), annotations={}, unschedulable=True)


@pytest.mark.acceptance(91)
def test_n10_a_cordon_that_a_person_set_meanwhile_stays() -> None:
    """N10: node-refiner uncordoned after each failure, whoever had cordoned the node meanwhile.

    Put back by giving back without asking for our taint, in `finish.restore_node` and in the port's `return_node`.
    """
    ebb = fake_ebb(pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=60))
    ebb.later(20, lambda: ebb.cluster.put(cordoned_by_a_person(ebb.cluster.nodes["n1"])))

    ebb.drain(order())

    assert [line["outcome"] for line in ebb.log.of("drain_result")] == ["overruled"]
    assert ebb.cluster.nodes["n1"].unschedulable
    assert ebb.remembered().claims == {}


@pytest.mark.acceptance(41)
def test_n10_a_node_that_a_person_cordoned_is_skipped_and_the_reason_is_given() -> None:
    """N10, before a drain. Put back by taking `_cordoned_by_other` out of `nodes.NODE_RULES`."""
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"))
    ebb.cluster.put(node("n1", unschedulable=True))

    ebb.tick()
    ebb.drain(changed(order(), reason="empty"))

    assert "n1" not in [sent.node for sent in ebb.bus.published]
    assert {line["node"]: line["reason"] for line in ebb.log.of("node_decision")}["n1"] == "cordoned_by_other"
    assert ebb.reasons("drain_result") == ["cordoned_by_other"]
