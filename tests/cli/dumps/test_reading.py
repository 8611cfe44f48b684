import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from functions.cli.dumps import read_dump
from shared.core.cluster.storage import LISTS, NO_CLAIMS, VolumeAttachment
from shared.core.cluster.workloads import Workload
from shared.errors import BadDump
from tests.adapters.objects import api_node, api_pod

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


@pytest.mark.parametrize(
    ("expected", "items"),
    [
        pytest.param(LISTS[:4], (), id="an older command"),
        pytest.param(("csinodes",), STORAGE[:3], id="a list was left out"),
        pytest.param((), STORAGE, id="nothing is attached, and no driver is registered"),
    ],
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


def test_a_malformed_volume_is_named(tmp_path: Path) -> None:
    broken = {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {"nfs": {}, "nodeAffinity": 7}}
    with pytest.raises(BadDump, match=r"items\[1\] \(PersistentVolume pv\).*nodeAffinity"):
        read_dump([write(tmp_path / "all.json", listed(a_node(), broken))])


def text(*documents: Any, **layout: Any) -> bytes:
    return "\n".join(json.dumps(document, **layout) for document in documents).encode()


NODES, PODS = listed(api_node(), kind="NodeList"), listed(api_pod(), kind="PodList")
BOTH = text(listed(a_node(), a_pod()))


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"nodes.json": text(NODES), "pods.json": text(PODS)}, id="typed lists, whose items have no kind"),
        pytest.param(
            {"nodes.json": text(NODES, sort_keys=True, indent=4), "pods.json": text(PODS, sort_keys=True, indent=4)},
            id="typed lists as kubectl prints them: the kind comes after the items",
        ),
        pytest.param({"a.json": text(listed(a_node()), listed(a_pod()))}, id="several documents in one file"),
        pytest.param({"node.json": text(a_node()), "pod.json": text(a_pod())}, id="single objects"),
        pytest.param(
            {"a.json": text(listed(a_node())), "deep/b.json.gz": gzip.compress(text(listed(a_pod()))), "c.txt": b"no"},
            id="a gzipped file deep in the folder, and one that is no dump",
        ),
        pytest.param({"a.json": BOTH, "b.json": BOTH}, id="printed twice"),
        pytest.param({"a.json": BOTH.decode().encode("utf-16")}, id="written by PowerShell, in UTF-16"),
        pytest.param({"a.json": BOTH.decode().encode("utf-8-sig")}, id="with a byte order mark"),
    ],
)
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


@pytest.mark.parametrize(
    ("minute", "objects"),
    [
        pytest.param(59, [a_node(status=HEARD), a_pod() | GOING], id="a heartbeat; a deletion lies ahead"),
        pytest.param(0, [a_node() | {"metadata": WRITTEN}], id="a written field"),
    ],
)
def test_now_is_the_newest_time_that_lies_behind(minute: int, objects: list[Any], tmp_path: Path) -> None:
    _, now = read_dump([write(tmp_path / "a.json", listed(*objects))])

    assert now == datetime(2026, 3, 4, 21, minute, tzinfo=UTC)


