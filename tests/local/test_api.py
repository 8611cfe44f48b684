"""The API server with its eviction subresource: answers that `tests/real/test_twins.py` does not ask for."""

from typing import Any

from infra.local.world.kinds import Json
from tests.depth import cases
from tests.local.virtual_cluster import MERGE, VirtualCluster, budget, node, pod, status_of, workload

NODE = "/api/v1/nodes/a"
PODS = "/api/v1/pods"
MINE = {"key": "mine", "effect": "NoSchedule"}
THEIRS = {"key": "theirs", "value": "x", "effect": "NoSchedule"}


def crowd(count: int = 5) -> VirtualCluster:
    virtual = VirtualCluster()
    for number in range(count):
        virtual.add("pods", pod(f"p{number}", on="a" if number % 2 else "", app=f"app{number % 2}"))
    return virtual


def names(body: Any) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


@cases(
    "expected, query",
    ("by node", ["p1", "p3"], {"fieldSelector": "spec.nodeName=a"}),
    ("a list is one page", ["p0", "p1", "p2", "p3", "p4"], {"resourceVersion": "0", "limit": 2}),
)
def test_a_list_is_selected(expected: list[str], query: dict[str, str]) -> None:
    assert names(crowd().json("GET", PODS, query=query)) == expected


@cases(
    "expected, method, path",
    ("unknown kind", (404, "NotFound"), "GET", "/apis/apps/v1/gizmos"),
    ("an unknown field", (400, "BadRequest"), "GET", "/api/v1/pods?fieldSelector=spec.x=y"),
    ("no replace", (405, "MethodNotAllowed"), "PUT", NODE),
    ("nodes have no namespace", (404, "NotFound"), "GET", "/api/v1/namespaces/default/nodes"),
)
def test_a_wrong_request_is_refused_by_name(expected: tuple[int, str], method: str, path: str) -> None:
    bare, _, query = path.partition("?")
    selector = dict([query.split("=", 1)]) if query else {}
    assert status_of(VirtualCluster().call(method, bare, query=selector)) == expected


def test_a_dry_run_persists_nothing() -> None:
    virtual = VirtualCluster()
    revision = virtual.store.revision
    answer = virtual.json("PATCH", NODE, {"spec": {"unschedulable": True}}, type=MERGE, query={"dryRun": "All"})
    assert answer["spec"]["unschedulable"] is True
    assert virtual.store.revision == revision


def guarded(replicas: int = 3, **spec: Any) -> VirtualCluster:
    virtual = VirtualCluster([node("a"), node("b")])
    virtual.add("deployments", workload(replicas=replicas))
    virtual.add("poddisruptionbudgets", budget(**spec))
    virtual.run(5)
    return virtual


def first(virtual: VirtualCluster) -> str:
    return str(virtual.pods(app="web")[0]["metadata"]["name"])


def status(virtual: VirtualCluster) -> Any:
    return virtual.store.get("poddisruptionbudgets", "default", "guard")["status"]


def test_an_unprocessed_budget_answers_429_with_retry_after_10() -> None:
    virtual = guarded(minAvailable=2)
    change = {"spec": {"minAvailable": 1}}
    virtual.call("PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/guard", change, type=MERGE)
    answer = virtual.evict(first(virtual))
    assert (answer.status, answer.headers.get("Retry-After")) == (429, "10")


def test_the_record_counts_health_from_pods_at_the_moment_of_the_grant() -> None:
    virtual = guarded(minAvailable=2)
    virtual.evict(first(virtual))
    counts = virtual.world.record.of("eviction")[-1]["budgets"]
    assert counts == [{"name": "guard", "desired": 2, "healthy_before": 3, "healthy_after": 2, "broken": False}]


def test_the_record_says_that_a_status_written_too_early_let_a_budget_break() -> None:
    virtual = guarded(minAvailable=2)
    other = virtual.pods(app="web")[1]["metadata"]["name"]
    virtual.call("DELETE", f"/api/v1/namespaces/default/pods/{other}")
    assert virtual.evict(first(virtual)).status == 201
    counts = virtual.world.record.of("eviction")[-1]["budgets"]
    assert [(budget["healthy_after"], budget["broken"]) for budget in counts] == [(1, True)]


@cases(
    "before_the_end, policy",
    ("as a rule at once", 2, {}),
    ("or only when it has ended", 1, {"podReplacementPolicy": "TerminationComplete"}),
)
def test_a_deployment_makes_another_pod(before_the_end: int, policy: Json) -> None:
    virtual = VirtualCluster([node("a")])
    given = workload(replicas=1)
    virtual.add("deployments", {**given, "spec": {**given["spec"], **policy}})
    virtual.run(6)
    virtual.evict(virtual.pods()[0]["metadata"]["name"], gracePeriodSeconds=8)
    virtual.run(2)
    status = virtual.store.get("deployments", "default", "web")["status"]

    assert (len(virtual.pods()), status["terminatingReplicas"]) == (before_the_end, 1)
    virtual.run(20)
    status = virtual.store.get("deployments", "default", "web")["status"]
    assert (len(virtual.pods()), status["replicas"], status["terminatingReplicas"]) == (1, 1, 0)
