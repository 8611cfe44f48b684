"""The eviction subresource: the answers of the real server, and what they leave behind."""

import json
from typing import Any

from tests.local.virtual_cluster import VirtualCluster, budget, node, workload


def guarded(replicas: int = 3, **spec: Any) -> VirtualCluster:
    """A settled Deployment under a budget."""
    virtual = VirtualCluster([node("a"), node("b")])
    virtual.add("deployments", workload(replicas=replicas))
    virtual.add("poddisruptionbudgets", budget(**spec))
    virtual.run(5)
    return virtual


def first(virtual: VirtualCluster) -> str:
    return str(virtual.pods(app="web")[0]["metadata"]["name"])


def status(virtual: VirtualCluster) -> Any:
    return virtual.store.get("poddisruptionbudgets", "default", "guard")["status"]


def test_a_grant_takes_from_the_budget_and_starts_the_pods_end() -> None:
    virtual = guarded(minAvailable=2)
    name = first(virtual)
    answer = virtual.evict(name)
    assert (answer.status, json.loads(answer.body)["status"]) == (201, "Success")
    assert (status(virtual)["disruptionsAllowed"], list(status(virtual)["disruptedPods"])) == (0, [name])
    going = virtual.store.get("pods", "default", name)
    assert going["metadata"]["deletionGracePeriodSeconds"] == 30
    assert any(item["type"] == "DisruptionTarget" for item in going["status"]["conditions"])


def test_an_unprocessed_budget_answers_429_with_retry_after_10() -> None:
    virtual = guarded(minAvailable=2)
    change = {"spec": {"minAvailable": 1}}
    virtual.call(
        "PATCH",
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/guard",
        change,
        type="application/merge-patch+json",
    )
    answer = virtual.evict(first(virtual))
    assert (answer.status, answer.headers.get("Retry-After")) == (429, "10")


def test_the_record_counts_health_from_pods_at_the_moment_of_the_grant() -> None:
    virtual = guarded(minAvailable=2)
    virtual.evict(first(virtual))
    counts = virtual.world.record.of("eviction")[-1]["budgets"]
    assert counts == [{"name": "guard", "desired": 2, "healthy_before": 3, "healthy_after": 2, "broken": False}]
