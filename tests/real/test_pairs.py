"""What others write decides whether Ebb takes, fills or counts a node: a source, and one with room for its pod."""

from dataclasses import dataclass
from typing import Any

import pytest

from infra.local.world.pods import is_ready
from shared.core.cluster import names
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.planning.candidates import assess_nodes
from shared.core.reasons import Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import count_nodes
from shared.core.rules.situation import Situation
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import NOW, policy
from tests.depth import cases
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import STRATEGIC_PATCH, ControlPlane
from tests.real.control_plane.manifests import deployment, namespace, node
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Json = dict[str, Any]
ANYTHING = [{"operator": "Exists"}]
"""Tolerated by the pod, so that only Ebb's own rules keep it from a node."""


@dataclass(frozen=True)
class Pair:
    """The nodes' names are those of the corner's namespace, which is their pool's name, too."""

    corner: Corner

    @property
    def source(self) -> str:
        return f"{self.corner.namespace}-source"

    @property
    def destination(self) -> str:
        return f"{self.corner.namespace}-destination"

    def add(self, name: str, **changes: Any) -> None:
        pool = self.corner.namespace
        self.corner.plane.api.create([node(name, pool=pool, labels={"corner": pool}, **changes)])
        until(f"{name} to be ready", lambda: is_ready(self.corner.plane.api.request("GET", self.path(name)).body))

    def path(self, name: str) -> str:
        return f"/api/v1/nodes/{name}"

    def write(self, name: str, status: Json | None = None, **body: Json) -> None:
        """Write as another actor does: into the node, and into its status."""
        api = self.corner.plane.api
        assert api.patch(self.path(name), body)
        answer = api.request("PATCH", f"{self.path(name)}/status", {"status": status or {}}, STRATEGIC_PATCH)
        assert answer.status == 200, answer.body

    def look(self) -> Snapshot:
        reading = cluster_as(self.corner.plane.kubeconfig).read()
        return snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)

    def goes(self) -> bool:
        return Simulation.of(self.look()).try_remove(self.source) is None

    def run(self, app: str, cpu: str, **options: Any) -> list[Json]:
        pod = {"nodeSelector": {"corner": self.corner.namespace}, "tolerations": ANYTHING, **options.pop("pod", {})}
        return self.corner.run(app, replicas=1, cpu=cpu, pod=pod, **options)


def made(corner: Corner) -> Pair:
    """Make both nodes; the pod asks for 2 CPU of nearly 4."""
    pair = Pair(corner)
    pair.add(pair.source)
    pair.run("web", "2")
    pair.add(pair.destination)
    return pair


@pytest.fixture(scope="module")
def pair(twenty_nodes: ControlPlane) -> Pair:
    twenty_nodes.api.create([namespace("pair")])
    return made(Corner(twenty_nodes, "pair"))


def tainted(key: str, effect: str = "NoSchedule", **more: Any) -> Json:
    return {"taints": [{"key": key, "value": "true", "effect": effect}], **more}


def conditions(*kinds: str, status: str = "True", ready: str = "True") -> Json:
    said = {**dict.fromkeys(kinds, status), "Ready": ready}
    return {"conditions": [{"type": kind, "status": value, "reason": "Other"} for kind, value in said.items()]}


UNDONE: Json = {
    "metadata": {
        "labels": {names.STANDBY_NODE: None, names.MANAGED_NODE: None},
        "annotations": {"kwok.ebb.internal/broken": None},
    },
    "spec": {"taints": None, "unschedulable": None},
    "status": conditions(names.SUSPENDED_CONDITION, *names.LIFECYCLE_CONDITIONS, status="False"),
}


WAITING: Json = {
    "metadata": {"labels": {names.STANDBY_NODE: "true"}},
    "spec": tainted(names.STANDBY_NODE, "PreferNoSchedule"),
}
SUSPENDED: Json = {
    "metadata": {**WAITING["metadata"], "annotations": {"kwok.ebb.internal/broken": "yes"}},
    "spec": tainted(names.STANDBY_SUSPENDED_TAINT, unschedulable=True),
    "status": conditions(names.SUSPENDED_CONDITION, ready="Unknown"),
}
MANAGED: Json = {"metadata": {"labels": {names.MANAGED_NODE: "true"}}, "spec": tainted(names.MANAGED_NODE)}


@cases(
    "reason, counted, written",
    ("waits for a buffer", Unremovable.STANDBY_NODE, 1, WAITING),
    ("is suspended", Unremovable.STANDBY_NODE, 1, SUSPENDED),
    ("is managed by Google", Unremovable.MANAGED_NODE, 1, MANAGED),
    *(
        (f"has the condition {kind}", Unremovable.BEING_MAINTAINED, 2, {"status": conditions(kind)})
        for kind in names.LIFECYCLE_CONDITIONS
    ),
)
def test_a_node_of_which_another_speaks_is_neither_emptied_nor_filled(
    reason: Unremovable, counted: int, written: Json, pair: Pair
) -> None:
    assert pair.goes()
    pair.write(pair.destination, **written)

    assert not pair.goes()
    snapshot = pair.look()
    situation = Situation(snapshot, ClusterState(), policy(pair.corner.namespace))
    found = {seen.node.name: {blocker.reason for blocker in seen.blockers} for seen in assess_nodes(situation)}
    assert reason in found[pair.destination]
    assert reason not in found[pair.source]
    counted_now = count_nodes(snapshot.nodes, {}, situation.state, situation.policy, NOW)
    counts = counted_now.pool(pair.corner.namespace)
    assert (counts.nodes, len(counts.in_use)) == (counted, 0)

    pair.write(pair.destination, **UNDONE)
    assert pair.goes(), "as soon as nobody speaks of it any more"


