"""LimitRanges and ResourceQuotas of the simulated GKE: what they write into new pods, and which they refuse."""

from typing import Any

import pytest

from infra.local.world.kinds import Json
from infra.local.world.store import NotAdmittedError
from tests.local.admission import admit
from tests.local.virtual_cluster import VirtualCluster, node, workload

META = {"name": "team", "namespace": "default"}


def limit_range(kind: str = "Container", **row: Any) -> Json:
    return {"metadata": META, "spec": {"limits": [{"type": kind, **row}]}}


def quota(**hard: str) -> Json:
    return {"metadata": META, "spec": {"hard": hard}}


def pod(requests: Json | None = None, limits: Json | None = None) -> Json:
    container = {"name": "main", "resources": {"requests": requests or {}, "limits": limits or {}}}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": {"containers": [container]}}


@pytest.mark.parametrize(
    ("expected", "row"),
    [
        pytest.param({"cpu": "1"}, {"defaultRequest": {"cpu": "1"}}, id="the default"),
        pytest.param({"cpu": "2"}, {"default": {"cpu": "2"}}, id="the default limit"),
        pytest.param({"cpu": "3"}, {"max": {"cpu": "3"}}, id="the most"),
        pytest.param({"cpu": "1"}, {"min": {"cpu": "1"}}, id="the least"),
        pytest.param({"memory": "1Gi"}, {"defaultRequest": {"memory": "1Gi"}}, id="of what is not shown"),
    ],
)
def test_a_new_pod_has_the_defaults_of_its_namespace(expected: Json, row: Json) -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add("limitranges", limit_range(**row))
    made = virtual.store.create("pods", pod(), "test")

    assert made["spec"]["containers"][0]["resources"]["requests"] == expected


@pytest.mark.parametrize(
    ("plural", "limits"),
    [
        pytest.param("limitranges", limit_range(min={"cpu": "2"}), id="less than the least"),
        pytest.param("limitranges", limit_range(max={"cpu": "500m"}), id="more than the most"),
        pytest.param("limitranges", limit_range(maxLimitRequestRatio={"cpu": "1"}), id="a limit too far above"),
        pytest.param("limitranges", limit_range("Pod", max={"cpu": "500m"}), id="the pod more than the most"),
        pytest.param("resourcequotas", quota(**{"requests.cpu": "500m"}), id="more than a quota"),
        pytest.param("resourcequotas", quota(pods="0"), id="one more than a quota"),
    ],
)
def test_a_pod_that_is_too_much_is_not_let_in(plural: str, limits: Json) -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add(plural, limits)

    with pytest.raises(NotAdmittedError):
        virtual.store.create("pods", pod({"cpu": "1"}, {"cpu": "2"}), "test")


def test_a_quota_counts_a_pod_until_it_is_gone_and_then_lets_another_in() -> None:
    virtual = VirtualCluster([node("a")])
    admit(virtual.world)
    virtual.add("deployments", workload(replicas=1))
    virtual.run(6)
    virtual.add("resourcequotas", quota(pods="1", **{"requests.cpu": "8"}))
    virtual.run(1)
    told = virtual.store.get("resourcequotas", "default", "team")["status"]
    assert told == {"hard": {"pods": "1", "requests.cpu": "8"}, "used": {"pods": "1", "requests.cpu": "1000m"}}

    (old,) = virtual.pods()
    virtual.evict(old["metadata"]["name"], gracePeriodSeconds=8)
    virtual.run(2)
    assert [item["metadata"]["name"] for item in virtual.pods()] == [old["metadata"]["name"]]
    virtual.run(20)
    assert [item["metadata"]["name"] for item in virtual.pods()] != [old["metadata"]["name"]]
