"""The fake cluster answers as the eviction subresource and a conditional patch would; the shells rely on it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.pod import Phase
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.records.drain_record import EvictionAnswer as Answer
from shared.errors import Gone, Retryable, Stale
from shared.port_types import Eviction
from shared.ports import Cluster
from tests.builders import NOW, node, pdb, pod
from tests.fakes import FakeCluster


def test_a_granted_eviction_costs_the_budget_and_begins_the_pods_end() -> None:
    web = pod("web", on="n1")
    cluster = FakeCluster(web, pdb("web", allowed=1, app="web"), now=lambda: NOW)

    assert cluster.evict(web, 30) == Eviction(Answer.GRANTED)
    assert cluster.pdbs["default/web"].disruptions_allowed == 0
    assert cluster.pods["default/web"].deleting == NOW + timedelta(seconds=30)


def test_a_dry_run_costs_nothing() -> None:
    web = pod("web", on="n1")
    cluster = FakeCluster(web, pdb("web", allowed=1, app="web"))

    assert cluster.evict(web, 30, dry_run=True) == Eviction(Answer.GRANTED)
    assert (cluster.pdbs["default/web"].disruptions_allowed, cluster.pods["default/web"].deleting) == (1, None)


def test_an_evicted_pod_is_not_paid_for_twice() -> None:
    web = pod("web", on="n1")
    cluster = FakeCluster(web, pdb("web", allowed=2, app="web"))
    cluster.evict(web, 30)

    assert cluster.evict(web, 30) == Eviction(Answer.GRANTED)
    assert cluster.pdbs["default/web"].disruptions_allowed == 1


@pytest.mark.parametrize(
    ("expected", "changes", "budgets"),
    [
        pytest.param(Answer.GRANTED, {}, [], id="no budget"),
        pytest.param(Answer.BUDGET, {}, [pdb("a", allowed=0)], id="a budget that is used up"),
        pytest.param(Answer.SEVERAL_PDBS, {}, [pdb("a"), pdb("b")], id="two budgets"),
        pytest.param(Answer.GRANTED, {}, [pdb("a", allowed=0, app="other")], id="a budget of others"),
        pytest.param(Answer.GRANTED, {}, [pdb("a", allowed=0, namespace="other")], id="a budget of another namespace"),
        pytest.param(Answer.GRANTED, {"phase": Phase.PENDING}, [pdb("a", allowed=0)], id="a pod that never ran"),
        pytest.param(Answer.GRANTED, {"phase": Phase.FAILED}, [pdb("a", allowed=0)], id="a pod that failed"),
        pytest.param(Answer.BUDGET, {"ready": False}, [pdb("a", allowed=0)], id="an unhealthy pod"),
        pytest.param(
            Answer.GRANTED,
            {"ready": False},
            [replace(pdb("a", allowed=0), always_evict_unhealthy=True)],
            id="an unhealthy pod that may always go",
        ),
        pytest.param(
            Answer.GRANTED,
            {"ready": False},
            [pdb("a", allowed=0, current_healthy=2, desired_healthy=2)],
            id="an unhealthy pod next to enough healthy ones",
        ),
        pytest.param(Answer.BUDGET, {}, [pdb("a", observed=False)], id="a status that is of an older spec"),
    ],
)
def test_the_budget_decides_as_the_api_server_does(
    expected: Answer, changes: dict[str, Any], budgets: list[PodDisruptionBudget]
) -> None:
    web = pod("web", on="n1", **changes)
    cluster = FakeCluster(web, *budgets)

    assert cluster.evict(web, 30).answer == expected


def test_a_pod_that_is_gone_or_reborn_is_gone() -> None:
    web = pod("web", on="n1")

    assert FakeCluster().evict(web, 30).answer == Answer.GONE
    assert FakeCluster(structs.replace(web, uid="another")).evict(web, 30).answer == Answer.GONE


def test_taking_and_returning_are_one_patch_each_on_the_version_read() -> None:
    cluster = FakeCluster(node("n1"))
    port: Cluster = cluster
    before = port.node("n1")

    taken = port.take(before, "0a", NOW)
    with pytest.raises(Stale):
        port.take(before, "0b", NOW)
    assert (taken.unschedulable, taken.drain_taint, names.OUR_ANNOTATION in taken.annotations) == (True, "0a", True)
    assert port.return_node(taken, "0b") is taken

    free = port.return_node(taken, "0a")
    assert replace(free, resource_version="1") == before
    assert [call[0] for call in cluster.calls] == ["node", "take", "take", "return_node", "return_node"]


def test_a_node_that_is_no_more_or_reborn_is_gone() -> None:
    for cluster in (FakeCluster(), FakeCluster(node("n1", uid="another"))):
        with pytest.raises(Gone):
            cluster.take(node("n1"), "0a", NOW)


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
