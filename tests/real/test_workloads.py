"""What a real deployment controller writes is read as at rest, in a rollout, and as short of a replica."""

from dataclasses import replace

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import EvictionAnswer
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import ControlPlane
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane


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
        return replace(seen, template=None, terminating=None, deployment=None)

    until("a deployment at rest", lambda: now() == Workload(name, 3, 3, created=3))
    template = cluster.read().workloads[pod.spec.workload].template
    assert template is not None
    assert template.total == pod.spec.requests

    assert cluster.evict(pod, 1).answer is EvictionAnswer.GRANTED
    until("a replica away, without a rollout", lambda: (now().away, now().rolling) == (1, False))
    until("all replicas back", lambda: now() == Workload(name, 3, 3, created=3))

    corner.plane.kubectl("-n", corner.namespace, "rollout", "restart", "deployment/web")
    until("a rollout under way", lambda: now().rolling)
    until("the rollout done", lambda: not now().rolling)
