"""A dump whose pods would come back by another template: a node goes only if the next pods have a place elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps import read_dump
from shared.adapters.prices import load
from shared.core.cluster.names import SCALE_DOWN_DISABLED
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Jobs
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.port_types import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.adapters.objects import api_node, api_pod, container
from tests.builders import NOW, policy

Json = dict[str, Any]
SPOT = {"key": "spot", "operator": "Exists"}
NOWHERE = {"nodeSelector": {"nobody": "has"}}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}
PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 5}}}
HOLD = {"schedulingGates": [{"name": "hold"}]}
LARGE = {"containers": [container("4")]}


def controlled(kind: str, template: Json, spec: Json, owner: str = "") -> Json:
    """A controller `web`, with a pending update where it has revisions."""
    owners = [{"kind": owner, "name": "web", "controller": True}] if owner else []
    meta = {"name": "web", "namespace": "default", "generation": 1, "ownerReferences": owners}
    counts = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "observedGeneration": 1}
    made = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container("100m")], **template}}
    status = {**counts, "currentRevision": "old", "updateRevision": "new"}
    return {"kind": kind, "metadata": meta, "spec": {"replicas": 1, "template": made, **spec}, "status": status}


def dump(kind: str, template: Json, spec: Json, pod: Json, taints: list[Json]) -> list[Json]:
    """Two nodes, and on the first one the pod of a controller of that kind."""
    of_deployment = kind == "Deployment"
    behind = [controlled("Deployment", template, spec)] if of_deployment else []
    own = controlled("ReplicaSet", template, {}, "Deployment") if of_deployment else controlled(kind, template, spec)
    owner = {"kind": "ReplicaSet" if of_deployment else kind, "name": "web", "controller": True}
    labels = {"app": "web", "controller-revision-hash": "old", "statefulset.kubernetes.io/pod-name": "web-0"}
    meta = {"labels": labels, "ownerReferences": [owner]}
    stays = api_node("n1", annotations={SCALE_DOWN_DISABLED: "true"}, spec={"taints": taints})
    nodes = [{"kind": "Node", **row} for row in (api_node("n0"), stays)]
    return [*nodes, {"kind": "Pod", **api_pod("web-0", meta=meta, **{"nodeName": "n0", **pod})}, own, *behind]


@pytest.mark.parametrize(
    ("expected", "kind", "given"),
    [
        pytest.param("underutilized", "Deployment", {}, id="a template that agrees"),
        pytest.param("names_its_node", "Deployment", {"template": {"nodeName": "n0"}}, id="a node by name"),
        pytest.param("scheduling_gates", "Deployment", {"template": HOLD}, id="gates"),
        pytest.param("no_place_for_pods", "ReplicaSet", {"template": NOWHERE}, id="a selector, edited"),
        pytest.param("no_place_for_pods", "ReplicaSet", {"template": LARGE}, id="requests, edited"),
        pytest.param("no_place_for_pods", "ReplicationController", {"template": NOWHERE}, id="of the oldest kind"),
        pytest.param(
            "no_place_for_pods", "ReplicaSet",
            {"pod": {"tolerations": [SPOT]}, "taints": [{"key": "spot", "effect": "NoSchedule"}]},
            id="a toleration, removed",
        ),
        pytest.param(
            "underutilized", "Deployment",
            {"pod": {"tolerations": [SPOT]}, "taints": [{"key": "spot", "effect": "NoSchedule"}]},
            id="a toleration, added by admission",
        ),
        pytest.param("underutilized", "ReplicaSet", {"pod": {"tolerations": [SPOT]}}, id="one that no place needs"),
        pytest.param(
            "no_place_for_pods", "StatefulSet", {"template": NOWHERE, "spec": ON_DELETE}, id="an update by hand"
        ),
        pytest.param(
            "underutilized", "StatefulSet", {"template": NOWHERE, "spec": PARTITION}, id="below the partition"
        ),
        pytest.param("names_its_node", "Job", {"template": {"nodeName": "n0"}}, id="a Job that names its node"),
        pytest.param("underutilized", "Job", {}, id="a Job"),
    ],
)  # fmt: skip
def test_a_node_goes_only_if_the_next_pod_of_each_of_its_own_has_a_place_elsewhere(
    expected: str, kind: str, given: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.json"
    parts: dict[str, Any] = {"template": {}, "spec": {}, "pod": {}, "taints": [], **given}
    file.write_text(json.dumps({"kind": "List", "items": dump(kind, **parts)}))
    reading, _ = read_dump([file])
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)
    plan = make_plan(Situation(snapshot, ClusterState(), policy(jobs=Jobs.MOVE)), {}, load())

    (decision,) = (found for found in plan.decisions if found.name == "n0")
    reasons = [blocker.reason.value for blocker in decision.blockers] or [decision.reason]
    assert reasons[-1] == expected
