"""With `infra/options/steer.yaml` a planner writes deletion costs on a real API server, ReplicaSets heed them, and it
writes nothing else of a pod.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.names import DELETION_COST, EVICTIONS_LABEL, STEERED
from shared.core.cluster.pod import Pod
from shared.errors import Forbidden
from tests.depth import cases
from tests.pages import UNINSTALL, blocks
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import STRATEGIC_PATCH, ControlPlane
from tests.real.control_plane.manifests import deployment
from tests.real.least_rights import filled_fields, user, with_option
from tests.real.waiting import until, without_conflict

pytestmark = pytest.mark.control_plane
Raw = dict[str, Any]
STEERER = "steerer"


@pytest.fixture(scope="module")
def steerer(twenty_nodes: ControlPlane, kubeconfigs: Mapping[str, Path]) -> KubernetesCluster:
    assert kubeconfigs
    option = with_option(twenty_nodes, "steer", STEERER, "planner")
    twenty_nodes.api.create([deployment("fenced-pods", replicas=1)])
    path = "/api/v1/namespaces/default/pods?labelSelector=app%3Dfenced-pods"
    (pod,) = until("a pod", lambda: twenty_nodes.api.items(path))
    name, labelled = pod["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}}
    until("the fence", lambda: "two annotations only" in refusal(twenty_nodes, "default", name, labelled))
    return cluster_as(option)


@pytest.fixture
def web(corner: Corner, steerer: KubernetesCluster) -> Corner:
    assert steerer
    corner.run("web", replicas=6, cpu="100m")
    return corner


@pytest.fixture(scope="module")
def asked(new_corner: Callable[[], Corner], steerer: KubernetesCluster) -> tuple[Corner, Pod]:
    corner = new_corner()
    corner.run("web", replicas=1, cpu="100m")
    return corner, pods_of(corner, steerer)[0]


def refusal(plane: ControlPlane, namespace: str, name: str, patch: Raw) -> str:
    """Try a patch as the planner with the option, dry; return how it was refused, empty if it was not."""
    path = f"/api/v1/namespaces/{namespace}/pods/{name}?dryRun=All"
    return plane.api.refusal("PATCH", path, patch, STRATEGIC_PATCH, user(STEERER))


def shell(plane: ControlPlane, script: str) -> None:
    path = os.pathsep.join((str(plane.kubeconfig.parent / "bin"), os.environ["PATH"]))
    environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "PATH": path}
    subprocess.run(["sh", "-euc", script], env=environment, capture_output=True, text=True, timeout=120, check=True)


def noted(**notes: str | None) -> Raw:
    return {"metadata": {"annotations": notes}}


def costs(cost: str | None, mark: str | None) -> Raw:
    return noted(**{DELETION_COST: cost, STEERED: mark})


def pods_of(corner: Corner, cluster: KubernetesCluster) -> list[Pod]:
    found = cluster.read().pods
    return sorted((each for each in found if each.spec.namespace == corner.namespace), key=lambda pod: pod.key)


def written(cluster: KubernetesCluster, pod: Pod, cost: int | None) -> bool:
    """Write a cost, again while the kubelet writes the status."""
    return without_conflict(lambda: cluster.set_deletion_cost(pod, cost))


def test_a_deployment_that_is_scaled_in_loses_the_pods_that_are_steered(
    web: Corner, steerer: KubernetesCluster
) -> None:
    chosen = pods_of(web, steerer)[1:4]
    assert all(written(steerer, pod, -1000) for pod in chosen)

    web.plane.kubectl("-n", web.namespace, "scale", "deployment", "web", "--replicas=3")
    until("three pods", lambda: web.ready("web", 3))

    left = {pod["metadata"]["name"] for pod in web.pods("web") if "deletionTimestamp" not in pod["metadata"]}
    assert left.isdisjoint({pod.name for pod in chosen})


def test_a_cost_is_read_as_ours_and_taken_back_without_a_trace(web: Corner, steerer: KubernetesCluster) -> None:
    pod = pods_of(web, steerer)[0]

    assert written(steerer, pod, -7)
    assert pods_of(web, steerer)[0].steered == "-7"
    assert not written(steerer, pod, -7)
    assert written(steerer, pod, None)
    notes = (web.pod(pod.name) or {})["metadata"].get("annotations", {})
    assert {DELETION_COST, STEERED}.isdisjoint(notes)


@pytest.mark.deep
def test_a_cost_of_a_person_stays(web: Corner, steerer: KubernetesCluster) -> None:
    pod = pods_of(web, steerer)[0]
    web.plane.kubectl("-n", web.namespace, "annotate", "pod", pod.name, f"{DELETION_COST}=5")

    assert not written(steerer, pod, -7)
    assert "somebody else wrote" in refusal(web.plane, web.namespace, pod.name, costs("-7", "-7"))


@pytest.mark.deep
def test_no_mark_makes_a_cost_of_a_person_ours(web: Corner, steerer: KubernetesCluster) -> None:
    pod = pods_of(web, steerer)[0]
    web.plane.kubectl("-n", web.namespace, "annotate", "pod", pod.name, f"{DELETION_COST}=-5")

    assert "mark together with the cost only" in refusal(web.plane, web.namespace, pod.name, noted(**{STEERED: "-5"}))


IMAGE = {"spec": {"containers": [{"name": "main", "image": "other"}]}}


@cases(
    "said, patch",
    ("a cost with its mark", "", costs("-5", "-5")),
    ("nothing to take back", "", costs(None, None)),
    ("a cost alone", "together with its mark only", costs("-5", None)),
    ("another mark", "together with its mark only", costs("-5", "-6")),
    ("a cost above nothing", "from -1000 to -1 only", costs("5", "5")),
    ("a cost too low", "from -1000 to -1 only", costs("-1001", "-1001")),
    ("another annotation", "no annotation of a pod but its own", noted(**{"example.com/a": "b"})),
    ("a label", "two annotations only", {"metadata": {"labels": {"a": "b"}}}),
    ("who wrote which field", "fill managedFields", filled_fields("v1")),
    ("a finalizer", "two annotations only", {"metadata": {"finalizers": ["example.com/held"]}}),
    ("another image", "nothing of a pod's spec", IMAGE),
    ("a deadline", "nothing of a pod's spec", {"spec": {"activeDeadlineSeconds": 5}}),
)
def test_of_a_pod_the_planner_writes_two_annotations_and_nothing_else(
    asked: tuple[Corner, Pod], said: str, patch: Raw
) -> None:
    corner, pod = asked
    found = refusal(corner.plane, corner.namespace, pod.name, patch)

    assert (said in found) if said else found == "", found


@pytest.mark.deep
def test_a_namespace_that_keeps_its_pods_keeps_them_from_costs_but_not_from_their_end(
    web: Corner, steerer: KubernetesCluster
) -> None:
    pod = pods_of(web, steerer)[0]
    assert written(steerer, pod, -7)
    web.plane.kubectl("label", "namespace", web.namespace, f"{EVICTIONS_LABEL}=never")
    tried = partial(refusal, web.plane, web.namespace, pod.name)

    until("a refusal by the namespace's label", lambda: "keeps its pods from Ebb" in tried(costs("-8", "-8")))
    assert tried(costs(None, None)) == ""


def test_without_the_option_the_planner_writes_no_cost(
    asked: tuple[Corner, Pod], kubeconfigs: Mapping[str, Path]
) -> None:
    with pytest.raises(Forbidden):
        cluster_as(kubeconfigs["plan"]).set_deletion_cost(asked[1], -7)


@pytest.mark.deep
def test_kubectl_alone_takes_back_what_is_ours_and_leaves_what_people_wrote(
    web: Corner, steerer: KubernetesCluster
) -> None:
    ours, theirs, changed, *_ = pods_of(web, steerer)
    for pod in (ours, changed):
        assert written(steerer, pod, -7)
    for pod in (theirs, changed):
        web.plane.kubectl("-n", web.namespace, "annotate", "--overwrite", "pod", pod.name, f"{DELETION_COST}=5")

    (block,) = (
        block for block in blocks(UNINSTALL.read_text(encoding="utf-8"), "sh") if STEERED.rpartition("/")[2] in block
    )
    shell(web.plane, block)

    notes = {pod.name: (web.pod(pod.name) or {})["metadata"].get("annotations", {}) for pod in (ours, theirs, changed)}
    assert [notes[pod.name].get(DELETION_COST) for pod in (ours, theirs, changed)] == [None, "5", "5"]
    assert not any(STEERED in note for note in notes.values())
