"""What the adapter reads and writes of a real API server, beyond what `contracts` and `test_twins` hold together."""

from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster import names
from shared.core.cluster.storage import Storage
from shared.errors import Stale
from tests.builders import NOW
from tests.real.conftest import NODES, Corner
from tests.real.control_plane import ControlPlane
from tests.real.waiting import until, without_conflict

pytestmark = pytest.mark.control_plane


def test_a_snapshot_holds_the_nodes_and_the_pods(cluster: KubernetesCluster, corner: Corner) -> None:
    corner.run("seen", replicas=3, cpu="250m")

    reading = cluster.read()
    pods = [pod for pod in reading.pods if pod.spec.namespace == corner.namespace]

    assert len(reading.nodes) >= NODES
    assert all(node.ready and node.once_ready and node.allocatable.cpu for node in reading.nodes)
    assert [(pod.requests.cpu, pod.ready, pod.booked) for pod in pods] == [(250, True, None)] * 3
    assert len({id(pod.spec) for pod in pods}) == 1, "pods of one kind share a class"
    assert reading.namespaces[corner.namespace]["kubernetes.io/metadata.name"] == corner.namespace


def test_a_node_is_taken_and_returned_with_foreign_taints_whole(
    cluster: KubernetesCluster, twenty_nodes: ControlPlane
) -> None:
    name = max(node.name for node in cluster.read().nodes)
    twenty_nodes.kubectl("taint", "node", name, "dedicated=db:NoExecute")
    before = raw_node(twenty_nodes, name)

    taken = cluster.take(fresh := cluster.node(name), "order-1", NOW)
    assert (taken.unschedulable, taken.drain_taint) == (True, "order-1")
    assert names.OUR_ANNOTATION in taken.annotations
    with pytest.raises(Stale):
        cluster.take(fresh, "order-2", NOW)

    assert not without_conflict(lambda: cluster.return_node(cluster.node(name), "order-1")).unschedulable
    until("the scheduler's own taint gone", lambda: not cluster.node(name).has_taint(names.UNSCHEDULABLE_TAINT))
    after = raw_node(twenty_nodes, name)
    twenty_nodes.kubectl("taint", "node", name, "dedicated-")
    assert after["spec"]["taints"] == before["spec"]["taints"], "timeAdded and all"
    assert names.OUR_ANNOTATION not in after["metadata"].get("annotations", {})


def raw_node(plane: ControlPlane, name: str) -> dict[str, Any]:
    return dict(plane.api.request("GET", f"/api/v1/nodes/{name}").body)


def test_a_note_is_seen_in_kubectl_describe(cluster: KubernetesCluster, twenty_nodes: ControlPlane) -> None:
    node = cluster.read().nodes[0]

    cluster.note(node, "EbbCordoned", "cordoned by order-1")

    assert "cordoned by order-1" in twenty_nodes.kubectl("describe", "node", node.name)


def test_a_claim_leads_to_its_volume_and_its_volume_to_its_zone(cluster: KubernetesCluster, corner: Corner) -> None:
    name, size = f"pv-{corner.namespace}", {"storage": "1Gi"}
    shared = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    terms = [{"matchExpressions": [{"key": names.ZONE_LABEL, "operator": "In", "values": ["z1"]}]}]
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        **shared, "capacity": size, "csi": {"driver": "pd.csi.storage.gke.io", "volumeHandle": name},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}  # fmt: skip
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
        "name": "data", "namespace": corner.namespace}, "spec": {
        **shared, "volumeName": name, "resources": {"requests": size}}}  # fmt: skip
    corner.plane.api.create([volume, claim])

    def bound() -> Storage | None:
        found = cluster.storage()
        return found if found.claims[f"{corner.namespace}/data"].bound else None

    storage = until("the claim bound", bound)
    found = storage.volumes[storage.claims[f"{corner.namespace}/data"].volume]
    assert (storage.known, found.kind, found.handle, found.claim) == (True, "csi", name, f"{corner.namespace}/data")
    assert [term.matches({names.ZONE_LABEL: "z1"}, "") for term in found.node_terms or ()] == [True]
