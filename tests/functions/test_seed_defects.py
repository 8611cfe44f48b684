"""Estafette's defects of draining through the whole loop, by number (docs/decisions/predecessors.md).

Each docstring says what that system did, and how the defect could be put back so that its test fails.
"""

import pytest

from functions.drainer.main import PushReply
from shared.core.cluster.workloads import Workload
from shared.core.policy import KubeSystemPods
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.errors import Retryable
from shared.ports import Eviction
from tests.builders import node, order, pdb, pod, pod_class, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, dies_after, evicted, fake_ebb
from tests.functions.fake_ebb import FakeEbb


@cases(
    "answer",
    ("404: the pod is gone already", EvictionAnswer.GONE),
    ("409", EvictionAnswer.CONFLICT),
    ("503", EvictionAnswer.LATER),
    ("429 for a PodDisruptionBudget", EvictionAnswer.BUDGET),
)
@pytest.mark.acceptance(86)
def test_b4_no_passing_error_of_one_pod_ends_a_drain(answer: EvictionAnswer) -> None:
    """B4: estafette gave a drain up at the first error, a 404 among them, and left the node half drained for good.

    Put back by adding the answer's word to `evictions.REFUSED_FOR_GOOD`.
    """
    ebb = fake_ebb(*(pod(f"p{index}", on="n1", owner=f"ReplicaSet/r{index}") for index in range(3)))
    ebb.cluster.answers["default/p0"] = [Eviction(EvictionAnswer.GRANTED), Eviction(answer, "default/web")]

    ebb.drain(order())

    assert ebb.record().phase is DrainPhase.DRAINED
    assert set(evicted(ebb)) == {"default/p0", "default/p1", "default/p2"}


@pytest.mark.acceptance(95)
def test_b4_a_half_drained_node_is_drained_to_its_end_by_a_later_pass() -> None:
    """B4: nothing came back to a half-drained node. Put back by taking `_silent` out of `repairs._CLAIM_RULES`."""
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pod("q", on="n1", owner="ReplicaSet/other"), pdb("web", app="web"))
    ebb.cluster.answers["default/q"] = [Eviction(EvictionAnswer.GRANTED), Retryable("kubernetes", "killed")]
    assert ebb.drain(order()) is PushReply.AGAIN

    ebb.pass_time(minutes=5)
    ebb.tick()
    (again,) = [sent for sent in ebb.bus.published if sent.order_id == "order"]
    ebb.deliver(again)

    assert ebb.record().phase is DrainPhase.DRAINED
    assert [pod for pod in ebb.cluster.pods.values() if pod.node == "n1"] == []


@pytest.mark.acceptance(94)
def test_b5_a_drained_node_that_nobody_deletes_is_not_in_progress_forever() -> None:
    """B5: estafette's mark of progress was never taken off, and filled the pool's gate for good.

    Put back by taking `_watchdog` out of `repairs._CLAIM_RULES`.
    """
    ebb = FakeEbb(node("n1"), node("n2"), node("n3"))
    ebb.drain(order(reason="empty"))

    ebb.pass_time(minutes=24)
    ebb.tick()
    assert set(ebb.remembered().claims) == {"uid-n1"}

    ebb.pass_time(minutes=2)
    ebb.tick()
    ebb.deliver(next(sent for sent in ebb.bus.published if sent.why == "watchdog"))

    assert ebb.remembered().claims == {}
    assert (ebb.cluster.nodes["n1"].unschedulable, ebb.reasons("drain_result")) == (False, ["watchdog"])


def test_b5_a_drain_whose_function_was_shut_down_goes_on() -> None:
    """B5: a shutdown mid-drain left the node in progress. Put back as the second B4."""
    ebb = fake_ebb(pod("p", on="n1", kind=WEB))
    dies_after(ebb, "take")
    ebb.drain(order())

    ebb.pass_time(minutes=5)
    ebb.tick()
    ebb.deliver(next(sent for sent in ebb.bus.published if sent.order_id == "order"))

    assert ebb.record().phase is DrainPhase.DRAINED


