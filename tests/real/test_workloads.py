"""What a real deployment controller writes is read as at rest, in a rollout, and as short of a replica."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import EvictionAnswer
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.api import MERGE_PATCH
from tests.real.control_plane.manifests import deployment
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Json = dict[str, Any]


@pytest.fixture(scope="module")
def cluster(twenty_nodes: ControlPlane) -> KubernetesCluster:
    return cluster_as(twenty_nodes.kubeconfig)


def one_of(cluster: KubernetesCluster, corner: Corner, app: str, replicas: int) -> Pod:
    raw = corner.run(app, replicas=replicas)[0]
    return next(pod for pod in cluster.pods_on(raw["spec"]["nodeName"]) if pod.name == raw["metadata"]["name"])


def test_a_lost_replica_is_away_and_no_rollout_and_a_new_template_is_one(
    cluster: KubernetesCluster, corner: Corner
) -> None:
    pod = one_of(cluster, corner, "web", 3)
    name = f"{corner.namespace}/Deployment/web"

    def now() -> Workload:
        seen = cluster.workloads_of([pod.spec.workload])[pod.spec.workload]
        return replace(seen, templates=(), fixed_template=False, terminating=None, deployment=None)

    until("a deployment at rest", lambda: now() == Workload(name, 3, 3, created=3))
    read = cluster.read()
    (template,) = read.workloads[pod.spec.workload].templates
    assert template.requests == pod.spec.requests
    (returning,) = as_they_return([pod], read.workloads)
    assert returning.spec is pod.spec, "what the API server adds to a pod makes it no other than its template"

    assert cluster.evict(pod, 1).answer is EvictionAnswer.GRANTED
    until("a replica away, without a rollout", lambda: (now().replicas_away, now().rolling) == (1, False))
    until("all replicas back", lambda: now() == Workload(name, 3, 3, created=3))

    corner.plane.kubectl("-n", corner.namespace, "rollout", "restart", "deployment/web")
    until("a rollout under way", lambda: now().rolling)
    until("the rollout done", lambda: not now().rolling)


STRATEGIES: Mapping[str, Json] = {
    "OnDelete": {"type": "OnDelete"},
    "partition": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
}


@pytest.mark.parametrize(("strategy", "is_newest"), [("OnDelete", True), ("partition", False)])
def test_a_stateful_set_makes_the_pod_that_ebb_expects(
    strategy: str, *, is_newest: bool, cluster: KubernetesCluster, corner: Corner
) -> None:
    """Its template is edited, and the pod that runs is evicted."""
    namespace, api = corner.namespace, corner.plane.api
    plain = deployment("db", namespace=namespace, replicas=1, grace=1)
    api.create([{**plain, "kind": "StatefulSet", "spec": {**plain["spec"], "updateStrategy": STRATEGIES[strategy]}}])
    corner.hurry("db", 1)
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets/db"
    edited = {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/os": "linux"}}}}}
    assert api.request("PATCH", path, edited, MERGE_PATCH).status == 200

    def pods() -> list[Pod]:
        return [pod for pod in cluster.read().pods if pod.key == f"{namespace}/db-0" and pod.deleting is None]

    (before,) = pods()
    name = before.spec.workload
    until("the edit is seen", lambda: _has_an_update(cluster.workloads_of([name])[name]))
    (expected,) = as_they_return([before], cluster.workloads_of([name]))
    assert cluster.evict(before, 1).answer is EvictionAnswer.GRANTED
    after = until("another pod", lambda: next((pod for pod in pods() if pod.uid != before.uid), None))

    assert bool(expected.spec.node_selector) is bool(after.spec.node_selector) is is_newest
    (following,) = as_they_return([after], cluster.workloads_of([name]))
    assert following.spec is after.spec, "it is as the revision that made it"


def _has_an_update(found: Workload) -> bool:
    revisions = found.revisions
    return revisions is not None and revisions.update not in {"", revisions.current}
