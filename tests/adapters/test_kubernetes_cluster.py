import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core import names
from shared.core.snapshot import Node
from shared.errors import Gone, Stale, Terminal
from shared.ports import Answer, Eviction
from tests.adapters.objects import api_node, api_pod, read
from tests.adapters.scripted import Say, Script, scripted, status
from tests.adapters.worlds import access_to
from tests.builders import NOW

SINCE = datetime(2026, 3, 4, 22, tzinfo=UTC)
FOREIGN = {"key": "dedicated", "value": "db", "effect": "NoExecute", "timeAdded": "2026-03-04T10:00:00Z"}
OURS = {"key": names.OUR_TAINT, "value": "order-1", "effect": "NoSchedule"}
NODE = "/api/v1/nodes/n1"


@pytest.fixture
def api() -> Iterator[Script]:
    with scripted() as script:
        yield script


@pytest.fixture
def cluster(api: Script) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(access_to(api.address), read_seconds=2), now=lambda: NOW)


def node(name: str = "n1", **changes: Any) -> Node:
    return Node(name=name, uid=f"uid-{name}", created=NOW, resource_version="7", **changes)


@pytest.mark.acceptance(82)
def test_cordon_taint_and_annotation_are_one_write(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=api_node(spec={"taints": [FOREIGN]})), Say(body=api_node(version="8", spec={"taints": [OURS]})))

    taken = cluster.take(node(), "order-1", SINCE)

    assert api.calls == [("GET", NODE), ("PATCH", NODE)]
    assert api.asked[1].headers["content-type"] == "application/merge-patch+json"
    record = json.dumps({"order_id": "order-1", "since": "2026-03-04T22:00:00+00:00"}, separators=(",", ":"))
    assert api.asked[1].body == {
        "metadata": {"uid": "uid-n1", "resourceVersion": "7", "annotations": {names.OUR_ANNOTATION: record}},
        "spec": {"unschedulable": True, "taints": [FOREIGN, OURS]},
    }
    assert (taken.resource_version, taken.drain_taint) == ("8", "order-1")


def test_taking_again_renews_our_taint_and_adds_none(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=api_node(spec={"taints": [OURS, FOREIGN]})), Say(body=api_node(version="8")))

    cluster.take(node(), "order-2", SINCE)

    assert api.asked[1].body["spec"]["taints"] == [FOREIGN, {**OURS, "value": "order-2"}]


def test_giving_back_removes_only_what_is_ours(api: Script, cluster: KubernetesCluster) -> None:
    api.says(
        Say(body=api_node(spec={"unschedulable": True, "taints": [FOREIGN, OURS]})), Say(body=api_node(version="9"))
    )

    cluster.give_back(node(), "order-1")

    assert api.calls == [("GET", NODE), ("PATCH", NODE)]
    assert api.asked[1].body == {
        "metadata": {"uid": "uid-n1", "resourceVersion": "7", "annotations": {names.OUR_ANNOTATION: None}},
        "spec": {"unschedulable": False, "taints": [FOREIGN]},
    }


@pytest.mark.parametrize(
    "taints", [pytest.param([], id="no taint"), pytest.param([{**OURS, "value": "order-2"}], id="another order's")]
)
def test_giving_back_what_is_not_that_orders_writes_nothing(
    api: Script, cluster: KubernetesCluster, taints: list[dict[str, str]]
) -> None:
    api.says(Say(body=api_node(spec={"unschedulable": True, "taints": taints})))

    found = cluster.give_back(node(), "order-1")

    assert api.calls == [("GET", NODE)]
    assert found.unschedulable


@pytest.mark.parametrize("method", ["take", "give_back"])
@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        pytest.param(Gone, [Say(404, status(404, "not found"))], id="gone"),
        pytest.param(Gone, [Say(body=api_node(uid="another", spec={"taints": [OURS]}))], id="another one of its name"),
        pytest.param(Stale, [Say(body=api_node(version="8", spec={"taints": [OURS]}))], id="changed before"),
        pytest.param(
            Stale,
            [Say(body=api_node(spec={"taints": [OURS]})), Say(409, status(409, "the object has been modified"))],
            id="changed in between",
        ),
        pytest.param(
            Gone, [Say(body=api_node(spec={"taints": [OURS]})), Say(404, status(404, "not found"))], id="gone meanwhile"
        ),
        pytest.param(
            Terminal, [Say(body=api_node(spec={"taints": [OURS]})), Say(403, status(403, "no"))], id="not allowed"
        ),
    ],
)
def test_a_node_that_changed_is_not_written(
    api: Script, cluster: KubernetesCluster, method: str, expected: type[Exception], answers: list[Say]
) -> None:
    api.says(*answers)
    arguments = ("order-1", SINCE) if method == "take" else ("order-1",)

    with pytest.raises(expected) as failure:
        getattr(cluster, method)(node(), *arguments)

    assert type(failure.value) is expected


def budget_cause(message: str) -> dict[str, Any]:
    return status(
        429, "Cannot evict pod as it would violate the pod's disruption budget.", cause=("DisruptionBudget", message)
    )


DENIED = 'admission webhook "guard.example.com" denied the request: not at night'
NEEDS = "The disruption budget web needs 3 healthy pods and has 3 currently"


