"""What comes back in the simulated GKE: by its template, by what webhooks write into it, and when."""

from typing import Any

import pytest

from infra.local.world.kinds import Json
from tests.local.admission import OwnersWebhook, VerticalAutoscalerWebhook
from tests.local.virtual_cluster import VirtualCluster, node, workload


def virtual_cluster() -> VirtualCluster:
    virtual = VirtualCluster([node("a"), node("b")])
    virtual.store.webhooks.append(VerticalAutoscalerWebhook(virtual.store))
    return virtual


def recommendation(cpu: str = "2", kind: str = "Deployment", **spec: Any) -> Json:
    rows = [{"containerName": "main", "target": {"cpu": cpu}}]
    return {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"targetRef": {"kind": kind, "name": "web"}, **spec},
        "status": {"recommendation": {"containerRecommendations": rows}},
    }


def policies(**policy: Any) -> Json:
    return {"resourcePolicy": {"containerPolicies": [{"containerName": "*", **policy}]}}


@pytest.mark.parametrize(
    ("expected", "autoscaler"),
    [
        pytest.param("2", recommendation(), id="its target"),
        pytest.param("1", recommendation(kind="StatefulSet"), id="another target's"),
        pytest.param("1", recommendation(updatePolicy={"updateMode": "Off"}), id="mode Off"),
        pytest.param("1", recommendation(**policies(mode="Off")), id="the container's mode Off"),
        pytest.param("1500m", recommendation(**policies(maxAllowed={"cpu": "1500m"})), id="at most"),
        pytest.param("3", recommendation(**policies(minAllowed={"cpu": "3"})), id="at least"),
        pytest.param("4000m", recommendation(startupBoost={"cpu": {"factor": 2}}), id="boosted"),
        pytest.param(
            "1500m",
            recommendation(updatePolicy={"updateMode": "Off"}, startupBoost={"cpu": {"quantity": "500m"}}),
            id="boosted, though mode is Off",
        ),
    ],
)
def test_a_new_pod_asks_for_what_its_autoscaler_writes(expected: str, autoscaler: Json) -> None:
    virtual = virtual_cluster()
    virtual.add("verticalpodautoscalers", autoscaler)
    virtual.add("deployments", workload(replicas=1))
    virtual.run(4)
    (made,) = virtual.pods()

    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == expected


def test_an_owners_webhook_writes_into_its_own_pods_alone() -> None:
    virtual = VirtualCluster([node("a")])
    virtual.store.webhooks.append(OwnersWebhook("web", {"cpu": "3"}))
    virtual.add("deployments", workload(replicas=1))
    virtual.add("statefulsets", workload("db", replicas=1))
    virtual.run(4)
    asked = {pod["metadata"]["labels"]["app"]: pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
             for pod in virtual.pods()}  # fmt: skip

    assert asked == {"web": "3", "db": "1"}


@pytest.mark.parametrize(
    ("before_the_end", "policy"),
    [
        pytest.param(2, {}, id="as a rule at once"),
        pytest.param(1, {"podReplacementPolicy": "TerminationComplete"}, id="or only when it has ended"),
    ],
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
