"""With `infra/options/surge.yaml` a drainer restarts a Deployment on a real API server, and does nothing else to it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra.local.world.pods import is_ready
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.names import EVICTIONS_LABEL, SURGE_STAMP, SURGED_BEFORE
from shared.errors import Forbidden, Gone, Stale, Terminal
from tests.depth import cases
from tests.real.conftest import Corner, cluster_as
from tests.real.control_plane import MERGE_PATCH, ControlPlane
from tests.real.control_plane.manifests import deployment
from tests.real.least_rights import filled_fields, user, with_option
from tests.real.waiting import until, without_conflict

pytestmark = pytest.mark.control_plane
Raw = dict[str, Any]
RESTARTER = "restarter"


@pytest.fixture(scope="module")
def restarter(twenty_nodes: ControlPlane, kubeconfigs: Mapping[str, Path]) -> KubernetesCluster:
    assert kubeconfigs
    option = with_option(twenty_nodes, "surge", RESTARTER)
    twenty_nodes.api.create([deployment("fenced", replicas=0)])
    scaled = {"spec": {"replicas": 1}}
    until("the fence", lambda: "one annotation" in refusal(twenty_nodes, "default", "fenced", scaled))
    return cluster_as(option)


@pytest.fixture
def web(corner: Corner, restarter: KubernetesCluster) -> Corner:
    """A single replica under a budget that never lets it go, of a Deployment whose status is no longer written."""
    return made(corner, restarter)


@pytest.fixture(scope="module")
def asked(new_corner: Callable[[], Corner], restarter: KubernetesCluster) -> Corner:
    return made(new_corner(), restarter)


@pytest.fixture(scope="module")
def kept(new_corner: Callable[[], Corner], restarter: KubernetesCluster) -> Corner:
    """One that was restarted twice before its namespace kept its pods, for all tests that only ask."""
    corner = made(new_corner(), restarter)
    stamp(corner, "order-2", earlier="order-1")
    keep_pods(corner)
    return corner


def made(corner: Corner, restarter: KubernetesCluster) -> Corner:
    corner.plane.api.create([noted(deployment("web", replicas=1, namespace=corner.namespace))])
    corner.hurry("web", 1)
    until("its Deployment at rest", lambda: restarter.deployment(name_of(corner)).settled)
    corner.protect("web", minAvailable=1)
    return corner


def noted(workload: Raw) -> Raw:
    template = workload["spec"]["template"]
    meta = {**template["metadata"], "annotations": {"example.com/owner": "a"}}
    spec = {**workload["spec"], "template": {**template, "metadata": meta}}
    return {**workload, "metadata": {**workload["metadata"], **_OWNED}, "spec": spec}


_OWNED = {"labels": {"example.com/team": "a"}, "annotations": {"example.com/owner": "a"}}


def path_of(namespace: str, name: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"


def refusal(plane: ControlPlane, namespace: str, name: str, patch: Raw) -> str:
    path = f"{path_of(namespace, name)}?dryRun=All"
    return plane.api.refusal("PATCH", path, patch, MERGE_PATCH, user(RESTARTER))


def stamped(value: str | None) -> Raw:
    return annotated(**{SURGE_STAMP: value})


def annotated(**notes: str | None) -> Raw:
    return {"spec": {"template": {"metadata": {"annotations": notes}}}}


def noting(**notes: str | None) -> Raw:
    return {"metadata": {"annotations": notes}}


def noting_earlier(value: str | None) -> Raw:
    return noting(**{SURGED_BEFORE: value})


def in_template(**spec: Any) -> Raw:
    return {"spec": {"template": {"spec": spec}}}


CONTAINER = {"name": "main", "image": "other", "resources": {"requests": {"cpu": "1"}}}
WHOLE = "no metadata of a Deployment"
OWN = "no annotation of a Deployment but its own"
EARLIER = "only what it replaces in the pod template"
SPEC = "one annotation of the pod template only"
TEMPLATE = "change its own annotation only"
NOTE = "but its own, ebb.internal/surged-for"


@cases(
    "said, patch",
    ("it restarts", "", stamped("order-1")),
    ("it takes back, or changes nothing", "", stamped(None)),
    ("replicas", SPEC, {"spec": {"replicas": 2}}),
    ("a pause", SPEC, {"spec": {"paused": True}}),
    ("the strategy", SPEC, {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}),
    ("the deadline", SPEC, {"spec": {"progressDeadlineSeconds": 30}}),
    ("a field that was not there", SPEC, {"spec": {"minReadySeconds": 9}}),
    ("another image", TEMPLATE, in_template(containers=[CONTAINER])),
    ("the host's network", TEMPLATE, in_template(hostNetwork=True)),
    ("another account", TEMPLATE, in_template(serviceAccountName="other")),
    ("a priority", TEMPLATE, in_template(priorityClassName="system-node-critical")),
    ("a label of the pods", "metadata, Ebb's drainer may change its own annotation only",
     {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}),
    ("who wrote which field", "fill managedFields", filled_fields("apps/v1")),
    ("kubectl's own stamp", NOTE, annotated(**{"kubectl.kubernetes.io/restartedAt": "now"})),
    ("an owner's annotation changed", NOTE, annotated(**{"example.com/owner": "b"})),
    ("an owner's annotation removed", NOTE, annotated(**{"example.com/owner": None})),
    ("ours, and one removed", NOTE, annotated(**{"example.com/owner": None, SURGE_STAMP: "o"})),
    ("a label", WHOLE, {"metadata": {"labels": {"a": "b"}}}),
    ("a stamp among other changes", WHOLE, {**stamped("order-1"), "metadata": {"labels": {"a": "b"}}}),
    ("a label removed", WHOLE, {"metadata": {"labels": {"example.com/team": None}}}),
    ("an annotation", OWN, noting(a="b")),
    ("an owner's annotation of the Deployment", OWN, noting(**{"example.com/owner": "b"})),
    ("that one removed", OWN, noting(**{"example.com/owner": None})),
    ("its own in the wrong place", OWN, noting(**{SURGE_STAMP: "o"})),
    ("an earlier one that never stood", EARLIER, noting(**{SURGED_BEFORE: "o"})),
    ("that with a restart", EARLIER, {**noting(**{SURGED_BEFORE: "o"}), **stamped("p")}),
    ("a finalizer", WHOLE, {"metadata": {"finalizers": ["example.com/held"]}}),
)  # fmt: skip
def test_of_a_deployment_the_drainer_writes_one_annotation_and_nothing_else(
    asked: Corner, said: str, patch: Raw
) -> None:
    found = refusal(asked.plane, asked.namespace, "web", patch)

    assert (said in found) if said else found == "", found


def test_no_other_subresource_comes_with_the_right(asked: Corner) -> None:
    for words in (("patch", "scale"), ("update",), ("delete",)):
        assert not _may(asked.plane, RESTARTER, *words), words
    assert _may(asked.plane, RESTARTER, "patch")


def test_without_the_option_the_drainer_may_restart_nothing(asked: Corner) -> None:
    assert not _may(asked.plane, "drainer", "patch")
    assert not _may(asked.plane, "planner", "patch")


def _may(plane: ControlPlane, who: str, verb: str, subresource: str = "") -> bool:
    asked = {"verb": verb, "group": "apps", "resource": "deployments", "subresource": subresource}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    body = {**kind, "spec": {"resourceAttributes": asked}}
    answer = plane.api.request("POST", f"/apis/{kind['apiVersion']}/selfsubjectaccessreviews", body, user=user(who))
    return bool(answer.body["status"]["allowed"])


def test_nobody_else_is_asked(asked: Corner) -> None:
    assert asked.plane.api.patch(f"{path_of(asked.namespace, 'web')}?dryRun=All", {"metadata": {"labels": {"a": "b"}}})


@pytest.mark.deep
def test_a_namespace_that_keeps_its_pods_keeps_them_from_restarts_but_not_from_being_returned(web: Corner) -> None:
    stamp(web, "order-1")
    keep_pods(web)

    assert tried(web, stamped(None)) == ""


@cases(
    "may, patch",
    ("back to what stood before", True, {**noting_earlier(None), **stamped("order-1")}),
    ("its own note removed", True, noting_earlier(None)),
    ("back, and the note kept for once more", False, stamped("order-1")),
    ("back to something else", False, {**noting_earlier(None), **stamped("order-0")}),
    ("back to nothing, which never stood there", False, {**noting_earlier(None), **stamped(None)}),
    ("back, and a way back again", False, {**noting_earlier("order-2"), **stamped("order-1")}),
    ("a restart as elsewhere", False, {**noting_earlier("order-2"), **stamped("order-3")}),
)
def test_where_pods_are_kept_a_second_restart_goes_back_to_the_first_and_nowhere_else(
    kept: Corner, may: bool, patch: Raw
) -> None:
    found = tried(kept, patch)

    assert (found == "") if may else ("keeps its pods from Ebb" in found), found


@pytest.fixture(scope="module")
def apart(new_corner: Callable[[], Corner], restarter: KubernetesCluster) -> Corner:
    """Deployments without replicas that no drain restarts, and one with a stamp of an earlier time."""
    assert restarter
    corner = new_corner()
    for name, namespace in (
        ("recreated", corner.namespace),
        ("recreated-since", corner.namespace),
        ("own", "kube-system"),
        ("long", corner.namespace),
    ):
        made = deployment(name, replicas=0, namespace=namespace)
        spec = {**made["spec"], **({"strategy": {"type": "Recreate"}} if name.startswith("recreated") else {})}
        template = {**spec["template"], "metadata": {**spec["template"]["metadata"], "annotations": {}}}
        if name == "recreated-since":
            template["metadata"]["annotations"] = {SURGE_STAMP: "order-1"}
        if name == "long":
            made["metadata"] = {**made["metadata"], "annotations": {SURGED_BEFORE: "x" * 100}}
        corner.plane.api.create([{**made, "spec": {**spec, "template": template}}])
    return corner


@cases(
    "said, name, patch",
    ("Recreate", "ends all its pods first", "recreated", stamped("order-1")),
    ("Recreate by now: taken back", "", "recreated-since", stamped(None)),
    ("kube-system", "of the cluster's own", "own", stamped("order-1")),
    ("a stamp that fills the object", "at most 63 characters", "fenced", stamped("x" * 20_000)),
    ("a long value that was there before", "", "long", {**stamped("x" * 100), **noting_earlier(None)}),
)
def test_what_no_drain_restarts_its_identity_may_not_restart(apart: Corner, said: str, name: str, patch: Raw) -> None:
    namespace = {"own": "kube-system", "fenced": "default"}.get(name, apart.namespace)

    found = refusal(apart.plane, namespace, name, patch)

    assert (said in found) if said else found == "", found


@pytest.mark.deep
def test_the_port_takes_a_second_restart_back_where_pods_are_kept_meanwhile(
    web: Corner, restarter: KubernetesCluster
) -> None:
    restart(web, restarter, "order-1")
    until("the rollout", lambda: restarter.deployment(name_of(web)).settled)
    restart(web, restarter, "order-2")
    keep_pods(web)

    restart(web, restarter, "order-1")

    found = restarter.deployment(name_of(web))
    assert (found.stamp, found.earlier) == ("order-1", "")
    with pytest.raises(Terminal, match="keeps its pods from Ebb"):
        restart(web, restarter, "order-3")


def keep_pods(corner: Corner) -> None:
    """Label the namespace, and wait until the API server's cache has it."""
    corner.plane.kubectl("label", "namespace", corner.namespace, f"{EVICTIONS_LABEL}=never")
    until("a refusal by the namespace's label", lambda: "keeps its pods from Ebb" in tried(corner, stamped("order-9")))


