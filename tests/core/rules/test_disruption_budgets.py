from typing import Any

import pytest

from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.policy import Limit, PoolPolicy
from shared.core.reasons import PodBlock
from shared.core.records.state import ClusterState
from shared.core.rules.disruption_budgets import lets_go
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.nodes import SAFETY_RULES, judge_node
from shared.core.rules.pods import judge
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pdb, pod, policy

NEVER, NOW_NOT = [PodBlock.PDB_NEVER_ALLOWS], [PodBlock.PDB_EXHAUSTED]
UNCOUNTED = [PodBlock.PDB_UNCOUNTED]
LABELLED = LabelSelector(())
THREE = {"expected_pods": 3, "current_healthy": 3}


def found(subject: Pod, *budgets: PodDisruptionBudget, wanted: int | None = None) -> list[Any]:
    workloads = {subject.spec.workload: Workload("default/Deployment/web", wanted)} if wanted else {}
    context = DrainContext(budgets, PoolPolicy(), NOW, workloads)
    return [blocker.reason for blocker in judge(subject, context)]


def at_least(count: int | None = None, percent: int | None = None, **status: Any) -> PodDisruptionBudget:
    return pdb("web", allowed=0, min_available=Limit(count, percent), **status)


def at_most(count: int | None = None, percent: int | None = None, **status: Any) -> PodDisruptionBudget:
    return pdb("web", allowed=0, max_unavailable=Limit(count, percent), **status)


@pytest.mark.parametrize(
    ("expected", "budget"),
    [
        pytest.param(NEVER, at_least(3, **THREE), id="minAvailable 3 of 3 pods"),
        pytest.param(NEVER, at_least(4, **THREE), id="minAvailable 4 of 3 pods"),
        pytest.param(
            NOW_NOT, at_least(2, expected_pods=3, current_healthy=2), id="minAvailable 2 of 3, one not healthy"
        ),
        pytest.param(NEVER, at_least(percent=100, **THREE), id="minAvailable 100%"),
        pytest.param(NEVER, at_least(percent=67, **THREE), id="minAvailable 67% of 3 rounds up to 3"),
        pytest.param(NOW_NOT, at_least(percent=66, **THREE), id="minAvailable 66% of 3 is 2"),
        pytest.param(NEVER, at_least(percent=1, expected_pods=1), id="minAvailable 1% of the only pod is 1"),
        pytest.param(NEVER, at_most(0, **THREE), id="maxUnavailable 0"),
        pytest.param(NEVER, at_most(percent=0, **THREE), id="maxUnavailable 0%"),
        pytest.param(NOW_NOT, at_most(percent=1, **THREE), id="maxUnavailable 1% of 3 rounds up to 1"),
        pytest.param(NOW_NOT, at_most(1, expected_pods=1), id="maxUnavailable 1 of the only pod"),
        pytest.param(NEVER, PodDisruptionBudget("default", "web", LABELLED, expected_pods=3), id="neither of the two"),
    ],
)
def test_a_budget_that_asks_for_all_of_its_pods_is_shown_from_one_that_waits(
    expected: list[PodBlock], budget: PodDisruptionBudget
) -> None:
    assert found(pod("p"), budget) == expected


@pytest.mark.parametrize(
    ("expected", "budget", "wanted"),
    [
        pytest.param(NEVER, at_least(3, expected_pods=3), 3, id="all replicas are there, and all must stay"),
        pytest.param(NOW_NOT, at_least(2, expected_pods=2), 3, id="a replica is just being replaced"),
        pytest.param(NOW_NOT, at_least(3, observed=False), None, id="a new budget, nothing is counted yet"),
        pytest.param(NEVER, at_most(0, observed=False), None, id="a new budget that allows nothing of any number"),
        pytest.param(NEVER, at_least(3, observed=False), 3, id="a new budget over as many replicas as must stay"),
        pytest.param(
            NOW_NOT, at_least(3, expected_pods=4, observed=False), None, id="what was counted for an older spec"
        ),
        pytest.param(
            NEVER, at_least(3, expected_pods=4, observed=False), 3, id="nor does that make a budget satisfiable"
        ),
    ],
)
def test_replicas_that_are_not_counted_yet_make_no_budget_unsatisfiable(
    expected: list[PodBlock], budget: PodDisruptionBudget, wanted: int | None
) -> None:
    assert found(pod("p"), budget, wanted=wanted) == expected


NOBODY = {"expected_pods": 0, "current_healthy": 2}


