"""The Kubernetes adapter says of a real API server what the port promises."""

from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import Storage
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import Gone, Stale
from tests.builders import NOW
from tests.real.conftest import NODES, Corner, first_pod
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import disruption_budget
from tests.real.waiting import until

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

    until("the node given back", lambda: returned(cluster, name))
    until("the scheduler's own taint gone", lambda: not cluster.node(name).has_taint(names.UNSCHEDULABLE_TAINT))
    after = raw_node(twenty_nodes, name)
    twenty_nodes.kubectl("taint", "node", name, "dedicated-")
    assert after["spec"]["taints"] == before["spec"]["taints"], "timeAdded and all"
    assert names.OUR_ANNOTATION not in after["metadata"].get("annotations", {})


def returned(cluster: KubernetesCluster, name: str) -> bool:
    """Give back as a drainer does: on a conflict read again."""
    try:
        return not cluster.return_node(cluster.node(name), "order-1").unschedulable
    except Stale:
        return False


def raw_node(plane: ControlPlane, name: str) -> dict[str, Any]:
    return dict(plane.api.request("GET", f"/api/v1/nodes/{name}").body)


def test_a_budget_without_room_is_named_and_a_dry_run_shows_the_same(
    cluster: KubernetesCluster, corner: Corner
) -> None:
    pod = first_pod(cluster, corner, "guarded", replicas=2)
    corner.protect("guarded", minAvailable=2)

    for dry_run in (True, False):
        said = cluster.evict(pod, 5, dry_run=dry_run)
        assert (said.answer, said.detail) == (EvictionAnswer.BUDGET, f"{corner.namespace}/guarded")


def test_two_budgets_over_one_pod_are_an_answer_of_their_own(cluster: KubernetesCluster, corner: Corner) -> None:
    pod = first_pod(cluster, corner, "twice", replicas=2)
    corner.protect("twice", maxUnavailable=1)
    second = disruption_budget("twice", namespace=corner.namespace, maxUnavailable=1)
    second["metadata"]["name"] = "second"
    corner.plane.api.create([second])

    assert cluster.evict(pod, 5).answer is EvictionAnswer.SEVERAL_PDBS


def test_another_pod_under_that_name_is_left_alone(cluster: KubernetesCluster, corner: Corner) -> None:
    pod = first_pod(cluster, corner, "renamed", replicas=1)

    assert cluster.evict(Pod(pod.name, "0f0f0f0f-former", pod.spec, pod.node), 5).answer is EvictionAnswer.GONE
    assert corner.pod(pod.name) is not None
    assert cluster.evict(Pod("nobody", pod.uid, pod.spec), 5).answer is EvictionAnswer.GONE


def test_an_eviction_is_granted_in_earnest_only(cluster: KubernetesCluster, corner: Corner) -> None:
    pod = first_pod(cluster, corner, "leaving", replicas=1, grace=30)

    assert cluster.evict(pod, 4, dry_run=True).answer is EvictionAnswer.GRANTED
    assert all(each.deleting is None for each in cluster.pods_on(pod.node) if each.uid == pod.uid)
    assert cluster.evict(pod, 4).answer is EvictionAnswer.GRANTED
    (leaving,) = (each for each in cluster.pods_on(pod.node) if each.uid == pod.uid)
    assert leaving.deleting is not None


def test_a_note_is_seen_in_kubectl_describe(cluster: KubernetesCluster, twenty_nodes: ControlPlane) -> None:
    node = cluster.read().nodes[0]

    cluster.note(node, "EbbCordoned", "cordoned by order-1")

    assert "cordoned by order-1" in twenty_nodes.kubectl("describe", "node", node.name)


def test_a_node_that_is_not_there_is_gone(cluster: KubernetesCluster) -> None:
    with pytest.raises(Gone):
        cluster.node("nowhere")


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
