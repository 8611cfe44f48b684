"""The real control plane behaves as the drainer's promises need it: budgets, graces, conflicts, a record."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest

from infra.local.world.pods import is_ready
from tests.real.conftest import NODES, Corner
from tests.real.control_plane import ControlPlane
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane


def test_twenty_nodes_and_eighty_pods_become_ready(corner: Corner) -> None:
    with ThreadPoolExecutor(10) as pool:
        groups = list(pool.map(lambda i: corner.run(f"web-{i}", replicas=8, cpu="250m"), range(10)))

    pods = [pod for group in groups for pod in group]
    assert len(pods) == 80
    assert all(map(is_ready, pods))
    # LeastAllocated spreads them: the default scheduler is at work, not a packing of ours.
    assert len({pod["spec"]["nodeName"] for pod in pods}) > NODES // 2


def test_a_node_carries_the_labels_that_the_planner_reads(twenty_nodes: ControlPlane) -> None:
    node = twenty_nodes.api.items("/api/v1/nodes?labelSelector=cloud.google.com%2Fgke-nodepool%3Dpool-a")[0]
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "europe-west4-a"
    assert node["spec"]["providerID"] == f"gce://ebb-local/europe-west4-a/{node['metadata']['name']}"
    assert (node["status"]["allocatable"]["cpu"], node["status"]["allocatable"]["pods"]) == ("3920m", "110")


def test_a_budget_lets_the_next_pod_go_only_after_the_replacement_is_ready(corner: Corner) -> None:
    first, second = corner.run("one-by-one", replicas=2, grace=1)
    corner.protect("one-by-one", maxUnavailable=1)
    evict = corner.plane.api.evict

    assert evict(corner.namespace, first["metadata"]["name"]).status == 201
    assert evict(corner.namespace, second["metadata"]["name"]).status == 429
    until("a replacement", lambda: corner.ready("one-by-one", 2))
    until("the budget's count", lambda: evict(corner.namespace, second["metadata"]["name"]).status == 201)


def test_an_evicted_pod_keeps_its_grace_and_comes_back_elsewhere_after_seconds(corner: Corner) -> None:
    [pod] = corner.run("mover", replicas=1, grace=4)
    home, name = pod["spec"]["nodeName"], pod["metadata"]["name"]
    corner.plane.kubectl("cordon", home)
    try:
        assert corner.plane.api.evict(corner.namespace, name).status == 201
        until("the evicted pod's end", lambda: corner.pod(name) is None)
        replacement = until("the replacement", lambda: corner.ready("mover", 1))[0]
    finally:
        corner.plane.kubectl("uncordon", home)

    assert replacement["spec"]["nodeName"] != home
    assert _seconds(_bound(replacement), _condition(replacement, "Ready")) >= 2
    assert _seconds(_stamp(_evictions(corner, name)[0]), _stamp(_deletion(corner, name))) >= 4


def test_the_audit_record_shows_an_eviction_with_what_was_asked_and_answered(corner: Corner) -> None:
    [pod] = corner.run("recorded", replicas=1, grace=1)
    name = pod["metadata"]["name"]
    corner.plane.api.evict(corner.namespace, name, gracePeriodSeconds=1, preconditions={"uid": "another"})
    corner.plane.api.evict(corner.namespace, name, preconditions={"uid": pod["metadata"]["uid"]})

    evictions = _evictions(corner, name)

    assert [event["responseStatus"]["code"] for event in evictions] == [409, 201]
    assert evictions[0]["requestObject"]["deleteOptions"]["preconditions"] == {"uid": "another"}
    assert evictions[0]["userAgent"] == "ebb-local"


def _evictions(corner: Corner, pod: str) -> list[dict[str, Any]]:
    uri = f"/api/v1/namespaces/{corner.namespace}/pods/{pod}/eviction"
    return [event for event in corner.plane.audit() if event["requestURI"] == uri]


def _deletion(corner: Corner, pod: str) -> dict[str, Any]:
    uri = f"/api/v1/namespaces/{corner.namespace}/pods/{pod}"
    said = ("delete", uri)
    found = until(
        "the record of the pod's end",
        lambda: [event for event in corner.plane.audit() if (event["verb"], event["requestURI"]) == said],
    )
    return found[0]


def _stamp(event: dict[str, Any]) -> str:
    return str(event["requestReceivedTimestamp"])


def _condition(pod: dict[str, Any], kind: str) -> str:
    return str(next(c["lastTransitionTime"] for c in pod["status"]["conditions"] if c["type"] == kind))


def _bound(pod: dict[str, Any]) -> str:
    return _condition(pod, "PodScheduled")


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
