"""A full node beside many drains, where each call takes its time: it is empty before its deadline all the same."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from shared.core.records.drain_record import DrainPhase
from shared.core.records.state import ClusterState
from tests.builders import claim, node, order, pdb, pod, policy
from tests.functions.fake_ebb import FakeEbb

CALL_SECONDS = 0.03
PODS, WORKLOADS = 110, 60


def slow(ebb: FakeEbb, owner: Any, name: str, cost: Callable[..., float]) -> None:
    """Let each call take its time."""
    own = getattr(owner, name)

    def call(*given: Any, **more: Any) -> Any:
        ebb.clock.advance(cost(*given))
        return own(*given, **more)

    setattr(owner, name, call)


def fake_ebb(others: int) -> FakeEbb:
    """A node of 110 pods of sixty workloads, each with a budget, and so many other claims, drained some minutes ago."""
    nodes = [
        node("n1", cpu=64, memory=256, pods=256),
        node("free", cpu=64, memory=256, pods=256),
        *(node(f"x{index}", cpu=64, pods=256) for index in range(others)),
    ]
    pods = [
        pod(f"p{index:03d}", on="n1", owner=f"ReplicaSet/w{index % WORKLOADS}", cpu=0.1, grace_seconds=30)
        for index in range(PODS)
    ]
    guards = [pdb(f"b{index}", allowed=50, app=f"w{index}") for index in range(WORKLOADS)]
    ebb = FakeEbb(*nodes, *pods, *guards, policy=policy(), step_seconds=25, one_instance=True)
    before = ebb.clock.now() - timedelta(minutes=5)
    rows = {
        f"uid-x{index}": claim(f"x{index}", order_id=f"o{index}", since=before, drained=True) for index in range(others)
    }
    ebb.remember(ClusterState(claims=rows))
    for name in ("node", "pods_on", "disruption_budgets", "unbound_pods", "all_nodes"):
        slow(ebb, ebb.cluster, name, lambda *_: CALL_SECONDS)
    slow(ebb, ebb.cluster, "workloads_of", lambda names: 2 * CALL_SECONDS * len(set(names)))
    for name in ("get", "put"):
        slow(ebb, ebb.state, name, lambda *_: CALL_SECONDS)
    return ebb


def test_a_full_node_ends_within_its_deadline_next_to_eighteen_drains_that_wait_for_the_autoscaler() -> None:
    ebb = fake_ebb(18)

    ebb.drain(order())
    ebb.carry_on()

    record = ebb.record()
    assert (record.phase, record.why) == (DrainPhase.DRAINED, "")
    assert record.deadline is not None
    assert ebb.clock.now() < record.deadline
    assert len({call[1] for call in ebb.effects() if call[0] == "evict"}) == PODS


def test_drains_that_move_the_same_workloads_read_them_once() -> None:
    """Three drains of one instance, one after the other in the same seconds."""
    nodes = [node(f"n{index}", cpu=64, pods=256) for index in range(1, 6)]
    pods = [
        pod(f"p{number}{index}", on=f"n{number}", owner="ReplicaSet/web") for number in (1, 2, 3) for index in (1, 2)
    ]
    ebb = FakeEbb(*nodes, *pods, pdb("web", allowed=50, app="web"), step_seconds=1, one_instance=True)

    for name in ("n1", "n2", "n3"):
        ebb.drain(order(name, order_id=f"for-{name}"))

    calls = Counter(call[0] for call in ebb.cluster.calls)
    looks = calls["workloads_of"] - 3
    assert looks <= 2, "each admission asks by itself; of the looks of three seconds one does"