def tried(corner: Corner, patch: Raw) -> str:
    return refusal(corner.plane, corner.namespace, "web", patch)


def stamp(corner: Corner, value: str, earlier: str | None = None) -> None:
    assert corner.plane.api.patch(path_of(corner.namespace, "web"), {**noting_earlier(earlier), **stamped(value)})


def name_of(corner: Corner) -> str:
    return f"{corner.namespace}/Deployment/web"


def restart(corner: Corner, cluster: KubernetesCluster, value: str) -> None:
    without_conflict(lambda: cluster.restart(cluster.deployment(name_of(corner)), value))


def fewest_ready(corner: Corner, done: Callable[[], object]) -> int:
    """Wait until something is done and tell the fewest Ready pods that were seen meanwhile."""
    seen = [ready(corner)]

    def look() -> object:
        seen.append(ready(corner))
        return done()

    until("the rollout", look)
    return min(seen)


def ready(corner: Corner) -> int:
    return sum(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in corner.pods("web"))


def names(corner: Corner) -> set[str]:
    return {pod["metadata"]["name"] for pod in corner.pods("web")}


def test_a_single_replica_under_a_closed_budget_moves_without_a_moment_without_it(
    web: Corner, restarter: KubernetesCluster
) -> None:
    (old,) = names(web)

    restart(web, restarter, "order-1")

    def moved() -> bool:
        return restarter.deployment(name_of(web)).settled and len(names(web)) == 1 and old not in names(web)

    assert fewest_ready(web, moved) == 1