def most_away(ebb: FakeEbb, kind: str) -> list[int]:
    """Record at every moment how many replicas are leaving; what is gone is back at once."""
    counts: list[int] = []

    def count() -> None:
        counts.append(
            sum(one_pod.deleting is not None for one_pod in ebb.cluster.pods.values() if one_pod.spec.workload == kind)
        )

    ebb.clock.moves.append(count)
    return counts


def test_b6_replicas_that_share_a_node_are_never_all_away_at_once() -> None:
    """B6: estafette deleted all replicas of a service on a node together.

    Put back by returning every pod in `eviction_order._in_order`.
    """
    ebb = fake_ebb(*(pod(f"p{index}", on="n1", kind=WEB) for index in range(3)))
    ebb.cluster.workloads[WEB.workload] = Workload("default/Deployment/web", 3, 3)
    counts = most_away(ebb, WEB.workload)

    ebb.drain(order())

    assert (ebb.record().phase, max(counts), len(evicted(ebb))) == (DrainPhase.DRAINED, 1, 3)


@cases("expected, many, cpu", ("one pod of 2.2 cores", 0, 1, 2.2), ("eleven pods of 0.2 cores", 1, 11, 0.2))
@pytest.mark.acceptance(45)
def test_b6_no_node_goes_whose_pods_fit_nowhere(expected: int, many: int, cpu: float) -> None:
    """B6: five nodes of 4 cores at 55 % passed estafette's limit, though a pod of 2.2 cores fits on none of them.

    Put back by leaving `_no_place` out of `selection.Selection.consider`.
    """
    nodes = [node(f"n{index}") for index in range(5)]
    pods = [
        pod(f"p{index}-{number}", on=f"n{index}", cpu=cpu, memory=0.1, owner=f"ReplicaSet/r{index}-{number}")
        for index in range(5)
        for number in range(many)
    ]
    ebb = FakeEbb(*nodes, *pods, policy=policy(required_count=5))

    ebb.tick()

    assert len(ebb.bus.drains) == expected


@cases(
    "expected, kept, option",
    ("evict: it moves with all others", ["kube-system/dns"], "", KubeSystemPods.EVICT),
    ("leave: its node is not drained at all", [], "blocked_by_pod", KubeSystemPods.LEAVE),
)
@pytest.mark.acceptance(88)
def test_b11_no_kube_system_pod_is_left_alone_on_a_drained_node(
    expected: list[str], kept: str, option: KubeSystemPods
) -> None:
    """B11: estafette skipped kube-system pods: the node stayed cordoned, paid for, with the pod on it.

    Put back by skipping the namespace in `pods.skipped`.
    """
    dns = pod("dns", on="n1", namespace="kube-system", owner="ReplicaSet/dns")
    ebb = fake_ebb(dns, policy=policy(kube_system_pods=option))

    ebb.drain(order())

    assert evicted(ebb) == expected
    assert ebb.reasons("drain_result") == ([kept] if kept else [])
    assert ebb.cluster.nodes["n1"].unschedulable is bool(expected)


def test_b12_a_pod_that_was_bound_just_before_the_cordon_moves_too() -> None:
    """B12: estafette listed the pods before the cordon and missed what was bound in between.

    Put back by keeping the pods of the claim's look in `observe.Observer`.
    """
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pdb("web", app="web", allowed=2))
    ebb.cluster.meanwhile["take",] = lambda: ebb.cluster.put(pod("late", on="n1", kind=WEB))

    ebb.drain(order())

    assert sorted(map(str, evicted(ebb))) == ["default/late", "default/p"], "they go together, in either order"


def test_b12_a_pod_reborn_under_its_name_on_another_node_is_not_evicted() -> None:
    """B12: a delete by name hit the StatefulSet's new pod elsewhere.

    Put back by asking for evictions without the UID (`evictions.body`; here the fake's comparison of UIDs).
    """
    db = pod_class(owner="StatefulSet/db")
    ebb = fake_ebb(pod("db-0", on="n1", kind=db))
    reborn = pod("db-0", on="n2", kind=db, uid="uid-reborn")
    ebb.cluster.meanwhile["evict", "default/db-0", 30, False] = lambda: ebb.cluster.put(reborn)

    ebb.drain(order())

    assert ebb.cluster.pods["default/db-0"] == reborn
    assert ebb.record().phase is DrainPhase.DRAINED
