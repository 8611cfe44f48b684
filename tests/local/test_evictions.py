"""The eviction subresource: the answers of the real server, and what they leave behind."""

import json
from typing import Any

import pytest

from tests.local.virtual_cluster import VirtualCluster, budget, node, pod, workload


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


def test_an_exhausted_budget_answers_429_with_its_name_and_no_retry_after() -> None:
    virtual = guarded(minAvailable=3)
    answer = virtual.evict(first(virtual))
    cause = json.loads(answer.body)["details"]["causes"][0]
    assert (answer.status, cause["reason"], "Retry-After" in answer.headers) == (429, "DisruptionBudget", False)
    assert cause["message"] == "The disruption budget guard needs 3 healthy pods and has 3 currently"


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


def test_two_budgets_over_one_pod_answer_500_in_the_real_servers_words() -> None:
    virtual = guarded(minAvailable=1)
    virtual.add("poddisruptionbudgets", budget("other", minAvailable=1))
    answer = virtual.evict(first(virtual))
    message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    assert (answer.status, json.loads(answer.body)["message"]) == (500, message)


@pytest.mark.parametrize(
    ("expected", "phase", "ready", "spec"),
    [
        pytest.param(201, "Pending", False, {"minAvailable": 9}, id="pending skips the budget"),
        pytest.param(201, "Succeeded", False, {"minAvailable": 9}, id="finished skips the budget"),
        pytest.param(429, "Running", False, {"minAvailable": 9}, id="not ready needs a healthy budget"),
        pytest.param(
            201, "Running", False, {"minAvailable": 9, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, id="always allowed"
        ),
        pytest.param(201, "Running", False, {"minAvailable": 1}, id="not ready under a healthy budget"),
        pytest.param(
            429,
            "Running",
            True,
            {"minAvailable": 9, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
            id="the policy is not for healthy pods",
        ),
    ],
)
def test_which_pods_need_the_budget(expected: int, phase: str, ready: bool, spec: Any) -> None:
    virtual = VirtualCluster()
    virtual.add("pods", pod("healthy", on="a", phase="Running"))
    knobs = {} if ready else {"local.ebb.internal/never-ready": "true"}
    virtual.add(
        "pods", pod("other", on="a" if phase != "Pending" else "", phase=phase, ready=ready, cpu="9", annotations=knobs)
    )
    virtual.add("poddisruptionbudgets", budget(**spec))
    virtual.run(1)
    assert virtual.evict("other").status == expected


@pytest.mark.parametrize(
    ("expected", "name", "options"),
    [
        pytest.param(404, "nobody", {}, id="unknown pod"),
        pytest.param(409, "p", {"preconditions": {"uid": "another"}}, id="another uid"),
    ],
)
def test_an_eviction_is_refused(expected: int, name: str, options: Any) -> None:
    virtual = VirtualCluster()
    virtual.add("pods", pod("p", on="a", phase="Running"))
    assert virtual.evict(name, **options).status == expected
    assert "deletionTimestamp" not in virtual.store.get("pods", "default", "p")["metadata"]


def test_a_name_that_is_not_the_paths_is_a_bad_request() -> None:
    virtual = VirtualCluster()
    virtual.add("pods", pod("p", on="a", phase="Running"))
    body = {"metadata": {"name": "q"}}
    assert virtual.call("POST", "/api/v1/namespaces/default/pods/p/eviction", body).status == 400


@pytest.mark.parametrize("where", ["query", "body"])
def test_a_dry_eviction_checks_the_budget_and_takes_nothing(where: str) -> None:
    virtual = guarded(minAvailable=2)
    revision = virtual.store.revision
    dry = (
        virtual.evict(first(virtual), {"dryRun": "All"})
        if where == "query"
        else virtual.evict(first(virtual), dryRun=["All"])
    )
    assert (dry.status, virtual.store.revision) == (201, revision)


def test_a_dry_eviction_shows_of_an_exhausted_budget() -> None:
    virtual = guarded(minAvailable=3)
    assert virtual.evict(first(virtual), {"dryRun": "All"}).status == 429


def test_a_shorter_grace_is_heeded_and_a_longer_one_does_not_prolong_an_end() -> None:
    virtual = VirtualCluster()
    virtual.add("pods", pod("p", on="a", phase="Running"))
    virtual.evict("p", gracePeriodSeconds=4)
    virtual.evict("p", gracePeriodSeconds=400)
    virtual.run(4)
    assert virtual.pods() == []


def test_the_record_counts_health_from_pods_at_the_moment_of_the_grant() -> None:
    virtual = guarded(minAvailable=2)
    virtual.evict(first(virtual))
    counts = virtual.world.record.of("eviction")[-1]["budgets"]
    assert counts == [{"name": "guard", "desired": 2, "healthy_before": 3, "healthy_after": 2, "broken": False}]