@pytest.mark.deep
def test_a_restart_whose_pod_cannot_start_is_taken_back_and_leaves_nothing(
    web: Corner, restarter: KubernetesCluster
) -> None:
    before = names(web)
    cordoned = [node["metadata"]["name"] for node in web.plane.api.nodes()]
    web.plane.kubectl("cordon", *cordoned)
    try:
        restart(web, restarter, "order-1")
        until("the pod that has no node", lambda: len(names(web)) == 2)
        restart(web, restarter, "")
        assert fewest_ready(web, lambda: restarter.deployment(name_of(web)).settled and names(web) == before) == 1
    finally:
        web.plane.kubectl("uncordon", *cordoned)
    sets = web.plane.api.items(f"/apis/apps/v1/namespaces/{web.namespace}/replicasets")
    current = [found["metadata"]["name"] for found in sets if found["spec"]["replicas"]]
    assert current == [pod["metadata"]["ownerReferences"][0]["name"] for pod in web.pods("web")]


def test_the_port_names_each_refusal_of_a_real_api_server(
    web: Corner, restarter: KubernetesCluster, kubeconfigs: Mapping[str, Path]
) -> None:
    read = restarter.deployment(name_of(web))
    dry = restarter.restart(read, "order-1", dry_run=True)
    assert (dry.stamp, restarter.deployment(name_of(web)).stamp) == ("order-1", "")
    with pytest.raises(Forbidden, match=r"infra/options/surge\.yaml"):
        cluster_as(kubeconfigs["drain"]).restart(read, "order-1")

    web.plane.kubectl("-n", web.namespace, "annotate", "deployment", "web", "example.com/touched=yes")
    with pytest.raises(Stale):
        restarter.restart(read, "order-1")
    web.plane.kubectl("-n", web.namespace, "delete", "deployment", "web")
    with pytest.raises(Gone):
        restarter.restart(read, "order-1")


def test_the_api_server_finds_no_fault_in_the_admission_policy(asked: Corner) -> None:
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/ebb-drainer-surge"
    checked = until("its types checked", lambda: asked.plane.api.request("GET", path).body.get("status"))

    assert not checked.get("typeChecking", {}).get("expressionWarnings"), checked