@pytest.mark.parametrize(
    ("expected", "budget", "wanted"),
    [
        pytest.param(UNCOUNTED, at_most(1, fault="no scale"), None, id="its controller failed before it counted"),
        pytest.param(UNCOUNTED, at_most(1, fault="no scale", **THREE), 3, id="its controller counted once, and failed"),
        pytest.param(UNCOUNTED, at_most(1, fault="no scale", observed=False), 3, id="it has never been counted"),
        pytest.param(UNCOUNTED, at_most(1, **NOBODY), None, id="pods of no controller, or of one that scales to none"),
        pytest.param(UNCOUNTED, at_least(percent=50, **NOBODY), None, id="the same under a share"),
        pytest.param(NOW_NOT, at_most(1, expected_pods=0), None, id="its first pods have just appeared"),
        pytest.param(NOW_NOT, at_most(1, observed=False, **NOBODY), None, id="what was counted for an older spec"),
        pytest.param(NOW_NOT, at_most(1, **NOBODY), 0, id="the last pods of what is scaled to zero"),
        pytest.param(NOW_NOT, at_most(1, **NOBODY), 2, id="a workload that has just been scaled up from zero"),
    ],
)
def test_a_budget_whose_pods_nobody_can_count_never_allows_a_disruption(
    expected: list[PodBlock], budget: PodDisruptionBudget, wanted: int | None
) -> None:
    workloads = {pod("p").spec.workload: Workload("default/Deployment/web", wanted)}
    context = DrainContext((budget,), PoolPolicy(), NOW, workloads)
    assert [blocker.reason for blocker in judge(pod("p"), context)] == expected


HEALTHY, SHORT = {"current_healthy": 2, "desired_healthy": 2}, {"current_healthy": 1, "desired_healthy": 2}


@pytest.mark.parametrize(
    ("expected", "ready", "allowed", "given"),
    [
        pytest.param(True, True, 1, {}, id="one may go"),
        pytest.param(False, True, 0, HEALTHY, id="a Ready pod needs the budget"),
        pytest.param(
            False, True, 0, {"always_evict_unhealthy": True}, id="AlwaysAllow is about pods that are not Ready"
        ),
        pytest.param(True, False, 0, {"always_evict_unhealthy": True, **SHORT}, id="AlwaysAllow, not Ready"),
        pytest.param(True, False, 0, HEALTHY, id="IfHealthyBudget: enough others are healthy"),
        pytest.param(False, False, 0, SHORT, id="IfHealthyBudget: too few are healthy"),
        pytest.param(False, False, 0, {}, id="IfHealthyBudget: nothing has to be healthy"),
        pytest.param(True, False, 1, SHORT, id="not Ready, and one may go"),
        pytest.param(False, True, 1, {"observed": False}, id="the status is of an older spec"),
        pytest.param(True, False, 0, {"observed": False, **HEALTHY}, id="which does not matter to what is not Ready"),
    ],
)
def test_a_running_pod_goes_as_the_eviction_api_lets_it(
    expected: bool, ready: bool, allowed: int, given: dict[str, Any]
) -> None:
    assert lets_go(pdb("web", allowed=allowed, **given), pod("p", ready=ready)) == expected


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"phase": Phase.PENDING, "ready": False}, id="bound, its containers not started"),
        pytest.param({"deleting": NOW}, id="on its way out"),
    ],
)
def test_the_eviction_api_asks_no_budget_for_what_does_not_run(changes: dict[str, Any]) -> None:
    assert found(pod("p", **changes), pdb("web", allowed=0)) == []


def test_a_budget_keeps_a_node_for_now_and_one_that_nobody_can_meet_for_good() -> None:
    """`--potential` asks how many nodes could go at all: what waits its turn could."""

    def kept(budget: PodDisruptionBudget) -> list[str]:
        snapshot = cluster([node("n1")], [pod("p", on="n1")], disruption_budgets=(budget,))
        situation = Situation(snapshot, ClusterState(), policy())
        return [blocker.reason.value for blocker in judge_node(snapshot.nodes[0], situation, SAFETY_RULES)]

    assert kept(at_least(2, expected_pods=3)) == []
    assert kept(at_least(3, expected_pods=3)) == ["blocked_by_pod", "pdb_never_allows"]
    assert kept(at_most(1, fault="no scale")) == ["blocked_by_pod", "pdb_uncounted"]


@pytest.mark.parametrize(
    ("expected", "budget"),
    [
        pytest.param(
            "default/web, 1 of 3 healthy, 2 must stay",
            at_least(2, expected_pods=3, current_healthy=1, desired_healthy=2),
            id="counts",
        ),
        pytest.param(
            "default/web, changed and not yet looked at by its controller", at_least(2, observed=False), id="new"
        ),
        pytest.param("default/web: no scale", at_least(2, fault="no scale"), id="what its controller names"),
    ],
)
def test_the_plan_shows_how_a_budget_stands(expected: str, budget: PodDisruptionBudget) -> None:
    judged = judge(pod("p"), DrainContext((budget,), PoolPolicy(), NOW))
    assert [blocker.detail for blocker in judged] == [expected]
