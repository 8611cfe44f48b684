from typing import Any

from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector
from shared.core.cluster.workloads import PodDisruptionBudget, Workload
from shared.core.policy import Limit, PoolPolicy
from shared.core.reasons import PodBlock
from shared.core.records.state import ClusterState
from shared.core.rules.drain_context import DrainContext, lets_go
from shared.core.rules.nodes import SAFETY_RULES, judge_node
from shared.core.rules.pods import judge
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pdb, pod, policy
from tests.depth import cases

NEVER, NOW_NOT = [PodBlock.PDB_NEVER_ALLOWS], [PodBlock.PDB_EXHAUSTED]
UNCOUNTED = [PodBlock.PDB_UNCOUNTED]
LABELLED = LabelSelector(())
THREE = {"expected_pods": 3, "current_healthy": 3}


def found(subject: Pod, *budgets: PodDisruptionBudget, wanted: int | None = None) -> list[Any]:
    workloads = {subject.spec.workload: Workload("default/Deployment/web", wanted)}
    context = DrainContext(budgets, PoolPolicy(), NOW, workloads)
    return [blocker.reason for blocker in judge(subject, context)]


def at_least(count: int | None = None, percent: int | None = None, **status: Any) -> PodDisruptionBudget:
    return pdb("web", allowed=0, min_available=Limit(count, percent), **status)


def at_most(count: int | None = None, percent: int | None = None, **status: Any) -> PodDisruptionBudget:
    return pdb("web", allowed=0, max_unavailable=Limit(count, percent), **status)


@cases(
    "expected, budget",
    ("minAvailable 3 of 3 pods", NEVER, at_least(3, **THREE)),
    ("minAvailable 4 of 3 pods", NEVER, at_least(4, **THREE)),
    ("minAvailable 2 of 3, one not healthy", NOW_NOT, at_least(2, expected_pods=3, current_healthy=2)),
    ("minAvailable 100%", NEVER, at_least(percent=100, **THREE)),
    ("minAvailable 67% of 3 rounds up to 3", NEVER, at_least(percent=67, **THREE)),
    ("minAvailable 66% of 3 is 2", NOW_NOT, at_least(percent=66, **THREE)),
    ("minAvailable 1% of the only pod is 1", NEVER, at_least(percent=1, expected_pods=1)),
    ("maxUnavailable 0", NEVER, at_most(0, **THREE)),
    ("maxUnavailable 0%", NEVER, at_most(percent=0, **THREE)),
    ("maxUnavailable 1% of 3 rounds up to 1", NOW_NOT, at_most(percent=1, **THREE)),
    ("maxUnavailable 1 of the only pod", NOW_NOT, at_most(1, expected_pods=1)),
    ("neither of the two", NEVER, PodDisruptionBudget("default", "web", LABELLED, expected_pods=3)),
)
def test_a_budget_that_asks_for_all_of_its_pods_is_shown_from_one_that_waits(
    expected: list[PodBlock], budget: PodDisruptionBudget
) -> None:
    assert found(pod("p"), budget) == expected


@cases(
    "expected, budget, wanted",
    ("all replicas are there, and all must stay", NEVER, at_least(3, expected_pods=3), 3),
    ("a replica is just being replaced", NOW_NOT, at_least(2, expected_pods=2), 3),
    ("a new budget, nothing is counted yet", NOW_NOT, at_least(3, observed=False), None),
    ("a new budget that allows nothing of any number", NEVER, at_most(0, observed=False), None),
    ("a new budget over as many replicas as must stay", NEVER, at_least(3, observed=False), 3),
    ("what was counted for an older spec", NOW_NOT, at_least(3, expected_pods=4, observed=False), None),
    ("nor does that make a budget satisfiable", NEVER, at_least(3, expected_pods=4, observed=False), 3),
)
def test_replicas_that_are_not_counted_yet_make_no_budget_unsatisfiable(
    expected: list[PodBlock], budget: PodDisruptionBudget, wanted: int | None
) -> None:
    assert found(pod("p"), budget, wanted=wanted) == expected


NOBODY = {"expected_pods": 0, "current_healthy": 2}


@cases(
    "expected, budget, wanted",
    ("its controller failed before it counted", UNCOUNTED, at_most(1, fault="no scale"), None),
    ("its controller counted once, and failed", UNCOUNTED, at_most(1, fault="no scale", **THREE), 3),
    ("it has never been counted", UNCOUNTED, at_most(1, fault="no scale", observed=False), 3),
    ("pods of no controller, or of one that scales to none", UNCOUNTED, at_most(1, **NOBODY), None),
    ("the same under a share", UNCOUNTED, at_least(percent=50, **NOBODY), None),
    ("its first pods have just appeared", NOW_NOT, at_most(1, expected_pods=0), None),
    ("what was counted for an older spec", NOW_NOT, at_most(1, observed=False, **NOBODY), None),
    ("the last pods of what is scaled to zero", NOW_NOT, at_most(1, **NOBODY), 0),
    ("a workload that has just been scaled up from zero", NOW_NOT, at_most(1, **NOBODY), 2),
)
def test_a_budget_whose_pods_nobody_can_count_never_allows_a_disruption(
    expected: list[PodBlock], budget: PodDisruptionBudget, wanted: int | None
) -> None:
    assert found(pod("p"), budget, wanted=wanted) == expected


HEALTHY, SHORT = {"current_healthy": 2, "desired_healthy": 2}, {"current_healthy": 1, "desired_healthy": 2}


@cases(
    "expected, ready, allowed, given",
    ("one may go", True, True, 1, {}),
    ("a Ready pod needs the budget", False, True, 0, HEALTHY),
    ("AlwaysAllow is about pods that are not Ready", False, True, 0, {"always_evict_unhealthy": True}),
    ("AlwaysAllow, not Ready", True, False, 0, {"always_evict_unhealthy": True, **SHORT}),
    ("IfHealthyBudget: enough others are healthy", True, False, 0, HEALTHY),
    ("IfHealthyBudget: too few are healthy", False, False, 0, SHORT),
    ("IfHealthyBudget: nothing has to be healthy", False, False, 0, {}),
    ("not Ready, and one may go", True, False, 1, SHORT),
    ("the status is of an older spec", False, True, 1, {"observed": False}),
    ("which does not matter to what is not Ready", True, False, 0, {"observed": False, **HEALTHY}),
)
def test_a_running_pod_goes_as_the_eviction_api_lets_it(
    expected: bool, ready: bool, allowed: int, given: dict[str, Any]
) -> None:
    assert lets_go(pdb("web", allowed=allowed, **given), pod("p", ready=ready)) == expected


@cases(
    "changes",
    ("bound, its containers not started", {"phase": Phase.PENDING, "ready": False}),
    ("on its way out", {"deleting": NOW}),
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


@cases(
    "expected, budget",
    ("counts", "default/web, 1 of 3 healthy, 2 must stay",
     at_least(2, expected_pods=3, current_healthy=1, desired_healthy=2)),
    ("new", "default/web, changed and not yet looked at by its controller", at_least(2, observed=False)),
    ("what its controller names", "default/web: no scale", at_least(2, fault="no scale")),
)  # fmt: skip
def test_the_plan_shows_how_a_budget_stands(expected: str, budget: PodDisruptionBudget) -> None:
    judged = judge(pod("p"), DrainContext((budget,), PoolPolicy(), NOW))
    assert [blocker.detail for blocker in judged] == [expected]
