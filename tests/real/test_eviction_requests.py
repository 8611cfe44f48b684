"""With `infra/options/eviction-requests.yaml` a drainer makes and withdraws requests on a real API server.

The kind is a bare definition: the release that is pinned here has it not, and nothing acts on the requests.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.eviction_requests import request_body
from shared.core.cluster.names import EVICTIONS_LABEL
from shared.core.cluster.pod import Pod
from shared.core.records.evictions import EvictionAnswer
from tests.builders import NOW, pod_class
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import ControlPlane, ControlPlaneError
from tests.real.control_plane.definitions import EVICTION_REQUEST
from tests.real.least_rights import user, with_option
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
REQUESTER = "requester"
RESPONDERS = ("example.com/mover",)
CHANGES = "changes neither whose a request is"
OWN_NAME = "asks for evictions in its own name only"


@pytest.fixture(scope="module")
def requester(twenty_nodes: ControlPlane, kubeconfigs: dict[str, Path]) -> KubernetesCluster:
    """The adapter as a drainer with the option, once the kind is served and its fence stands."""
    assert kubeconfigs
    twenty_nodes.kubectl("apply", "-f", "-", stdin=json.dumps(EVICTION_REQUEST))
    option = with_option(twenty_nodes, "eviction-requests", REQUESTER)
    cluster = cluster_as(option)
    until("the kind", cluster.serves_eviction_requests)
    foreign = request_body(
        Pod("p", "00000000-0000-4000-8000-000000000000", pod_class(eviction_responders=RESPONDERS)), NOW
    )
    foreign["spec"]["requester"] = "example.com/other"
    until("the fence", lambda: OWN_NAME in refusal(twenty_nodes, foreign))
    return cluster


def refusal(plane: ControlPlane, body: dict[str, Any]) -> str:
    """Try to make a request as that drainer, dry; return how it was refused, empty if it was not."""
    try:
        plane.kubectl(f"--as={user(REQUESTER)}", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(body))
    except ControlPlaneError as refused:
        return str(refused)
    return ""


@pytest.fixture
def pod(corner: Corner, requester: KubernetesCluster) -> Pod:
    """A running pod that names a responder, as a later API server would tell it."""
    assert requester
    corner.run("web", replicas=1)
    found = next(each for each in requester.read().pods if each.spec.namespace == corner.namespace)
    return structs.replace(found, spec=replace(found.spec, eviction_responders=RESPONDERS))


def intents(corner: Corner) -> list[str]:
    found = json.loads(corner.plane.kubectl("-n", corner.namespace, "get", "evictionrequests", "-o", "json"))
    return [each["spec"]["intent"] for each in found["items"]]


@pytest.mark.deep
def test_a_request_is_tried_made_withdrawn_made_again_and_goes_with_its_pod(
    corner: Corner, requester: KubernetesCluster, pod: Pod
) -> None:
    assert requester.evict(pod, 30, dry_run=True).answer is EvictionAnswer.GRANTED
    assert intents(corner) == []
    assert [requester.evict(pod, 30).answer for _ in range(2)] == [EvictionAnswer.GRANTED] * 2
    assert intents(corner) == ["Eviction"]
    assert [requester.withdraw(corner.namespace, pod.uid) for _ in range(2)] == [True, False]
    assert intents(corner) == ["Withdrawn"]
    assert requester.evict(pod, 30, dry_run=True).answer is EvictionAnswer.GRANTED
    assert intents(corner) == ["Withdrawn"]
    assert requester.evict(pod, 30).answer is EvictionAnswer.GRANTED
    assert intents(corner) == ["Eviction"]

    corner.plane.kubectl("-n", corner.namespace, "delete", "deployment", "web")
    until("the request to go with its pod", lambda: intents(corner) == [])


def test_a_namespace_that_keeps_its_pods_keeps_them_from_requests_but_not_from_withdrawals(
    corner: Corner, requester: KubernetesCluster, pod: Pod
) -> None:
    requester.evict(pod, 30)
    corner.plane.kubectl("label", "namespace", corner.namespace, f"{EVICTIONS_LABEL}=never")
    body = request_body(structs.replace(pod, uid="00000000-0000-4000-8000-000000000000"), NOW)

    until("a refusal by the namespace's label", lambda: "keeps its pods from Ebb" in refusal(corner.plane, body))
    assert requester.withdraw(corner.namespace, pod.uid)
    assert requester.evict(pod, 30).answer is EvictionAnswer.FORBIDDEN


@pytest.mark.parametrize(
    ("said", "meta"),
    [
        pytest.param("", {}, id="as Ebb makes it"),
        pytest.param("no other metadata", {"finalizers": ["example.com/never"]}, id="a finalizer"),
        pytest.param("one annotation", {"annotations": {"a": "x" * 20_000}}, id="an annotation that fills it"),
        pytest.param("one annotation", {"labels": {"a": "b", "c": "d"}}, id="labels"),
    ],
)
def test_a_request_is_made_with_its_own_metadata_only(
    corner: Corner, requester: KubernetesCluster, pod: Pod, said: str, meta: dict[str, Any]
) -> None:
    assert requester
    body = request_body(pod, NOW)

    found = refusal(corner.plane, {**body, "metadata": {**body["metadata"], **meta}})

    assert (said in found) if said else found == "", found


@pytest.mark.parametrize(
    ("said", "spec"),
    [
        pytest.param("", {"intent": "Withdrawn"}, id="it withdraws its own"),
        pytest.param(CHANGES, {"target": {"pod": {"name": "other", "uid": "u"}}}, id="another pod"),
        pytest.param("the intent only", {"third": "x"}, id="another field"),
    ],
)
def test_of_a_request_that_stands_only_its_intent_changes(
    corner: Corner, requester: KubernetesCluster, pod: Pod, said: str, spec: dict[str, Any]
) -> None:
    requester.evict(pod, 30)

    found = changed(corner, f"ebb-{pod.uid}", spec)

    assert (said in found) if said else found == "", found


def test_a_request_of_another_requester_is_not_taken_over(
    corner: Corner, requester: KubernetesCluster, pod: Pod
) -> None:
    assert requester
    body = request_body(pod, NOW)
    body["spec"]["requester"], body["metadata"]["name"] = "example.com/other", "theirs"
    corner.plane.kubectl("create", "-f", "-", stdin=json.dumps(body))

    assert CHANGES in changed(corner, "theirs", {"requester": "ebb.internal/drainer", "intent": "Withdrawn"})


def changed(corner: Corner, name: str, spec: dict[str, Any]) -> str:
    """Try to change a request as that drainer, dry; return how it was refused, empty if it was not."""
    patch = ("--type=merge", "-p", json.dumps({"spec": spec}))
    words = ("-n", corner.namespace, "patch", "evictionrequests", name, "--dry-run=server", *patch)
    try:
        corner.plane.kubectl(f"--as={user(REQUESTER)}", *words)
    except ControlPlaneError as refused:
        return str(refused)
    return ""


def test_without_the_option_the_drainer_may_make_none(corner: Corner, requester: KubernetesCluster) -> None:
    assert requester
    for who in ("drainer", "planner"):
        with pytest.raises(ControlPlaneError):
            corner.plane.kubectl(f"--as={user(who)}", "auth", "can-i", "create", "evictionrequests.lifecycle.k8s.io")
