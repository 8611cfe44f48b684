"""Claims, volumes, storage classes and CSI objects as the API writes them, in the core's words."""

from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes import storage_lists, wire
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.storage_lists import ALL
from shared.core.cluster import names
from shared.core.cluster.pod import Volume
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.storage import (
    LISTS,
    NO_CLAIMS,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from shared.errors import Retryable, Terminal
from tests.adapters.objects import api_node, api_pod, read
from tests.adapters.scripted import Say, Script, status
from tests.builders import NOW
from tests.depth import cases

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
IN_A = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": names.ZONE_LABEL, "operator": "In", "values": ["a"]}]}]}}  # fmt: skip


def claim(
    name: str = "data", *, meta: dict[str, Any] | None = None, phase: str = "Bound", **spec: Any
) -> dict[str, Any]:
    given = {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard-rwo", "volumeName": "pv-data", **spec}
    return {
        "metadata": {"name": name, "namespace": "shop", "annotations": BOUND, **(meta or {})},
        "spec": given,
        "status": {"phase": phase},
    }


def volume(name: str = "pv-data", *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    csi = {"csi": {"driver": "pd.csi.storage.gke.io", "volumeHandle": f"projects/p/zones/a/disks/{name}"}}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec or csi}


def mounted(*claims: str) -> list[dict[str, Any]]:
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]


def decoded(kind: type[Any], given: dict[str, Any]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(given), type=kind)


OLD = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}
CHOSEN = {"annotations": {"volume.kubernetes.io/selected-node": "n1"}}
PLAIN: dict[str, Any] = {"storage_class": "standard-rwo", "access_modes": ("ReadWriteOnce",)}
WITH_VOLUME: dict[str, Any] = {**PLAIN, "volume": "pv-data", "bound": True}


@cases(
    "expected, given",
    ("bound", WITH_VOLUME, claim()),
    ("waiting", PLAIN, claim(volumeName=None, meta={"annotations": None}, phase="Pending")),
    ("not yet wholly bound", {**WITH_VOLUME, "bound": False}, claim(meta={"annotations": {}})),
    ("its volume is lost", {**WITH_VOLUME, "lost": True}, claim(phase="Lost")),
    ("on its way out", {**WITH_VOLUME, "deleting": True}, claim(meta={"deletionTimestamp": "2026-03-04T22:00:00Z"})),
    ("the class in an annotation comes first", {**WITH_VOLUME, "bound": False, "storage_class": "old"},
     claim(meta=OLD)),
    ("being made", {**PLAIN, "selected_node": "n1"}, claim(volumeName="", meta=CHOSEN)),
    ("with nothing but a name", {"access_modes": ()},
     claim(volumeName="", storageClassName=None, accessModes=None, meta={"annotations": None})),
)  # fmt: skip
def test_a_claim_shows_what_it_is_bound_to(expected: dict[str, Any], given: dict[str, Any]) -> None:
    found = storage_lists.claim(decoded(wire.Claim, given))

    assert found == PersistentVolumeClaim("shop", "data", **expected)


A = (NodeTerm((Requirement(names.ZONE_LABEL, "In", ("a",)),)),)
DISK: dict[str, Any] = {"gcePersistentDisk": {"pdName": "disk-1", "fsType": "ext4"}}
GCE: dict[str, Any] = {
    "kind": "gcePersistentDisk", "driver": "pd.csi.storage.gke.io", "plugin": "kubernetes.io/gce-pd"
}  # fmt: skip
BETA = names.VOLUME_ZONE_LABELS[0]


@cases(
    "expected, given",
    ("of a CSI driver",
     {"kind": "csi", "driver": "pd.csi.storage.gke.io", "handle": "projects/p/zones/a/disks/pv-data"}, volume()),
    ("local, with affinity and claim",
     {"kind": "local", "node_terms": A, "claim": "shop/data", "access_modes": ("ReadWriteOnce",)},
     volume(local={"path": "/mnt"}, nodeAffinity=IN_A, accessModes=["ReadWriteOnce"],
            claimRef={"namespace": "shop", "name": "data"})),
    ("an in-tree disk", {**GCE, "handle": "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk-1"}, volume(**DISK)),
    ("an in-tree disk of a zone",
     {**GCE, "handle": "projects/UNSPECIFIED/zones/a/disks/disk-1", "labels": {names.ZONE_LABEL: "a"}},
     volume(labels={names.ZONE_LABEL: "a", "team": "x"}, **DISK)),
    ("an in-tree disk of a region",
     {**GCE, "handle": "projects/UNSPECIFIED/regions/europe-west4/disks/disk-1",
      "labels": {BETA: "europe-west4-a__europe-west4-b"}},
     volume(labels={BETA: "europe-west4-a__europe-west4-b"}, **DISK)),
    ("an in-tree disk of another cloud", {"kind": "awsElasticBlockStore", "plugin": "kubernetes.io/aws-ebs"},
     volume(awsElasticBlockStore={"volumeID": "v"})),
    ("a share", {"kind": "nfs"}, volume(nfs={"server": "s"})),
    ("of a kind yet unknown", {"kind": ""}, volume(novelty={"x": 1}, capacity={"storage": "1Gi"})),
    ("an affinity that asks for nothing", {"kind": "nfs", "node_terms": None},
     volume(nfs={}, nodeAffinity={"required": None})),
)  # fmt: skip
def test_a_volume_shows_what_it_is_and_where(expected: dict[str, Any], given: dict[str, Any]) -> None:
    found = storage_lists.volume(decoded(wire.Volume, given))

    assert found == PersistentVolume("pv-data", **expected)