def refusal(path: Path, content: bytes) -> str:
    """Return why a file of that content is no dump."""
    path.write_bytes(content)
    with pytest.raises(BadDump) as fault:
        read_dump([path])
    return str(fault.value)


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param("is empty; run: ebb dump", b"", id="empty"),
        pytest.param("this is YAML: use -o json", b"apiVersion: v1\nitems: []", id="YAML"),
        pytest.param("this is YAML: use -o json", b"# nodes\n---\n\nkind: List", id="YAML below a comment"),
        pytest.param(
            "kubectl failed (Error from server (Forbidden): nodes is forbidden)",
            b"Error from server (Forbidden): nodes is forbidden\nmore",
            id="what kubectl showed of a failure",
        ),
        pytest.param("this is kubectl's table: use -o json", b"NAME   STATUS\nn1   Ready", id="kubectl's table"),
        pytest.param("this is kubectl's table", b"NAMESPACE  NAME  READY\nshop  web-1  1/1", id="its table of pods"),
        pytest.param("these are names only: use -o json", b"node/n1\nnode/n2\n", id="names only"),
        pytest.param("this is what kubectl describe prints", b"Name:    n1\nRoles:   <none>\n", id="a description"),
        pytest.param("this is a web page", b"<!doctype html>\n<html><body>Sign in</body></html>", id="HTML"),
        pytest.param("kubectl found nothing there", b"No resources found", id="no resources"),
        pytest.param("kubectl failed (The connection to the server",
                     b"The connection to the server localhost:8080 was refused", id="no server"),
        pytest.param("the cluster refused (nodes is forbidden)",
                     b'{"kind": "Status", "message": "nodes is forbidden"}', id="the API's refusal"),
        pytest.param("is cut off; run: ebb dump", b'{"kind": "List", "items": [', id="cut off at once"),
        pytest.param("is cut off; run: ebb dump", b'{"items": [{"kind": "Service", "metadata": {"name": "s"}}, {"ki',
                     id="cut off within an object"),
        pytest.param("is not JSON", b'{"kind": "List" "items": []}', id="a comma is missing"),
        pytest.param("cannot be read", b"\x1f\x8bnot gzip", id="broken gzip"),
        pytest.param("cannot be read", gzip.compress(b"{}")[:-4], id="gzip cut off"),
        pytest.param("cannot be read", b"\xff\xfe\x00", id="half a character"),
        pytest.param("is not JSON", b"\x80\x81", id="no text at all"),
        pytest.param("is no list of Kubernetes objects", b"[1, 2]", id="another shape"),
        pytest.param("is no list of Kubernetes objects", b'{"items": 5}', id="items that are none"),
        pytest.param("holds no nodes (ignored: 1 Service)", json.dumps(SERVICE).encode(), id="no nodes"),
        pytest.param("holds no nodes; ", b'{"kind": "List", "items": []}', id="nothing"),
        pytest.param("is not JSON", b'{"a":' * 100_000, id="nested beyond reason"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_dump_is_one_sentence(tmp_path: Path, expected: str, content: bytes) -> None:
    why = refusal(path := tmp_path / "dump.json", content)

    assert why.startswith(f"{path}: ")
    assert expected in why
    assert "\n" not in why


LOGIN = "; run `gcloud auth login` and `gcloud container clusters get-credentials"
PLUGIN = b"Unable to connect to the server: getting credentials: exec: executable gke-gcloud-auth-plugin"
NO_SERVER = b"The connection to the server localhost:8080 was refused - did you specify the right host or port?"
LOGGED = (
    b"E0304 22:00:00.1   17 memcache.go:265] the server has asked for the client to provide credentials\nerror: You"
)


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        pytest.param(LOGIN, b"error: You must be logged in to the server (Unauthorized)\n", id="kubectl's own words"),
        pytest.param(LOGIN, LOGGED, id="kubectl's log"),
        pytest.param(LOGIN, b"Error from server (Unauthorized): Unauthorized", id="the server's words"),
        pytest.param(LOGIN, b"Unauthorized\n", id="a proxy's word"),
        pytest.param(LOGIN, b'{"kind": "Status", "message": "Unauthorized", "code": 401}', id="the API's refusal"),
        pytest.param(LOGIN, b'{"items": [{"kind": "Status", "message": "Unauthorized"}]}', id="one in a list"),
        pytest.param(LOGIN, PLUGIN + b" failed with exit code 1", id="a login that has run out"),
        pytest.param("; run `gcloud components install gke-gcloud", PLUGIN + b" not found", id="no plugin"),
        pytest.param("; name the cluster with `gcloud container clusters get", NO_SERVER, id="no kubeconfig"),
        pytest.param("; ask for rights to list it (roles/container.viewer)",
                     b"Error from server (Forbidden): pods is forbidden", id="no rights"),
        pytest.param("; ask for rights to list it (roles/container.viewer)",
                     b'{"kind": "Status", "message": "nodes is forbidden", "code": 403}', id="the API's no"),
    ],
)  # fmt: skip
def test_the_remedy_of_a_refused_dump_is_not_another_dump(tmp_path: Path, expected: str, content: bytes) -> None:
    why = refusal(tmp_path / "dump.json", content)

    assert expected in why
    assert why.endswith(", then print it again.")
    assert "kubectl get" not in why


LOTS = {"allocatable": {"cpu": "lots"}}
UNBORN = {"kind": "Node", "metadata": {"name": "n2"}}
POD = "items[1] (Pod default/web-1)"


