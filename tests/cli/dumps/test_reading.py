import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from functions.cli.dumps.reading import read_dump
from shared.core.cluster.storage import LISTS, NO_CLAIMS, VolumeAttachment
from shared.core.cluster.workloads import Workload
from tests.adapters.objects import api_node, api_pod
from tests.depth import cases

BUDGET = {"kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"selector": {}}}
NAMESPACE = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
SERVICE = {"kind": "Service", "metadata": {"name": "web"}}


def a_node(name: str = "n1", **changes: Any) -> dict[str, Any]:
    return {"kind": "Node", "apiVersion": "v1", **api_node(name, **changes)}


def a_pod(name: str = "web-1", **changes: Any) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", **api_pod(name, **changes)}


def listed(*items: Any, kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def write(path: Path, *documents: Any) -> Path:
    path.write_text("\n".join(json.dumps(document, indent=4) for document in documents))
    return path


def test_a_list_of_all_kinds_is_a_snapshot(tmp_path: Path) -> None:
    reading, _ = read_dump([write(tmp_path / "all.json", listed(a_node(), a_pod(), BUDGET, NAMESPACE, SERVICE))])

    assert [node.name for node in reading.nodes] == ["n1"]
    assert [pod.key for pod in reading.pods] == ["default/web-1"]
    assert [budget.key for budget in reading.disruption_budgets] == ["shop/web"]
    assert reading.namespaces == {"shop": {"team": "a"}}


def a_controller(kind: str, name: str, owner: str = "", **status: int) -> dict[str, Any]:
    owners = [{"kind": "Deployment", "name": owner, "controller": True}] if owner else []
    meta = {"name": name, "namespace": "default", "generation": 1, "ownerReferences": owners}
    counts = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "observedGeneration": 1, **status}
    return {"kind": kind, "apiVersion": "apps/v1", "metadata": meta, "spec": {"replicas": 2}, "status": counts}


def test_workloads_are_read_where_they_were_printed(tmp_path: Path) -> None:
    own = a_controller("ReplicaSet", "web-5d4f", owner="web")
    deployment = a_controller("Deployment", "web", updatedReplicas=1)
    reading, _ = read_dump([write(tmp_path / "all.json", listed(a_node(), a_pod(), deployment, own))])

    (pod,) = reading.pods
    (workload,) = reading.workloads.values()
    expected = Workload("default/Deployment/web", 2, 2, rolling=True, created=2)
    assert {pod.spec.workload: replace(workload, deployment=None, fixed_template=False)} == {
        **reading.workloads,
        pod.spec.workload: expected,
    }


USES_A_CLAIM: Any = a_pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
STORAGE = (
    {"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"}, "spec": {}},
    {"kind": "PersistentVolume", "metadata": {"name": "pv-data"}, "spec": {"csi": {"driver": "pd"}}},
    {"kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "pd"},
    {"kind": "CSINode", "metadata": {"name": "n1"}, "spec": {"drivers": []}},
)
ATTACHED = {
    "kind": "VolumeAttachment",
    "metadata": {"name": "a"},
    "spec": {"attacher": "pd", "nodeName": "n1", "source": {"persistentVolumeName": "pv-data"}},
}


def test_storage_is_read_where_it_was_printed(tmp_path: Path) -> None:
    files = [
        write(tmp_path / name, listed(a_node(), USES_A_CLAIM, *STORAGE, ATTACHED)) for name in ("a.json", "b.json")
    ]
    found = read_dump(files)[0].storage

    assert found.known
    assert (list(found.claims), list(found.volumes), list(found.classes)) == (["default/data"], ["pv-data"], ["fast"])
    assert found.attachments == {"n1": (VolumeAttachment("pd", "pv-data"),)}


@cases(
    "expected, items",
    ("an older command", LISTS[:4], ()),
    ("a list was left out", ("csinodes",), STORAGE[:3]),
    ("nothing is attached, and no driver is registered", (), STORAGE),
)
def test_what_was_not_printed_of_storage_is_not_known(
    tmp_path: Path, expected: tuple[str, ...], items: tuple[Any, ...]
) -> None:
    reading, _ = read_dump([write(tmp_path / "all.json", listed(a_node(), USES_A_CLAIM, *items))])

    assert reading.storage.unread == expected


def test_a_dump_of_plain_pods_knows_no_workloads_and_needs_no_storage(tmp_path: Path) -> None:
    reading, _ = read_dump([write(tmp_path / "all.json", listed(a_node(), a_pod()))])

    assert reading.workloads == {}
    assert reading.storage is NO_CLAIMS


def text(*documents: Any, **layout: Any) -> bytes:
    return "\n".join(json.dumps(document, **layout) for document in documents).encode()


NODES, PODS = listed(api_node(), kind="NodeList"), listed(api_pod(), kind="PodList")
BOTH = text(listed(a_node(), a_pod()))


@cases(
    "files",
    ("typed lists, whose items have no kind", {"nodes.json": text(NODES), "pods.json": text(PODS)}),
    ("typed lists as kubectl prints them: the kind comes after the items",
     {"nodes.json": text(NODES, sort_keys=True, indent=4), "pods.json": text(PODS, sort_keys=True, indent=4)}),
    ("several documents in one file", {"a.json": text(listed(a_node()), listed(a_pod()))}),
    ("single objects", {"node.json": text(a_node()), "pod.json": text(a_pod())}),
    ("a gzipped file deep in the folder, and one that is no dump",
     {"a.json": text(listed(a_node())), "deep/b.json.gz": gzip.compress(text(listed(a_pod()))), "c.txt": b"no"}),
    ("printed twice", {"a.json": BOTH, "b.json": BOTH}),
    ("written by PowerShell, in UTF-16", {"a.json": BOTH.decode().encode("utf-16")}),
    ("with a byte order mark", {"a.json": BOTH.decode().encode("utf-8-sig")}),
)  # fmt: skip
def test_whatever_form_it_has_the_dump_shows_the_same(tmp_path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)

    reading, _ = read_dump([tmp_path])

    assert ([node.name for node in reading.nodes], [pod.name for pod in reading.pods]) == (["n1"], ["web-1"])


HEARD = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-03-04T21:59:00Z"}]}
WRITTEN = {**api_node()["metadata"], "managedFields": [{"time": "2026-03-04T21:00:00Z"}]}
GOING = {"metadata": {**api_pod()["metadata"], "deletionTimestamp": "2026-03-04T22:08:00Z"}}


@cases(
    "minute, objects",
    ("a heartbeat; a deletion lies ahead", 59, [a_node(status=HEARD), a_pod() | GOING]),
    ("a written field", 0, [a_node() | {"metadata": WRITTEN}]),
)
def test_now_is_the_newest_time_that_lies_behind(minute: int, objects: list[Any], tmp_path: Path) -> None:
    _, now = read_dump([write(tmp_path / "a.json", listed(*objects))])

    assert now == datetime(2026, 3, 4, 21, minute, tzinfo=UTC)


def chunk_of(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    return {"kind": "PodTemplate", "metadata": {"name": name, "namespace": "shop"}, "template": {"spec": spec}}


def capacity_buffer(name: str) -> dict[str, Any]:
    status = {"podTemplateRef": {"name": "chunk"}, "replicas": 2}
    return {"kind": "CapacityBuffer", "metadata": {"name": name, "namespace": "shop"}, "status": status}


def test_what_others_define_and_nobody_can_read_spoils_no_dump(tmp_path: Path) -> None:
    """To print it again would not help: its shape is the cluster's own."""
    odd = {"kind": "CapacityBuffer", "metadata": {"name": "odd", "namespace": "shop"}, "status": {"replicas": "three"}}
    autoscaler = {
        "kind": "VerticalPodAutoscaler", "metadata": {"name": "odd", "namespace": "shop"}, "spec": {"targetRef": 7},
    }  # fmt: skip
    items = [odd, autoscaler, capacity_buffer("web"), chunk_of("chunk")]
    reading, _ = read_dump([write(tmp_path / "dump.json", listed(a_node(), *items))])
    assert [held.key for held in reading.buffers.held] == ["shop/web"]
    assert [fault.partition(":")[0] for fault in (*reading.buffers.faults, *reading.autoscalers.faults)] == [
        "capacitybuffers shop/odd", "verticalpodautoscalers shop/odd",
    ]  # fmt: skip


@cases(
    "chunks, unread, items",
    ("without any nothing is shown", 0, (), []),
    ("with their templates", 2, (), [capacity_buffer("web"), chunk_of("chunk")]),
    ("each once", 2, (), [chunk_of("chunk"), capacity_buffer("web"), capacity_buffer("web")]),
    ("without templates, which is shown", 0, ("podtemplates",), [capacity_buffer("web")]),
)
def test_capacity_buffers_of_a_dump_hold_their_chunks(
    chunks: int, unread: tuple[str, ...], items: list[Any], tmp_path: Path
) -> None:
    reading, _ = read_dump([write(tmp_path / "dump.json", listed(a_node(), *items))])
    assert (sum(held.replicas for held in reading.buffers.held), reading.buffers.unread) == (chunks, unread)
