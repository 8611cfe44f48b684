"""With `infra/rbac.yaml` alone a real API server lets each function do its work, and no more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import Storage
from shared.core.records.drain_record import EvictionAnswer
from shared.errors import Terminal
from shared.ports import ClusterReading, Eviction
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import deployment
from tests.real.least_rights import TARGETS, user
from tests.real.waiting import until, without_conflict
from tests.rights.rbac import Right, filled, granted

pytestmark = pytest.mark.control_plane
GRANTS = granted(filled(planner="planner", drainer="drainer"))
OF_EVERYBODY = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
"""What every user may ask about himself."""
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A node, and a pod of a Deployment and one of a StatefulSet; there are a Job's and a ReplicationController's."""

    node: Node
    web: Pod
    database: Pod


@pytest.fixture(scope="module")
def clusters(
    with_autoscalers: ControlPlane, with_buffers: ControlPlane, kubeconfigs: Mapping[str, Path]
) -> Mapping[str, KubernetesCluster]:
    found = {TARGETS[target]: cluster_as(config) for target, config in kubeconfigs.items()}
    assert with_buffers is with_autoscalers
    return {**found, "admin": cluster_as(with_autoscalers.kubeconfig)}


@pytest.fixture
def place(corner: Corner, clusters: Mapping[str, KubernetesCluster]) -> Place:
    corner.run("web", replicas=1)
    database = {**deployment("db", namespace=corner.namespace, replicas=1), "kind": "StatefulSet"}
    corner.plane.api.create([database, *_others(corner.namespace)])
    corner.hurry("db", 1)
    for app in ("old", "batch"):
        until(f"a pod of {app}", partial(corner.pods, app))
    (web,), (db,) = (_pods(clusters["admin"], corner, app) for app in ("web", "db"))
    return Place(clusters["admin"].node(web.node or ""), web, db)


def _others(namespace: str) -> list[dict[str, Any]]:
    old, batch = (deployment(name, namespace=namespace, replicas=1) for name in ("old", "batch"))
    old |= {"apiVersion": "v1", "kind": "ReplicationController", "spec": {**old["spec"], "selector": {"app": "old"}}}
    template = batch["spec"]["template"]
    once = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    return [old, {**batch, "apiVersion": "batch/v1", "kind": "Job", "spec": {"template": once}}]


def _pods(admin: KubernetesCluster, corner: Corner, app: str) -> list[Pod]:
    raw = corner.pods(app)
    names = {pod["metadata"]["name"] for pod in raw}
    return [pod for each in raw for pod in admin.pods_on(each["spec"]["nodeName"]) if pod.name in names]


CALLS: Mapping[str, Callable[[KubernetesCluster, Place], object]] = {
    "get  nodes": lambda cluster, place: cluster.node(place.node.name),
    "list  nodes": lambda cluster, _: cluster.all_nodes(),
    "patch  nodes": lambda cluster, place: without_conflict(
        lambda: cluster.take(cluster.node(place.node.name), "order", NOW)
    ),
    "list  pods": lambda cluster, _: cluster.unbound_pods(),
    "create  pods/eviction": lambda cluster, place: cluster.evict(place.web, 1, dry_run=True),
    "list  namespaces": lambda cluster, _: cluster.read(),
    "list  events": lambda cluster, _: cluster.scale_ups(),
    "create  events": lambda cluster, place: cluster.note(place.node, "EbbTested", "A right was tried."),
    "list policy poddisruptionbudgets": lambda cluster, _: cluster.disruption_budgets(),
    "list apps replicasets": lambda cluster, _: cluster.read(),
    "list apps deployments": lambda cluster, _: cluster.read(),
    "list apps statefulsets": lambda cluster, _: cluster.read(),
    "list  replicationcontrollers": lambda cluster, _: cluster.read(),
    "list batch jobs": lambda cluster, _: cluster.read(),
    "list  persistentvolumeclaims": lambda cluster, _: cluster.storage(),
    "list  persistentvolumes": lambda cluster, _: cluster.storage(),
    "list storage.k8s.io storageclasses": lambda cluster, _: cluster.storage(),
    "list storage.k8s.io csinodes": lambda cluster, _: cluster.storage(),
    "list storage.k8s.io volumeattachments": lambda cluster, _: cluster.storage(),
    "list storage.k8s.io csidrivers": lambda cluster, _: cluster.storage(),
    "list  limitranges": lambda cluster, _: cluster.read(),
    "list  resourcequotas": lambda cluster, _: cluster.read(),
    "list autoscaling.k8s.io verticalpodautoscalers": lambda cluster, _: cluster.read(),
    "list autoscaling.x-k8s.io capacitybuffers": lambda cluster, _: cluster.buffers()[0],
    "list cloud.google.com computeclasses": lambda cluster, _: cluster.buffers()[0],
    "list  podtemplates": lambda cluster, _: cluster.buffers()[0],
    "get apps replicasets": lambda cluster, place: cluster.workloads_of([place.web.spec.workload]),
    "get apps deployments": lambda cluster, place: cluster.workloads_of([place.web.spec.workload]),
    "get apps statefulsets": lambda cluster, place: cluster.workloads_of([place.database.spec.workload]),
}
"""A call of the adapters for each right, which fails without it."""