@pytest.mark.acceptance(86)
@pytest.mark.parametrize(
    ("expected", "code", "body"),
    [
        pytest.param(Eviction(Answer.GRANTED), 201, status(201, ""), id="201"),
        pytest.param(Eviction(Answer.GRANTED), 200, status(200, ""), id="200"),
        pytest.param(
            Eviction(Answer.GONE, '404 pods "web-1" not found'), 404, status(404, 'pods "web-1" not found'), id="404"
        ),
        pytest.param(
            Eviction(Answer.GONE, "409 Precondition failed: UID in precondition: a, UID in object meta: b"),
            409,
            status(409, "Precondition failed: UID in precondition: a, UID in object meta: b"),
            id="another pod bears the name",
        ),
        pytest.param(Eviction(Answer.CONFLICT, "409 try again"), 409, status(409, "try again"), id="any other 409"),
        pytest.param(Eviction(Answer.BUDGET, "default/web"), 429, budget_cause(NEEDS), id="a PDB without room"),
        pytest.param(
            Eviction(Answer.BUDGET, "default/web"),
            429,
            budget_cause("The disruption budget web is still being processed by the server."),
            id="a PDB not yet observed",
        ),
        pytest.param(Eviction(Answer.LATER, "429 slow down"), 429, status(429, "slow down"), id="an overloaded server"),
        pytest.param(
            Eviction(Answer.SEVERAL_PDBS, "500 This pod has more than one PodDisruptionBudget, which the"),
            500,
            status(500, "This pod has more than one PodDisruptionBudget, which the"),
            id="several PDBs",
        ),
        pytest.param(Eviction(Answer.LATER, "500 etcd"), 500, status(500, "etcd"), id="any other 500"),
        pytest.param(Eviction(Answer.LATER, "504 timeout"), 504, status(504, "timeout"), id="504"),
        pytest.param(
            Eviction(Answer.TERMINATING, "403 being terminated"),
            403,
            status(403, "being terminated", cause=("NamespaceTerminating", "x")),
            id="the namespace is going",
        ),
        pytest.param(Eviction(Answer.FORBIDDEN, "403 no"), 403, status(403, "no"), id="any other 403"),
        pytest.param(Eviction(Answer.FORBIDDEN, "422 bad"), 422, status(422, "bad"), id="422"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"403 {DENIED}"), 403, status(403, DENIED), id="a webhook, 403"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"400 {DENIED}"), 400, status(400, DENIED), id="a webhook, 400"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"409 {DENIED}"), 409, status(409, DENIED), id="a webhook, 409"),
        pytest.param(Eviction(Answer.FORBIDDEN, f"429 {DENIED}"), 429, status(429, DENIED), id="a webhook, 429"),
        pytest.param(
            Eviction(Answer.LATER, '500 failed calling webhook "guard.example.com"'),
            500,
            status(500, 'failed calling webhook "guard.example.com"'),
            id="a webhook that is down",
        ),
        pytest.param(Eviction(Answer.LATER, "502 <html>"), 502, b"<html>", id="a proxy's words"),
    ],
)
def test_every_answer_to_an_eviction_has_its_meaning(
    api: Script, cluster: KubernetesCluster, expected: Eviction, code: int, body: Any
) -> None:
    api.says(Say(code, body))

    assert cluster.evict(read(api_pod()), 30) == expected
    assert len(api.asked) == 1


def test_an_eviction_without_an_answer_comes_later(api: Script) -> None:
    api.says(Say(silent=True))
    impatient = KubernetesCluster(KubernetesClient(access_to(api.address), read_seconds=0.1))

    assert impatient.evict(read(api_pod()), 30).answer is Answer.LATER


@pytest.mark.acceptance(83, 85)
def test_an_eviction_names_this_very_pod_and_its_grace(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.evict(read(api_pod()), 480)

    assert api.calls == [("POST", "/api/v1/namespaces/default/pods/web-1/eviction")]
    assert api.asked[0].query == {}
    assert api.asked[0].body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-1", "namespace": "default"},
        "deleteOptions": {"gracePeriodSeconds": 480, "preconditions": {"uid": "uid-web-1"}},
    }


def test_a_dry_run_says_so_to_the_server_and_its_webhooks(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.evict(read(api_pod()), 30, dry_run=True)

    assert api.asked[0].query == {"dryRun": "All"}
    assert api.asked[0].body["deleteOptions"]["dryRun"] == ["All"]


def test_a_webhook_that_knows_no_dry_run_forbids(api: Script, cluster: KubernetesCluster) -> None:
    message = 'admission webhook "guard.example.com" does not support dry run'
    api.says(Say(400, status(400, message)))

    assert cluster.evict(read(api_pod()), 30, dry_run=True) == Eviction(Answer.FORBIDDEN, f"400 {message}")


def test_a_note_is_an_event_that_kubectl_describe_finds(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.note(node(), "EbbCordoned", "x" * 2000)

    assert api.calls == [("POST", "/api/v1/namespaces/default/events")]
    event = api.asked[0].body
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n1"}
    assert (event["source"], event["lastTimestamp"]) == ({"component": "ebb"}, "2026-03-04T22:00:00Z")
    assert len(event["message"]) == 1024


def test_a_note_that_cannot_be_written_is_a_named_failure(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(403, status(403, "no")))

    with pytest.raises(Terminal, match="not allowed to create events"):
        cluster.note(node(), "EbbCordoned", "why")


def test_a_name_cannot_leave_its_place_in_the_path(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(404, status(404, "not found")))

    with pytest.raises(Gone):
        cluster.node("../pods?x=1")

    assert api.calls == [("GET", "/api/v1/nodes/..%2Fpods%3Fx%3D1")]
