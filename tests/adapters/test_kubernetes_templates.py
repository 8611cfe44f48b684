"""Pod templates as the API writes them: a pod is as its template, whatever the API server adds, and no less is read."""

from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes.pod_objects import Template, template_class
from shared.adapters.kubernetes.workloads import Controller, replica_set, stateful_set
from shared.core.cluster import names
from shared.core.cluster.pod import CLAIM, PodClass, Volume
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.workloads import Revisions, Workload
from shared.errors import BadInput
from tests.adapters.objects import REQUIRED, api_pod, container, node_affinity, read
from tests.depth import cases

LABELS = {"app": "web", "pod-template-hash": "5d4f"}
_SELECTOR = {"labelSelector": {"matchLabels": {"app": "web"}}}
_TERM = {"topologyKey": "kubernetes.io/hostname", "matchLabelKeys": ["pod-template-hash"], **_SELECTOR}
_SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **_SELECTOR}
_NODES = node_affinity({"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]})
FIELDS: dict[str, Any] = {
    "nodeName": "n1",
    "nodeSelector": {"disk": "ssd"},
    "affinity": {**_NODES, "podAntiAffinity": {REQUIRED: [_TERM]}, "podAffinity": {REQUIRED: [_TERM]}},
    "os": {"name": "windows"},
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [{**_SPREAD, "matchLabelKeys": ["pod-template-hash"]}],
    "ports": [{"containerPort": 80, "hostPort": 80}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "schedulerName": "mine",
    "schedulingGates": [{"name": "hold"}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
}
"""What of a template binds where its pods may run; `ports` stand for those of its container."""
OTHERS: dict[str, Any] = {
    "runtimeClassName": ("gvisor", "runtimeClassName gvisor of its template"),
    "schedulingGroup": ({"podGroupName": "gang"}, "schedulingGroup"),
}
"""What is not modelled, and how it is named."""


def spec_of(fields: dict[str, Any]) -> dict[str, Any]:
    rest = dict(fields)
    return {"containers": [container("100m", ports=rest.pop("ports", []))], **rest}


def controller(kind: str = "ReplicaSet", **parts: Any) -> Controller:
    """A ReplicaSet of a Deployment, or a StatefulSet, with its template's fields and what else it has."""
    owners = [{"kind": "Deployment", "name": "web", "controller": True}] if kind == "ReplicaSet" else []
    template = {"metadata": {"labels": parts.pop("labels", LABELS)}, "spec": spec_of(parts.pop("template", {}))}
    status = {"observedGeneration": 1, **parts.pop("status", {})}
    given = {
        "metadata": {"name": "web-5d4f", "namespace": "default", "generation": 1, "ownerReferences": owners},
        "spec": {"replicas": 1, "template": template, **parts},
        "status": status,
    }
    return msgspec.json.decode(msgspec.json.encode(given), type=Controller)


def returning(workload: Workload, meta: dict[str, Any] | None = None, **spec: Any) -> tuple[PodClass, PodClass]:
    """The class of a running pod, and that of the next one in its place."""
    pod = read(api_pod(meta={"labels": LABELS, **(meta or {})}, **spec_of(spec)))
    (found,) = as_they_return([pod], {pod.spec.workload: workload})
    return pod.spec, found.spec


def as_admitted(fields: dict[str, Any]) -> dict[str, Any]:
    """What the API server makes of a template's fields in a pod: gates are lifted by then, the rest is added to."""
    gone = [{"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for why in ("not-ready", "unreachable")]  # fmt: skip
    token = {"name": "kube-api-access-x7k2p", "projected": {"sources": []}}
    hashed = {"key": "pod-template-hash", "operator": "In", "values": ["5d4f"]}

    def written(rule: dict[str, Any]) -> dict[str, Any]:
        return {**rule, "labelSelector": {**rule["labelSelector"], "matchExpressions": [hashed]}}

    made = {**fields, "tolerations": [*fields.get("tolerations", []), *gone],
            "volumes": [*fields.get("volumes", []), token], "serviceAccountName": "default", "priority": 0}  # fmt: skip
    if "affinity" in fields:
        made["affinity"] = {
            **_NODES,
            **{key: {REQUIRED: [written(_TERM)]} for key in ("podAntiAffinity", "podAffinity")},
        }
    if "topologySpreadConstraints" in fields:
        made["topologySpreadConstraints"] = [
            written(topologySpreadConstraint) for topologySpreadConstraint in fields["topologySpreadConstraints"]
        ]
    return {key: value for key, value in made.items() if key not in {"nodeName", "schedulingGates"}}


@pytest.mark.parametrize("field", sorted(FIELDS.keys() - {"nodeName", "schedulingGates"}))
def test_a_pod_that_the_api_server_made_of_its_template_comes_back_as_it_is(field: str) -> None:
    template = {field: FIELDS[field]}
    zones = {names.ZONE_LABEL: "z", "mesh.example.com/injected": "true"}
    running, following = returning(
        replica_set(controller(template=template), None), {"labels": {**LABELS, **zones}}, **as_admitted(template)
    )

    assert following is running


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_the_template_alone_has_is_named(field: str) -> None:
    running, following = returning(replica_set(controller(template={field: FIELDS[field]}), None))

    assert (running.template_adds, following.template_adds) == ((), (field,))


@pytest.mark.parametrize("field", OTHERS)
def test_a_field_of_the_template_that_is_not_modelled_is_named(field: str) -> None:
    value, word = OTHERS[field]
    _, following = returning(replica_set(controller(template={field: value}), None))

    assert following.unmodelled == (word,)


@cases(
    "expected, deployment",
    ("the same", (), {}),
    ("another", ("nodeSelector",), {"template": {"nodeSelector": {"disk": "ssd"}}}),
)
def test_the_template_of_a_deployment_counts_where_its_replica_set_has_another(
    expected: tuple[str, ...], deployment: dict[str, Any]
) -> None:
    workload = replica_set(controller(), controller("Deployment", labels={"app": "web"}, **deployment))
    _, following = returning(workload)

    assert (following.template_adds, len(workload.templates)) == (expected, 1 + len(expected))


@cases("owner", ("of a Deployment", "Deployment"), ("bare", ""))
def test_a_replica_set_that_something_controls_keeps_its_template(owner: str) -> None:
    found = controller("ReplicaSet" if owner else "bare")

    assert replica_set(found, None).fixed_template is bool(owner)


ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}


PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}
UNSEEN = {"status": {"observedGeneration": 0, "currentRevision": "a", "updateRevision": "b"}}


@cases(
    "expected, given",
    ("without a strategy", Revisions("a", "b"), {}),
    ("OnDelete: a pod that is deleted is made of the newest", Revisions("a", "b"), ON_DELETE),
    ("a partition", Revisions("a", "b", 2), PARTITION),
    ("from the first ordinal", Revisions("a", "b", 7), {**PARTITION, "ordinals": {"start": 5}}),
    ("a change that its controller has not seen", Revisions("a", ""), UNSEEN),
)
def test_a_stateful_set_shows_its_revisions(expected: Revisions, given: dict[str, Any]) -> None:
    status = {"currentRevision": "a", "updateRevision": "b"}

    assert stateful_set(controller("StatefulSet", **{"status": status, **given})).revisions == expected


def test_a_pod_of_a_stateful_set_has_the_claims_that_are_made_for_it_and_its_revision() -> None:
    by_revision = {**_SPREAD, "matchLabelKeys": ["controller-revision-hash"]}
    template: dict[str, Any] = {
        "topologySpreadConstraints": [by_revision],
        "volumes": [{"name": "data", "emptyDir": {}}, {"name": "shared", "persistentVolumeClaim": {"claimName": "s"}}],
    }
    workload = stateful_set(
        controller("StatefulSet", labels={"app": "web"}, template=template, status={"updateRevision": "b"},
                   volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}])
    )  # fmt: skip
    own = {"app": "web", names.REVISION_LABEL: "b", names.POD_NAME_LABEL: "web-0"}
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    running, following = returning(
        workload, {"labels": own}, **{**template, "volumes": [template["volumes"][1], claim]}
    )
    bare, with_claim = returning(workload, {"labels": own}, **{**template, "volumes": [template["volumes"][1]]})

    assert following is running
    assert with_claim.volumes == (*bare.volumes, Volume("data", CLAIM, "data-web-0"))


@pytest.mark.parametrize(
    ("expected", "template"),
    [("nodeSelector", {"nodeSelector": ["disk"]}), ("'x' is not a quantity", {"containers": [container("x")]})],
)
def test_a_template_that_cannot_be_read_is_named(expected: str, template: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"the template of default/web-5d4f: .*{expected}"):
        replica_set(controller(template=template), None)


def test_a_template_that_is_kept_is_read_alike() -> None:
    notes = {"checksum/config": "x" * 9, names.STEERED: "-5", names.SURGE_STAMP: "order"}
    meta = {"labels": LABELS, "annotations": notes}
    raw = msgspec.json.encode({"metadata": meta, "spec": spec_of({**FIELDS, "nodeName": "n1"})})
    read_, kept = (form for one in [msgspec.json.decode(raw, type=Template)] for form in (one, one.copy()))
    fields = [field for field in PodClass.__dataclass_fields__ if field != "annotations"]

    assert [kept.annotation(note) for note in notes] == ["", "-5", "order"]
    assert [getattr(template_class(kept, "x"), field) for field in fields] == [
        getattr(template_class(read_, "x"), field) for field in fields
    ]
