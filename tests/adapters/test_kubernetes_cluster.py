"""The cluster over the API: conditional writes on nodes, events, and pods of one name in two namespaces."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps.reading import read_dump
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.rules.utilization import usage
from shared.errors import Gone, Terminal
from tests.adapters.objects import api_node, api_pod, container
from tests.adapters.scripted import Say, Script, access_to, no_wait, scripted, status
from tests.builders import NOW
from tests.cli.dumps.test_reading import a_node, a_pod, listed, write
from tests.depth import cases

SINCE = datetime(2026, 3, 4, 22, tzinfo=UTC)
FOREIGN = {"key": "dedicated", "value": "db", "effect": "NoExecute", "timeAdded": "2026-03-04T10:00:00Z"}
OURS = {"key": names.OUR_TAINT, "value": "order-1", "effect": "NoSchedule"}
NODE = "/api/v1/nodes/n1"


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


def test_returning_removes_only_what_is_ours(api: Script, cluster: KubernetesCluster) -> None:
    api.says(
        Say(body=api_node(spec={"unschedulable": True, "taints": [FOREIGN, OURS]})), Say(body=api_node(version="9"))
    )

    cluster.return_node(node(), "order-1")

    assert api.calls == [("GET", NODE), ("PATCH", NODE)]
    assert api.asked[1].body == {
        "metadata": {"uid": "uid-n1", "resourceVersion": "7", "annotations": {names.OUR_ANNOTATION: None}},
        "spec": {"unschedulable": False, "taints": [FOREIGN]},
    }


@pytest.mark.parametrize("taint", [{**OURS, "value": ""}, {"key": names.OUR_TAINT, "effect": "NoSchedule"}])
def test_our_taint_without_a_value_is_taken_off_by_its_stand_in(
    api: Script, cluster: KubernetesCluster, taint: dict[str, Any]
) -> None:
    api.says(Say(body=api_node(spec={"taints": [taint, FOREIGN]})), Say(body=api_node()))

    cluster.return_node(node(), names.NO_ORDER)

    assert api.asked[1].body["spec"] == {"unschedulable": False, "taints": [FOREIGN]}


def test_a_note_is_an_event_that_kubectl_describe_finds(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(201))

    cluster.note(node(), "EbbCordoned", "x" * 2000)

    assert api.calls == [("POST", "/api/v1/namespaces/default/events")]
    event = api.asked[0].body
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n1"}
    assert (event["source"], event["lastTimestamp"]) == ({"component": "ebb"}, "2026-03-04T22:00:00Z")
    assert len(event["message"]) == 1024


def said(message: str, at: str | None, **by: Any) -> dict[str, Any]:
    about, own = {"kind": "Node", "name": "n1"}, {"source": {"component": "cluster-autoscaler"}}
    row = {"reason": "ScaleDownFailed", "message": message, "lastTimestamp": at, "involvedObject": about}
    return {**row, **(by or own)}


NEWER = {"reportingComponent": "cluster-autoscaler", "source": {}}


@cases(
    "expected, events",
    ("nothing", "", []),
    ("the newest", "later", [said("later", "2026-03-04T22:00:00Z"), said("before", "2026-03-04T21:00:00Z")]),
    ("what others wrote aside", "", [said("forged", "2026-03-04T22:00:00Z", source={"component": "me"})]),
    ("as newer writers name themselves", "newer", [said("newer", "2026-03-04T22:00:00Z", **NEWER)]),
    ("undated ones aside", "dated", [said("undated", None), said("dated", "2026-03-04T21:00:00Z")]),
)
def test_what_the_autoscaler_shown_last_of_a_failed_deletion_is_read(
    api: Script, cluster: KubernetesCluster, expected: str, events: list[dict[str, Any]]
) -> None:
    api.says(Say(body={"items": events}))

    assert cluster.deletion_attempts("n1").failure == expected


def marked(at: str, message: str = "marked the node as toBeDeleted/unschedulable", **by: Any) -> dict[str, Any]:
    return said(message, at, **by) | {"reason": "ScaleDown"}


FIRST, SECOND = "2026-03-04T21:00:00Z", "2026-03-04T22:00:00Z"


@cases(
    "expected, events",
    ("nothing", None, []),
    ("the newest", SECOND, [marked(SECOND), marked(FIRST)]),
    ("an end is no beginning", None, [marked(SECOND, "node removed by cluster autoscaler")]),
    ("what others wrote aside", FIRST, [marked(FIRST), marked(SECOND, source={"component": "me"})]),
)
def test_when_the_autoscaler_began_to_delete_a_node_is_read_of_its_mark(
    api: Script, cluster: KubernetesCluster, expected: str | None, events: list[dict[str, Any]]
) -> None:
    api.says(Say(body={"items": events}))

    begun = cluster.deletion_attempts("n1").begun_at

    assert begun == (datetime.fromisoformat(expected) if expected else None)
    assert "involvedObject.name=n1" in api.asked[0].query["fieldSelector"].split(",")


def test_a_note_that_cannot_be_written_is_a_named_failure(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(403, status(403, "no")))

    with pytest.raises(Terminal, match="not allowed to create events"):
        cluster.note(node(), "EbbCordoned", "why")


def test_a_name_cannot_leave_its_place_in_the_path(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(404, status(404, "not found")))

    with pytest.raises(Gone):
        cluster.node("../pods?x=1")

    assert api.calls == [("GET", "/api/v1/nodes/..%2Fpods%3Fx%3D1")]


Read = tuple[Sequence[Node], Sequence[Pod]]
Items = Sequence[dict[str, Any]]


def twins() -> Items:
    """`redis-0` of two namespaces, a quarter of the node each."""
    quarter = [container("980m", "3328Mi")]
    return [api_pod("redis-0", containers=quarter, meta={"namespace": word, "uid": word}) for word in ("shop", "bank")]


def from_a_dump(folder: Path) -> Read:
    reading, _ = read_dump([write(folder / "all.json", listed(a_node(), *({**a_pod(), **twin} for twin in twins())))])
    return reading.nodes, reading.pods


def from_the_api(_: Path) -> Read:
    with scripted() as api:
        pages = [[api_node()], twins(), [], [], [], [], []]
        api.says(*(Say(body={"kind": "List", "metadata": {}, "items": list(page)}) for page in pages))
        reading = KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait)).read()
        return reading.nodes, reading.pods


@pytest.mark.acceptance(21)
@pytest.mark.parametrize("read", [from_a_dump, from_the_api])
def test_same_named_pods_of_two_namespaces_both_count(read: Callable[[Path], Read], tmp_path: Path) -> None:
    (node,), pods = read(tmp_path)

    used = usage(node, pods)

    assert used is not None
    assert (used.cpu, used.memory) == (Fraction(1, 2), Fraction(1, 2))
    assert sorted(pod.key for pod in pods) == ["bank/redis-0", "shop/redis-0"]
