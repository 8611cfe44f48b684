"""ReplicaSets, Deployments and StatefulSets: what is read, and when a rollout is under way."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.workloads import Controller, read_others, replica_set, stateful_set
from shared.core.cluster import names
from shared.core.cluster.pod import Phase
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import Limit
from tests.adapters.objects import api_pod
from tests.adapters.scripted import Say, Script, access_to, no_wait, status
from tests.builders import pod, resources
from tests.depth import cases

APPS = "/apis/apps/v1"
DONE = {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}
WEB, SET = "default/Deployment/web", "default/ReplicaSet/web-5d4f"


def controller(name: str, *, owner: str = "", generation: int = 3, **parts: Any) -> dict[str, Any]:
    """A controller with three replicas of which all are updated and available, unless said otherwise."""
    kind, _, owner_name = owner.partition("/")
    owners = [{"kind": kind, "name": owner_name, "controller": True}] if owner else []
    counts = {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "observedGeneration": 3}
    return {
        "metadata": {"name": name, "namespace": "default", "generation": generation, "ownerReferences": owners},
        "spec": {"replicas": 3, "template": {"spec": {"containers": []}}, **parts.pop("spec", {})},
        "status": {**counts, **parts},
    }


def read(given: dict[str, Any]) -> Controller:
    return msgspec.json.decode(msgspec.json.encode(given), type=Controller)


def counted(found: Workload) -> Workload:
    """The workload without its rollout, and without what its next pods are made of."""
    return replace(found, templates=(), fixed_template=False, revisions=None, deployment=None)


@cases(
    "expected, deployment",
    ("in steady state", {}, controller("web", conditions=[DONE])),
    ("in steady state, without a progress deadline", {}, controller("web")),
    ("two are lost", {"available": 1}, controller("web", availableReplicas=1, conditions=[DONE])),
    ("scaled up, but not yet there", {"wanted": 9}, controller("web", spec={"replicas": 9}, conditions=[DONE])),
    ("a change not seen yet", {"rolling": True}, controller("web", generation=4)),
    ("old pods are left", {"rolling": True, "created": 4}, controller("web", replicas=4, updatedReplicas=1)),
    ("the last new pod is not available yet", {"rolling": True, "available": 2},
     controller("web", availableReplicas=2, conditions=[{**DONE, "reason": "ReplicaSetUpdated"}])),
    ("stuck", {"rolling": True, "available": 2},
     controller("web", availableReplicas=2, conditions=[{**DONE, "reason": "ProgressDeadlineExceeded"}])),
    ("paused at rest", {}, controller("web", conditions=[{**DONE, "reason": "DeploymentPaused"}])),
)  # fmt: skip
def test_a_replica_set_speaks_for_its_deployment(expected: dict[str, Any], deployment: dict[str, Any]) -> None:
    own = controller("web-5d4f", owner="Deployment/web", spec={"replicas": 1})
    at_rest = Workload(WEB, 3, 3, created=3)
    assert counted(replica_set(read(own), read(deployment))) == replace(at_rest, **expected)


ROLLED_OUT = {"resource_version": "7", "uid": "u", "created": 3, "updated": 3, "available": 3, "generation": 3}


@cases(
    "expected, spec",
    ("the API's defaults", {}, {}),
    ("all at once", {"rolling_update": False}, {"strategy": {"type": "Recreate"}}),
    ("as it shows", {"max_surge": Limit(count=1), "max_unavailable": Limit(percent=0)},
     {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "0%"}}}),
    ("paused", {"paused": True}, {"paused": True}),
    ("slow to be available", {"min_ready": timedelta(seconds=90)}, {"minReadySeconds": 90}),
    ("restarted for a drain", {"stamp": "order-1"},
     {"template": {"metadata": {"annotations": {"a": "b", names.SURGE_STAMP: "order-1"}}}}),
)  # fmt: skip
def test_a_deployment_shows_how_it_is_rolled_out(expected: dict[str, Any], spec: dict[str, Any]) -> None:
    given = controller("web", spec=spec)
    notes = {"x": "y" * 99, names.SURGE: "true", names.SURGED_BEFORE: "order-0"}
    given["metadata"] |= {"uid": "u", "resourceVersion": "7", "annotations": notes}

    found = replica_set(read(controller("web-5d4f", owner="Deployment/web")), read(given)).deployment

    assert found == Deployment(name=WEB, wanted=3, wish="true", earlier="order-0", **{**ROLLED_OUT, **expected})


def test_a_replica_set_of_nobody_speaks_for_itself() -> None:
    found = replica_set(read(controller("web-5d4f", availableReplicas=2)), None)

    assert counted(found) == Workload(SET, 3, 2, created=3)


def partition(pods: int) -> dict[str, Any]:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": pods}}}


@cases(
    "expected, given",
    ("in steady state", False, {"currentRevision": "a", "updateRevision": "a"}),
    ("one of three", True, {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1}),
    ("a change not seen yet", True, {"generation": 4}),
    ("as far as its partition lets it", False,
     {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1, "spec": partition(2)}),
    ("not yet as far as its partition lets it", True,
     {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 0, "spec": partition(2)}),
    ("rolled out by hand only", False,
     {"currentRevision": "a", "updateRevision": "b", "spec": {"updateStrategy": {"type": "OnDelete"}}}),
)  # fmt: skip
def test_a_stateful_set_shows_whether_it_is_rolled_out(expected: bool, given: dict[str, Any]) -> None:
    assert stateful_set(read(controller("db", **given))).rolling is expected


def test_workloads_are_read_each_once_by_name(api: Script, cluster: KubernetesCluster) -> None:
    api.says(
        Say(body=controller("web-5d4f", owner="Deployment/web")),
        Say(body=controller("web")),
        Say(body=controller("db")),
    )
    found = cluster.workloads_of([SET, SET, "default/StatefulSet/db", "default/Job/batch", ""])

    assert [path for _, path in api.calls] == [
        f"{APPS}/namespaces/default/replicasets/web-5d4f",
        f"{APPS}/namespaces/default/deployments/web",
        f"{APPS}/namespaces/default/statefulsets/db",
    ]
    assert {key: counted(workload) for key, workload in found.items()} == {
        SET: Workload(WEB, 3, 3, created=3),
        "default/StatefulSet/db": Workload("default/StatefulSet/db", 3, 3, created=3),
    }


def test_a_replica_set_whose_deployment_is_gone_speaks_for_itself(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=controller("web-5d4f", owner="Deployment/web")), Say(404, status(404, "not found")))

    found = cluster.workloads_of([SET])

    assert {key: counted(workload) for key, workload in found.items()} == {
        SET: Workload(SET, 3, 3, created=3, owner=WEB)
    }


@pytest.mark.parametrize("deployment", [None, {}])
def test_a_mark_of_ebbs_in_the_template_of_its_pods_is_read(deployment: dict[str, Any] | None) -> None:
    copied = {"template": {"metadata": {"annotations": {"a": "b", names.STEERED: "-5"}}}}
    behind = None if deployment is None else read(controller("web", spec=deployment))
    assert replica_set(read(controller("web-5d4f", spec=copied)), behind).template_mark == "-5"
    assert not replica_set(read(controller("web-5d4f")), behind).template_mark


def template(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [*containers], **spec}}}


def app(requests: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"name": "app", "resources": {"requests": requests, **more.pop("resources", {})}, **more}


@cases(
    "expected, given",
    ("no containers", NOTHING, {}),
    ("requests", resources(0.5, 1), template(app({"cpu": "500m", "memory": "1Gi"}))),
    ("of those that ask for something", resources(2), template({"name": "app"}, app({"cpu": "2"}))),
    ("a limit stands for the request that is missing, as the API server has it in pods", resources(2, 1),
     template(app({"cpu": "2"}, resources={"limits": {"cpu": "4", "memory": "1Gi"}}))),
    ("sidecars run next to", resources(4),
     template(app({"cpu": "1"}), initContainers=[{**app({"cpu": "3"}), "name": "proxy", "restartPolicy": "Always"}])),
    ("init", resources(3), template(app({"cpu": "1"}), initContainers=[{**app({"cpu": "3"}), "name": "init"}])),
    ("overhead", resources(1.1), template(app({"cpu": "1"}), overhead={"cpu": "100m"})),
    ("of the pod as a whole", resources(5), template(app({"cpu": "1"}), resources={"requests": {"cpu": "5"}})),
)  # fmt: skip
def test_a_template_shows_what_the_next_pod_asks_for(expected: Resources, given: dict[str, Any]) -> None:
    (found,) = replica_set(read(controller("web-5d4f", spec=given)), None).templates

    assert found.asks is not None
    assert found.asks.total == found.requests == expected


def test_the_next_pod_of_a_deployment_is_made_from_its_newest_template() -> None:
    """The ReplicaSet of a change that its controller has not seen yet is still the old one."""
    own = read(controller("web-5d4f", owner="Deployment/web", spec=template(app({"cpu": "1", "memory": "2Gi"}))))
    newest = read(controller("web", spec=template(app({"cpu": "2", "memory": "1Gi"}))))
    found = replica_set(own, newest).templates

    assert [made.requests for made in found] == [resources(1, 2), resources(2, 1)]


@cases(
    "expected, spec",
    ("not shown", False, {}),
    ("null", False, {"podReplacementPolicy": None}),
    ("as the old one begins to end", False, {"podReplacementPolicy": "TerminationStarted"}),
    ("once it has ended", True, {"podReplacementPolicy": "TerminationComplete"}),
)
def test_a_deployment_shows_when_it_makes_a_pod_again(expected: bool, spec: dict[str, Any]) -> None:
    own = read(controller("web-5d4f", owner="Deployment/web"))

    assert replica_set(own, read(controller("web", spec=spec))).replaced_at_end is expected


@cases(
    "expected, found",
    ("nobody", "", stateful_set(read(controller("db")))),
    ("an operator", "default/Postgres/db", stateful_set(read(controller("db", owner="Postgres/db")))),
    ("a rollout", "default/Rollout/web", replica_set(read(controller("web-5d4f", owner="Rollout/web")), None)),
)
def test_a_workload_shows_what_controls_it(expected: str, found: Workload) -> None:
    assert found.owner == expected


@cases(
    "expected, names",
    ("ten, one by one", "get", [f"default/StatefulSet/s{number}" for number in range(10)]),
    ("eleven", "/namespaces/default", [f"default/StatefulSet/s{number}" for number in range(11)]),
    ("eleven namespaces, all at once", "", [f"space{number}/StatefulSet/s" for number in range(11)]),
)
def test_many_workloads_are_listed_rather_than_read_one_by_one(
    expected: str, names: list[str], api: Script, cluster: KubernetesCluster
) -> None:
    pages = [Say(body={"items": []}), Say(body={"items": []}), Say(body={"items": [controller("s1")]})]
    api.says(*([Say(body=controller("s1"))] * len(names) if expected == "get" else pages))

    found = cluster.workloads_of(names)

    asked = [path.partition("?")[0] for _, path in api.calls]
    if expected == "get":
        assert len(asked) == len(found) == len(names)
        return
    assert asked == [f"{APPS}{expected}/{plural}" for plural in ("replicasets", "deployments", "statefulsets")]
    assert set(found) == {"default/StatefulSet/s1"}


FORBIDDEN = Say(403, status(403, "forbidden", reason="Forbidden"))
BATCH = (Say(body={"versions": [{"version": "v1"}]}), Say(body={"resources": [{"name": "jobs"}]}))
RC, JOB, OLD = "ReplicationController", "default/Job/web", "default/ReplicationController/web"
ASKS = controller("web", spec=template(app({"cpu": "1"}), nodeName="n1"))


@cases(
    "expected, unread, owners, answers",
    ("no such pods: nothing is asked", {}, (), ["ReplicaSet", "StatefulSet"], []),
    ("two pods", {OLD: (2, False)}, (), [RC] * 2, [Say(body={"items": [ASKS]})]),
    ("a Job's: it is fixed", {JOB: (1, True)}, (), ["Job"], [*BATCH, Say(body={"items": [ASKS]})]),
    ("another", {}, (), [RC], [Say(body={"items": [{**ASKS, "metadata": {"name": "x"}}]})]),
    ("a list without rights", {}, ("replicationcontrollers",), [RC], [FORBIDDEN]),
    ("without rights to Jobs", {}, ("jobs",), ["Job"], [*BATCH, FORBIDDEN]),
)
def test_of_other_controllers_what_their_pods_are_made_of_is_read_if_they_have_any(
    expected: dict[str, tuple[int, bool]], unread: tuple[str, ...], owners: list[str], answers: list[Say], api: Script
) -> None:
    api.says(*answers)
    done = pod("done", owner="ReplicationController/web", phase=Phase.SUCCEEDED)
    pods = [pod(f"p{number}", owner=f"{owner}/web") for number, owner in enumerate(owners)]
    found, left = read_others(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2), [*pods, done])

    assert {name: (workload.wanted, workload.fixed_template) for name, workload in found.items()} == expected
    assert left == unread
    assert all(workload.templates[0].node_name == "n1" for workload in found.values())
    assert len(api.calls) == len(answers)


def test_what_other_controllers_make_is_part_of_a_reading(api: Script, cluster: KubernetesCluster) -> None:
    owner = {"kind": "ReplicationController", "name": "web", "controller": True}
    running = api_pod(meta={"ownerReferences": [owner]})
    empty = Say(body={"items": []})
    api.says(empty, Say(body={"items": [running]}), FORBIDDEN, *[empty] * 5)
    reading = cluster.read()

    assert reading.limits.unread == ("replicationcontrollers",)
