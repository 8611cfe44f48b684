"""The fake cluster decides by budgets as the API server does; what else it promises, the contract asks."""

from typing import Any

import pytest

from shared.core.cluster.pod import Phase
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.records.drain_record import EvictionAnswer as Answer
from shared.errors import Retryable
from shared.ports import Eviction
from tests.builders import pdb, pod
from tests.depth import cases
from tests.fakes import FakeCluster

SICK = {"ready": False}


def test_an_evicted_pod_is_not_paid_for_twice() -> None:
    web = pod("web", on="n1")
    cluster = FakeCluster(web, pdb("web", allowed=2, app="web"))
    cluster.evict(web, 30)

    assert cluster.evict(web, 30) == Eviction(Answer.GRANTED)
    assert cluster.pdbs["default/web"].disruptions_allowed == 1


@cases(
    "expected, changes, budgets",
    ("no budget", Answer.GRANTED, {}, []),
    ("a budget that is used up", Answer.BUDGET, {}, [pdb("a", allowed=0)]),
    ("two budgets", Answer.SEVERAL_PDBS, {}, [pdb("a"), pdb("b")]),
    ("a budget of others", Answer.GRANTED, {}, [pdb("a", allowed=0, app="other")]),
    ("a budget of another namespace", Answer.GRANTED, {}, [pdb("a", allowed=0, namespace="other")]),
    ("a pod that never ran", Answer.GRANTED, {"phase": Phase.PENDING}, [pdb("a", allowed=0)]),
    ("a pod that failed", Answer.GRANTED, {"phase": Phase.FAILED}, [pdb("a", allowed=0)]),
    ("an unhealthy pod", Answer.BUDGET, SICK, [pdb("a", allowed=0)]),
    ("that may always go", Answer.GRANTED, SICK, [pdb("a", allowed=0, always_evict_unhealthy=True)]),
    ("next to healthy ones", Answer.GRANTED, SICK, [pdb("a", allowed=0, current_healthy=2, desired_healthy=2)]),
    ("a status that is of an older spec", Answer.BUDGET, {}, [pdb("a", observed=False)]),
)
def test_the_budget_decides_as_the_api_server_does(
    expected: Answer, changes: dict[str, Any], budgets: list[PodDisruptionBudget]
) -> None:
    web = pod("web", on="n1", **changes)
    cluster = FakeCluster(web, *budgets)

    assert cluster.evict(web, 30).answer == expected


def test_scripted_answers_and_failures_come_first_and_in_order() -> None:
    web = pod("web", on="n1")
    cluster = FakeCluster(web)
    cluster.answers["default/web"] = [Eviction(Answer.CONFLICT), Retryable("api server")]
    cluster.failures["read"] = [Retryable("api server")]

    assert cluster.evict(web, 30).answer == Answer.CONFLICT
    with pytest.raises(Retryable):
        cluster.evict(web, 30)
    assert cluster.evict(web, 30).answer == Answer.GRANTED
    with pytest.raises(Retryable):
        cluster.read()
    assert cluster.read().pods == tuple(cluster.pods.values())
