"""What happens at once: two planners, the evictions of one node, the nodes of one pass; and what a gap keeps apart."""

from datetime import timedelta
from threading import Barrier, Lock
from typing import Any

import pytest

from shared.core.cluster.pod import Pod
from shared.core.policy import Budget, DrainSettings, Limit
from shared.core.records.drain_record import DrainPhase, EvictionAnswer
from shared.ports import Eviction
from tests.builders import node, order, pdb, pod, pod_class, policy
from tests.depth import cases
from tests.fakes import once
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
PATIENCE = 30.0
"""How long an eviction waits for the others that should be under way with it."""


class Crowd:
    """Lets evictions through only when so many are under way together, and counts them."""

    def __init__(self, ebb: FakeEbb, together: int) -> None:
        self.most, self._now, self._lock = 0, 0, Lock()
        self._line, self._own = Barrier(together), ebb.cluster.evict

    def __call__(self, asked: Pod, grace: int, *, dry_run: bool = False) -> Eviction:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self._line.wait(PATIENCE)
        with self._lock:
            self._now -= 1
            return self._own(asked, grace, dry_run=dry_run)


@pytest.mark.acceptance(84)
def test_evictions_overlap_and_their_number_is_bounded() -> None:
    pods = (pod(f"p{index}", on="n1", kind=WEB) for index in range(6))
    bounded = policy(cluster_wide={"drain": DrainSettings(max_parallel_evictions=3)})
    ebb = FakeEbb(node("n1"), node("n2"), *pods, pdb("web", allowed=6, app="web"), policy=bounded)
    crowd = Crowd(ebb, together=3)
    ebb.cluster.evict = crowd  # type: ignore[method-assign,assignment]  # a call that waits for the others

    ebb.drain(order())

    assert (ebb.record().phase, crowd.most) == (DrainPhase.DRAINED, 3)


@pytest.mark.acceptance(109)
def test_of_two_passes_at_once_one_acts() -> None:
    ebb = FakeEbb(node("n1"), node("n2"), pod("p", on="n1", kind=WEB))
    second: list[dict[str, Any]] = []
    ebb.cluster.meanwhile["read",] = once(lambda: second.append(ebb.tick()))

    first = ebb.tick()

    assert [one["duplicate"] for one in second] == [True]
    assert "duplicate" not in first
    assert len(ebb.bus.published) == 1


@cases("expected, settings", ("one by default", 1, {}), ("three where the pool shows it", 3, {"max_nodes_per_pass": 3}))
@pytest.mark.acceptance(99)
def test_of_five_candidates_under_a_budget_of_five_as_many_go_in_a_pass_as_the_pool_shows(
    expected: int, settings: dict[str, Any]
) -> None:
    nodes = [node(f"n{index}") for index in range(5)]
    ebb = FakeEbb(*nodes, policy=policy(budgets=(Budget(Limit(count=5)),), **settings))

    ebb.tick()

    assert len(ebb.bus.published) == expected


@cases("expected, after", ("9:59", 0, timedelta(minutes=9, seconds=59)), ("10:00", 1, timedelta(minutes=10)))
@pytest.mark.acceptance(50)
def test_the_gap_counts_from_a_drain_that_failed_too(expected: int, after: timedelta) -> None:
    ebb = FakeEbb(
        node("n1"), node("n2"), node("n3"), pod("p", on="n1", kind=WEB),
        policy=policy(cluster_wide={"time_gap": timedelta(minutes=10)}),
    )  # fmt: skip
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), Eviction(EvictionAnswer.FORBIDDEN, "webhook")]
    began = ebb.clock.now()
    ebb.drain(order())
    assert ebb.reasons("drain_result") == ["eviction_forbidden"]

    ebb.clock.advance((began + after - ebb.clock.now()).total_seconds())
    ebb.tick()

    assert len(ebb.bus.published) == expected
