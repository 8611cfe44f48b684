"""A dump's controllers of every kind have their templates: a node goes only if the next pods have a place elsewhere."""

import json
from pathlib import Path
from typing import Any

from functions.cli.dumps.reading import read_dump
from shared.adapters.prices import load
from shared.core.cluster.names import SCALE_DOWN_DISABLED
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Jobs
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.adapters.objects import api_node, api_pod, container
from tests.builders import NOW, policy
from tests.depth import cases

Json = dict[str, Any]
NOWHERE = {"nodeSelector": {"nobody": "has"}}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}


def controlled(kind: str, template: Json, spec: Json, owner: str = "") -> Json:
    """A controller `web`, with a pending update where it has revisions."""
    owners = [{"kind": owner, "name": "web", "controller": True}] if owner else []
    meta = {"name": "web", "namespace": "default", "generation": 1, "ownerReferences": owners}
    counts = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "observedGeneration": 1}
    made = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container("100m")], **template}}
    status = {**counts, "currentRevision": "old", "updateRevision": "new"}
    return {"kind": kind, "metadata": meta, "spec": {"replicas": 1, "template": made, **spec}, "status": status}


def dump(kind: str, template: Json, spec: Json) -> list[Json]:
    """Two nodes, and on the first one the pod of a controller of that kind."""
    behind = [controlled("Deployment", template, spec)] if kind == "Deployment" else []
    own_kind = "ReplicaSet" if behind else kind
    own = controlled(own_kind, template, {} if behind else spec, "Deployment" if behind else "")
    labels = {"app": "web", "controller-revision-hash": "old", "statefulset.kubernetes.io/pod-name": "web-0"}
    meta = {"labels": labels, "ownerReferences": [{"kind": own_kind, "name": "web", "controller": True}]}
    stays = api_node("n1", annotations={SCALE_DOWN_DISABLED: "true"})
    nodes = [{"kind": "Node", **row} for row in (api_node("n0"), stays)]
    return [*nodes, {"kind": "Pod", **api_pod("web-0", meta=meta, nodeName="n0")}, own, *behind]


@cases(
    "expected, kind, template, spec",
    ("a template that agrees", "underutilized", "Deployment", {}, {}),
    ("a node by name", "names_its_node", "Deployment", {"nodeName": "n0"}, {}),
    ("a selector, edited", "no_place_for_pods", "ReplicaSet", NOWHERE, {}),
    ("of the oldest kind", "no_place_for_pods", "ReplicationController", NOWHERE, {}),
    ("an update by hand", "no_place_for_pods", "StatefulSet", NOWHERE, ON_DELETE),
    ("a Job that names its node", "names_its_node", "Job", {"nodeName": "n0"}, {}),
    ("a Job", "underutilized", "Job", {}, {}),
)
def test_a_node_goes_only_if_the_next_pod_of_each_of_its_own_has_a_place_elsewhere(
    expected: str, kind: str, template: Json, spec: Json, tmp_path: Path
) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "items": dump(kind, template, spec)}))
    reading, _ = read_dump([file])
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), NOW, NOW)
    plan = make_plan(Situation(snapshot, ClusterState(), policy(jobs=Jobs.MOVE)), {}, load())

    (decision,) = (found for found in plan.decisions if found.name == "n0")
    reasons = [blocker.reason.value for blocker in decision.blockers] or [decision.reason]
    assert reasons[-1] == expected