def test_a_pod_goes_to_no_older_kubelet_and_to_none_that_declares_less(pair: Pair) -> None:
    pair.write(pair.destination, status={"nodeInfo": {"kubeletVersion": "v1.35.4-gke.1"}})
    assert not pair.goes()
    pair.write(pair.destination, status={"nodeInfo": {"kubeletVersion": "v1.37.1-gke.1"}})
    assert pair.goes()

    pair.write(pair.source, status={"declaredFeatures": ["FeatureOfThisNode"]})
    assert not pair.goes()
    pair.write(pair.destination, status={"declaredFeatures": ["FeatureOfThisNode", "Other"]})
    assert pair.goes()
    pair.write(pair.source, status={"declaredFeatures": []})


def test_room_that_the_scheduler_keeps_by_name_is_taken(corner: Corner) -> None:
    """The real scheduler preempts, and says for whom before the victim has ended."""
    pair = made(corner)
    api, low, high = pair.corner.plane.api, f"{pair.corner.namespace}-low", f"{pair.corner.namespace}-high"
    for name, value in ((low, -1), (high, 1000)):
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        api.create([{**kind, "value": value}])
    # of two pods of one priority that started within a second the scheduler takes either
    pair.run("low", "3", grace=20, pod={"priorityClassName": low})
    spec = {"nodeSelector": {"corner": pair.corner.namespace}, "tolerations": ANYTHING, "priorityClassName": high}
    api.create([deployment("high", replicas=1, cpu="3", namespace=pair.corner.namespace, pod=spec)])
    until("a nomination", lambda: any(pod["status"].get("nominatedNodeName") for pod in pair.corner.pods("high")))

    snapshot = pair.look()
    (waiting,) = (pod for pod in snapshot.pods if pod.spec.priority_class == high)
    simulation = Simulation.of(snapshot)
    assert waiting.nominated == pair.destination
    assert simulation.try_remove(pair.source) is not None
    assert waiting.key not in {pod.key for pod in simulation.unplaced}


def agents(namespace: str, cpu: str) -> Json:
    made = deployment("agent", cpu=cpu, namespace=namespace, pod={"nodeSelector": {"corner": namespace}})
    return {**made, "kind": "DaemonSet", "spec": {key: made["spec"][key] for key in ("selector", "template")}}


def test_the_room_of_a_daemon_pod_that_is_still_to_come_is_kept_until_it_comes(corner: Corner) -> None:
    """A quota keeps the DaemonSet's controller from making its second pod, as a busy one would for a while."""
    pair, api = Pair(corner), corner.plane.api
    pair.add(pair.source)
    pair.run("web", "1900m")
    api.create([agents(corner.namespace, "1800m")])
    until("its first pod", lambda: corner.ready("agent", 1))
    quota = {"metadata": {"name": "team", "namespace": corner.namespace}, "spec": {"hard": {"pods": "2"}}}
    api.create([{"apiVersion": "v1", "kind": "ResourceQuota", **quota}])
    path = f"/api/v1/namespaces/{corner.namespace}/resourcequotas/team"
    until("a quota that counts", lambda: (api.request("GET", path).body.get("status") or {}).get("used"))
    pair.add(pair.destination)
    assert pair.goes(), "there is room for both"

    selector = {"nodeSelector": {"corner": corner.namespace}}
    api.create([deployment(corner.namespace, replicas=1, cpu="500m", pod=selector)])
    beside = "/api/v1/namespaces/default/pods?labelSelector=app%3D" + corner.namespace
    until("a pod beside", lambda: [item for item in api.items(beside) if item["spec"].get("nodeName")])
    assert not pair.goes(), "the room is the DaemonSet's"

    api.request("DELETE", path)
    until("the pod that was to come", lambda: corner.ready("agent", 2))
    api.request("DELETE", f"/apis/apps/v1/namespaces/default/deployments/{corner.namespace}")


def test_what_a_deployment_shows_of_pods_that_end_is_read(corner: Corner) -> None:
    """Another counts as ours only once those that end are told apart; StatefulSets and such Jobs wait for the end."""
    [pod, *_] = corner.run("web", replicas=2, grace=3)
    read = cluster_as(corner.plane.kubeconfig).read
    name = f"{corner.namespace}/ReplicaSet/{pod['metadata']['ownerReferences'][0]['name']}"
    assert read().workloads[name].terminating == 0

    assert corner.plane.api.evict(corner.namespace, pod["metadata"]["name"]).status == 201
    until("a pod that ends", lambda: read().workloads[name].terminating == 1)
    until("none any more", lambda: read().workloads[name].terminating == 0)