def test_a_class_shows_when_and_where_its_volumes_are_made() -> None:
    given = {
        "metadata": {"name": "fast", "creationTimestamp": "2026-03-04T22:00:00Z",
                     "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "pd.csi.storage.gke.io",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": names.ZONE_LABEL, "values": ["a"]}]}],
    }  # fmt: skip
    found = storage_lists.storage_class(decoded(wire.StorageClass, given))

    assert found == StorageClass(
        "fast", "pd.csi.storage.gke.io", waits_for_consumer=True, allowed_topologies=A, default_since=NOW
    )


def test_a_class_that_shows_nothing_binds_at_once_and_anywhere() -> None:
    given = {"metadata": {"name": "slow"}, "provisioner": "p", "volumeBindingMode": None}

    assert storage_lists.storage_class(decoded(wire.StorageClass, given)) == StorageClass("slow", "p")


def test_a_nodes_drivers_show_how_much_they_attach() -> None:
    given = {
        "metadata": {"name": "n1", "annotations": {
            "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd,kubernetes.io/cinder"}},
        "spec": {"drivers": [{"name": "pd", "nodeID": "x", "allocatable": {"count": 15}}, {"name": "nfs"},
                             {"name": "none", "allocatable": {}}]},
    }  # fmt: skip
    found = storage_lists.csi_node(decoded(wire.CSINode, given))

    assert found == CSINode({"pd": 15}, frozenset({"kubernetes.io/gce-pd", "kubernetes.io/cinder"}))


def test_a_pods_ephemeral_volume_shows_of_which_class_its_claim_will_be() -> None:
    def ephemeral(**spec: Any) -> dict[str, Any]:
        return {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], **spec}}}}

    volumes = [{"name": "a", **ephemeral(storageClassName="fast")}, {"name": "b", **ephemeral()}, *mounted("data")]

    assert read(api_pod(volumes=volumes)).spec.volumes == (
        Volume("a", "ephemeral", storage_class="fast"),
        Volume("b", "ephemeral"),
        Volume("data", "persistentVolumeClaim", "data"),
    )


def page(*items: Any, more: str = "") -> Say:
    return Say(body={"metadata": {"continue": more}, "items": list(items)})


ATTACHED = {"metadata": {"name": "x"}, "spec": {"attacher": "pd", "nodeName": "n1",
            "source": {"persistentVolumeName": "pv-data"}}}  # fmt: skip
INLINE = {"metadata": {"name": "y"}, "spec": {"attacher": "pd", "nodeName": "n1", "source": {}}}
COUNTED = {"metadata": {"name": "topolvm"}, "spec": {"storageCapacity": True}}


def test_storage_is_read_in_pages_list_by_list(api: Script, cluster: KubernetesCluster) -> None:
    nodes = page({"metadata": {"name": "n1"}, "spec": {"drivers": []}})
    drivers = page(COUNTED, {"metadata": {"name": "pd"}, "spec": {}})
    api.says(
        page(claim(), more="on"), page(claim("more")), page(volume()), page(), nodes, page(ATTACHED, INLINE), drivers
    )

    found = cluster.storage()

    assert [asked.path for asked in api.asked][1:] == [kind.path for kind in ALL]
    assert tuple(kind.resource for kind in ALL) == LISTS
    assert sorted(found.claims) == ["shop/data", "shop/more"]
    assert list(found.volumes) == ["pv-data"]
    assert found.csi_nodes == {"n1": CSINode()}
    assert found.attachments == {"n1": (VolumeAttachment("pd", "pv-data"),)}
    assert (found.capacity_drivers, found.known) == (frozenset({"topolvm"}), True)


def test_a_list_that_may_not_be_read_is_named_and_stops_nothing(api: Script, cluster: KubernetesCluster) -> None:
    denied = Say(403, status(403, "persistentvolumes is forbidden"))
    api.says(page(claim()), denied, page(), page(), page(), denied)

    found = cluster.storage()

    assert (list(found.claims), found.unread) == (["shop/data"], ("persistentvolumes", "csidrivers"))
    assert not found.known


@cases(
    "expected, said",
    ("an outage", Retryable, Say(503, status(503, "busy"))),
    ("an answer that cannot be read", Terminal, page({"metadata": 7})),
)
def test_any_other_failure_of_a_list_is_the_callers(
    expected: type[Exception], said: Say, api: Script, cluster: KubernetesCluster
) -> None:
    api.says(page(), said)

    with pytest.raises(expected, match="list persistentvolumes"):
        cluster.storage()


def test_storage_is_part_of_a_snapshot_only_where_a_pod_has_a_claim(api: Script, cluster: KubernetesCluster) -> None:
    rest = [page(), page(), page(), page(), page()]
    api.says(page(api_node()), page(api_pod()), *rest)
    assert cluster.read().storage is NO_CLAIMS
    asked = len(api.asked)

    lists = [page(claim()), page(volume()), page(), page(), page(), page()]
    api.says(page(api_node()), page(api_pod(volumes=mounted("data"))), *rest, *lists)
    found = cluster.read().storage

    assert (found.known, list(found.claims), list(found.volumes)) == (True, ["shop/data"], ["pv-data"])
    assert len(api.asked) == asked + asked + len(LISTS)