def refusal(right: Right, cluster: KubernetesCluster, place: Place) -> str:
    """Make the call that needs the right and return how it was refused; empty if it was not."""
    try:
        answer = CALLS[str(right)](cluster, place)
    except Terminal as refused:
        return str(refused)
    if isinstance(answer, Storage | Buffers):
        named = f'cannot {right.verb} resource {right.resource} in API group "{right.group}"'
        return named if right.resource in answer.unread else ""
    if isinstance(answer, ClusterReading) and right.resource in {*answer.autoscalers.unread, *answer.limits.unread}:
        return f'cannot {right.verb} resource {right.resource} in API group "{right.group}"'
    return answer.detail if isinstance(answer, Eviction) and answer.answer is EvictionAnswer.FORBIDDEN else ""


@pytest.mark.acceptance(108)
@pytest.mark.parametrize("name", TARGETS.values())
def test_the_api_server_lists_exactly_the_rights_of_the_file(
    name: str, clusters: Mapping[str, KubernetesCluster], twenty_nodes: ControlPlane
) -> None:
    assert clusters
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "shop"}}
    path = f"/apis/{review['apiVersion']}/selfsubjectrulesreviews"
    said = twenty_nodes.api.request("POST", path, review, user=user(name)).body
    assert _rights(said["status"]["resourceRules"]) == GRANTS[name]


def _rights(rules: list[dict[str, Any]]) -> set[Right]:
    return {
        Right(verb, group, resource)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if resource not in OF_EVERYBODY
    }


@pytest.mark.parametrize("name", TARGETS.values())
def test_every_right_is_enough_and_none_can_be_spared(
    name: str, clusters: Mapping[str, KubernetesCluster], place: Place, twenty_nodes: ControlPlane
) -> None:
    for right in sorted(GRANTS[name]):
        tried = partial(refusal, right, clusters[name], place)
        assert tried() == "", right
        _grant(twenty_nodes, name, GRANTS[name] - {right})
        said = until(f"a refusal without {right}", tried)
        assert f"cannot {right.verb} resource" in said, said
        assert f'in API group "{right.group}"' in said, said
        _grant(twenty_nodes, name, GRANTS[name])
        until(f"the right to {right}", partial(is_free_to, tried))
        without_conflict(lambda: clusters["admin"].return_node(clusters["admin"].node(place.node.name), "order"))


def is_free_to(tried: Callable[[], str]) -> bool:
    return not tried()


def _grant(plane: ControlPlane, name: str, rights: frozenset[Right]) -> None:
    rules = [
        {"verbs": [right.verb], "apiGroups": [right.group], "resources": [right.resource]} for right in sorted(rights)
    ]
    assert plane.api.patch(f"{ROLES}/ebb-{name}", {"rules": rules})