@pytest.mark.parametrize(
    ("expected", "item"),
    [
        pytest.param(f"{POD}: spec.tolerations: Expected `array", a_pod(tolerations="all"), id="a wrong type"),
        pytest.param(f"{POD}: 'much' is not a quantity", a_pod(overhead={"cpu": "much"}), id="a pod's quantity"),
        pytest.param("items[1] (Node n9): 'lots' is not a quantity", a_node("n9", status=LOTS), id="a node's quantity"),
        pytest.param(f"{POD}: Invalid RFC3339", a_pod(meta={"creationTimestamp": "yesterday"}), id="a time"),
        pytest.param("items[1]: Expected `object`, got `int`", 5, id="a number"),
        pytest.param("items[1]: this Pod has no metadata.name", {"kind": "Pod"}, id="no name"),
        pytest.param("items[1] (Node n2): node 'n2' has no metadata.creationTimestamp", UNBORN, id="no birth"),
    ],
)
def test_a_malformed_item_is_named(tmp_path: Path, expected: str, item: Any) -> None:
    why = refusal(path := tmp_path / "dump.json", text(listed(a_node(), item)))

    assert why.startswith(f"{path}: {expected}")
    assert "run: ebb dump" in why


@pytest.mark.parametrize("missing", ["nowhere.json", "empty-folder"])
def test_a_path_without_a_dump_is_one_sentence(tmp_path: Path, missing: str) -> None:
    (tmp_path / "empty-folder").mkdir()

    with pytest.raises(BadDump, match=missing):
        read_dump([tmp_path / missing])


FIELDS = ["metadata", "spec", "status", "name", "kind", "items", "labels", "affinity", "conditions", "volumes"]
INNER = ["containers", "resources", "requests", "cpu", "taints", "tolerations", "creationTimestamp", "type"]
VALUES = ["2026-03-04T10:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1", "100m", "Ready", "Pod"]
words = st.sampled_from([*FIELDS, *INNER, *VALUES])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def spoilt(item: dict[str, Any], path: list[int], value: Any) -> Any:
    """Put a value into some place of an object."""
    if not path or not isinstance(item, dict | list) or not item:
        return value
    keys = list(item) if isinstance(item, dict) else list(range(len(item)))
    key = keys[path[0] % len(keys)]
    copy: Any = dict(item) if isinstance(item, dict) else list(item)
    copy[key] = spoilt(copy[key], path[1:], value)
    return copy


FULL_POD = a_pod(
    volumes=[{"name": "v", "emptyDir": {}}],
    affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k"}]}},
    tolerations=[{"operator": "Exists"}],
    topologySpreadConstraints=[{"topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}],
    overhead={"cpu": "1"},
    status={"containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "2"}}]},
)
places = st.lists(st.integers(0, 9), min_size=1, max_size=7)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(item=st.sampled_from([a_node(), FULL_POD, BUDGET, NAMESPACE]), place=places, value=anything)
def test_no_spoilt_item_ends_in_anything_but_a_sentence(
    tmp_path: Path, item: dict[str, Any], place: list[int], value: Any
) -> None:
    _reads_or_says_why(write(tmp_path / "dump.json", listed(a_node("whole"), spoilt(item, place, value))))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=60) | anything.map(lambda value: json.dumps(value).encode()))
@example(content=b'{"metadata":{},"kind":null}')
def test_no_content_ends_in_anything_but_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)

    _reads_or_says_why(path)


def _reads_or_says_why(path: Path) -> None:
    try:
        said = ""
        read_dump([path])
    except BadDump as fault:
        said = str(fault)

    assert not said or said.startswith(f"{path}: ")


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


@pytest.mark.parametrize(
    ("chunks", "unread", "items"),
    [
        pytest.param(0, (), [], id="without any nothing is shown"),
        pytest.param(2, (), [capacity_buffer("web"), chunk_of("chunk")], id="with their templates"),
        pytest.param(2, (), [chunk_of("chunk"), capacity_buffer("web"), capacity_buffer("web")], id="each once"),
        pytest.param(0, ("podtemplates",), [capacity_buffer("web")], id="without templates, which is shown"),
    ],
)
def test_capacity_buffers_of_a_dump_hold_their_chunks(
    chunks: int, unread: tuple[str, ...], items: list[Any], tmp_path: Path
) -> None:
    reading, _ = read_dump([write(tmp_path / "dump.json", listed(a_node(), *items))])
    assert (sum(held.replicas for held in reading.buffers.held), reading.buffers.unread) == (chunks, unread)
