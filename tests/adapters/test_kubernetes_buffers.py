"""Capacity buffers and ComputeClasses as the API writes them: found by discovery, none being no error."""

import json
import re
from datetime import timedelta
from fractions import Fraction
from typing import Any

import msgspec

from functions.cli.dumps.anonymize.objects import KINDS
from functions.cli.dumps.anonymize.rules import Namer
from functions.cli.dumps.contents import DumpContents
from shared.adapters.kubernetes import buffer_objects
from shared.adapters.kubernetes.buffer_objects import autoscaling_policy
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.autoscaling import NO_BUFFERS, NO_CLASSES, AutoscalingPolicy, ComputeClasses, buffer_of
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration
from tests.adapters.scripted import GROUPS, NO_GROUP, Say, Script, status
from tests.builders import resources
from tests.depth import cases

_, BUFFER_GROUP, CLASS_GROUP = GROUPS
BUFFERS, CLASSES, TEMPLATES = (
    f"{BUFFER_GROUP}/v1beta1/capacitybuffers",
    f"{CLASS_GROUP}/v1/computeclasses",
    "/api/v1/podtemplates",
)


def versions(*names: str) -> Say:
    return Say(
        body={"kind": "APIGroup", "versions": [{"groupVersion": f"g/{name}", "version": name} for name in names]}
    )


def served(*names: str) -> Say:
    return Say(body={"kind": "APIResourceList", "resources": [{"name": name} for name in names]})


def listed(*items: dict[str, Any]) -> Say:
    return Say(body={"kind": "List", "items": list(items)})


def buffer(name: str = "web", *, namespace: str = "shop", spec: dict[str, Any] | None = None, **said: Any) -> Any:
    given = {"podTemplateRef": {"name": "chunk"}, "replicas": 3, **said}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": spec or {},
        "status": given,
    }


def template(name: str = "chunk", *, namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    container = {"name": "app", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1", "memory": "1Gi"}}}
    body = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}
    return {"metadata": {"name": name, "namespace": namespace}, "template": body}


def compute_class(name: str, *buffers: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"priorities": [{"machineFamily": "n2"}], "buffers": list(buffers)}}


def test_a_cluster_without_such_kinds_has_no_buffers_and_is_asked_for_two_groups(
    api: Script, cluster: KubernetesCluster
) -> None:
    api.says(NO_GROUP, NO_GROUP)
    assert cluster.buffers()[0] == NO_BUFFERS
    assert api.calls == [("GET", BUFFER_GROUP), ("GET", CLASS_GROUP)]


def test_the_kind_is_looked_for_in_each_version_of_its_group(api: Script, cluster: KubernetesCluster) -> None:
    """ProvisioningRequests are of the same group and have reached a version that buffers have not."""
    api.says(versions("v1", "v1beta1"), served("provisioningrequests"), served("capacitybuffers"), listed(buffer()))
    api.says(NO_GROUP, listed(template()))
    assert [held.key for held in cluster.buffers()[0].held] == ["shop/web"]
    assert api.calls[3:] == [("GET", BUFFERS), ("GET", CLASS_GROUP), ("GET", TEMPLATES)]


def says(api: Script, *buffers: Any, classes: tuple[Any, ...] = (), templates: Say | None = None) -> None:
    api.says(versions("v1beta1"), served("capacitybuffers"), listed(*buffers))
    api.says(versions("v1"), served("computeclasses"), listed(*classes), templates or listed(template()))


def test_a_chunk_asks_for_what_its_template_asks_for(api: Script, cluster: KubernetesCluster) -> None:
    """Limits count where requests say nothing, as the API server writes it into pods."""
    pool, gpu = {"pool": "web"}, [{"key": "gpu", "operator": "Exists"}]
    rows = listed(template(nodeSelector=pool, tolerations=gpu, nodeName="n1"), template("other"))
    says(api, buffer(readyReplicas=2), templates=rows)
    (found,) = cluster.buffers()[0].held
    assert (found.replicas, found.ready) == (3, 2)
    assert found.chunk.requests == resources(0.5, 1)
    assert (found.chunk.node_selector, found.chunk.tolerations) == (pool, (Toleration("gpu", "Exists"),))
    assert (found.chunk.labels, buffer_of(found.chunk)) == ({"app": "web"}, "shop/web")


@cases(
    "given, chunks",
    ("as many as its status shows", buffer(), 3),
    ("none before the autoscaler has seen it", buffer(replicas=None), 0),
    ("none of an empty one", buffer(replicas=0), 0),
    ("none without a template", buffer(podTemplateRef=None), 0),
    ("none of a template that is not there", buffer(podTemplateRef={"name": "gone"}), 0),
    ("none that it refuses", buffer(conditions=[{"type": "ReadyForProvisioning", "status": "False"}]), 0),
    ("none on suspended machines", buffer(spec={"provisioningStrategy": "buffer.gke.io/standby-capacity"}), 0),
    ("those of the active strategy", buffer(provisioningStrategy="buffer.x-k8s.io/active-capacity"), 3),
)
def test_what_the_autoscaler_holds_is_what_counts(
    api: Script, cluster: KubernetesCluster, given: Any, chunks: int
) -> None:
    says(api, given)
    assert sum(held.replicas for held in cluster.buffers()[0].held) == chunks


CLASS = compute_class("web", {"limits": {"cpu": "7", "memory": "6Gi"}})


def test_the_buffer_of_a_compute_class_holds_as_many_chunks_as_stay_within_its_limits(
    api: Script, cluster: KubernetesCluster
) -> None:
    standby = {"provisioningStrategy": "buffer.gke.io/standby-capacity", "limits": {"cpu": "100"}}
    says(api, classes=(CLASS, compute_class("db"), compute_class("gpu", standby)))
    (found,) = cluster.buffers()[0].held
    assert (found.key, found.replicas, found.chunk.requests) == ("gke-managed-ccc/web", 3, resources(2, 2))
    assert found.chunk.node_selector == {"cloud.google.com/compute-class": "web"}
    not_standby = Requirement("buffer.gke.io/standby-capacity-node", "NotIn", ("true",))
    assert found.chunk.node_terms == (NodeTerm((not_standby,)),)


def test_what_the_autoscaler_has_made_of_a_compute_class_is_not_counted_twice(
    api: Script, cluster: KubernetesCluster
) -> None:
    made = buffer("ccc-buffer-web-1", namespace="gke-managed-ccc")
    made["metadata"]["ownerReferences"] = [{"kind": "ComputeClass", "name": "web", "uid": "uid-class"}]
    says(api, made, classes=(CLASS,), templates=listed(template(namespace="gke-managed-ccc")))
    assert [held.key for held in cluster.buffers()[0].held] == ["gke-managed-ccc/ccc-buffer-web-1"]


FORBIDDEN = Say(403, status(403, "forbidden"))


@cases(
    "said, unread",
    ("buffers", [versions("v1beta1"), served("capacitybuffers"), FORBIDDEN, NO_GROUP], "capacitybuffers"),
    ("classes", [NO_GROUP, versions("v1"), served("computeclasses"), FORBIDDEN], "computeclasses"),
    ("templates", [versions("v1beta1"), served("capacitybuffers"), listed(buffer()), NO_GROUP, FORBIDDEN],
     "podtemplates"),
)  # fmt: skip
def test_a_list_that_we_may_not_read_is_named(
    api: Script, cluster: KubernetesCluster, said: list[Say], unread: str
) -> None:
    api.says(*said)
    found = cluster.buffers()[0]
    assert (found.held, found.unread) == ((), (unread,))


def test_an_outage_of_what_only_advises_ends_no_snapshot(api: Script, cluster: KubernetesCluster) -> None:
    api.says(*Say(503, status(503, "no endpoints available")).lasting)

    found = cluster.buffers()[0]

    assert (found.held, bool(found.unread)) == ((), True)


NO_AMOUNT = {"limits": {"cpu": "many"}}


def with_odd_template() -> list[Any]:
    odd = template("odd")
    odd["template"]["spec"]["containers"] = 3
    return [template(), odd]


@cases(
    "fault, buffers, classes, templates",
    ("a buffer", r"capacitybuffers shop/odd: .*status\.replicas", [buffer(), buffer("odd", replicas="three")], [],
     [template()]),
    ("a template", r"CapacityBuffer shop/odd: template\.spec",
     [buffer(), buffer("odd", podTemplateRef={"name": "odd"})], [], with_odd_template()),
    ("the limits of a class", r"ComputeClass odd: 'many' is not a quantity", [buffer()],
     [compute_class("odd", NO_AMOUNT)], [template()]),
    ("a class", r"computeclasses odd: .*buffers", [buffer()], [{"metadata": {"name": "odd"}, "spec": {"buffers": 3}}],
     [template()]),
    ("nameless", r"capacitybuffers without a name: ", [buffer(), {"metadata": 3}], [], [template()]),
)  # fmt: skip
def test_what_cannot_be_read_is_named_and_the_others_count(
    api: Script, cluster: KubernetesCluster, fault: str, buffers: list[Any], classes: list[Any], templates: list[Any]
) -> None:
    """A kind of a preview may change its shape any day: the planner must go on, if only to heal."""
    says(api, *buffers, classes=tuple(classes), templates=listed(*templates))
    found = cluster.buffers()[0]
    assert [held.key for held in found.held] == ["shop/web"]
    (said,) = found.faults
    assert re.match(fault, said)


REAPER = {"consolidationDelayMinutes": 1, "consolidationThreshold": 0}
REAPS = AutoscalingPolicy(threshold=Fraction(0), delay=timedelta(minutes=1))
HOLDS = "the profile's value holds."


def of_class(name: str, said: Any) -> dict[str, Any]:
    spec = {"priorities": [{"machineFamily": "n2"}], "autoscalingPolicy": said}
    return {"kind": "ComputeClass", "metadata": {"name": name}, "spec": spec}


def read(said: Any) -> AutoscalingPolicy:
    text = json.dumps(of_class("web", said)).encode()
    return autoscaling_policy(msgspec.json.decode(text, type=buffer_objects.ComputeClass))


@cases(
    "expected, said",
    ("nothing: the profile's", AutoscalingPolicy(), None),
    ("an empty block", AutoscalingPolicy(), {}),
    ("a reaper", REAPS, REAPER),
    ("percents", AutoscalingPolicy(threshold=Fraction(7, 20), gpu_threshold=Fraction(1)),
     {"consolidationThreshold": 35, "gpuConsolidationThreshold": 100}),
    ("a day", AutoscalingPolicy(delay=timedelta(days=1)), {"consolidationDelayMinutes": 1440}),
)  # fmt: skip
def test_percents_become_shares_and_minutes_times(expected: AutoscalingPolicy, said: Any) -> None:
    assert read(said) == expected


@cases(
    "fault, said",
    ("a unit", f"consolidationThreshold is '50%': it takes percent from 0 to 100; {HOLDS}",
     {"consolidationThreshold": "50%"}),
    ("too much", f"consolidationThreshold is 101: it takes percent from 0 to 100; {HOLDS}",
     {"consolidationThreshold": 101}),
    ("too little", f"gpuConsolidationThreshold is -1: it takes percent from 0 to 100; {HOLDS}",
     {"gpuConsolidationThreshold": -1}),
    ("true is no number", f"consolidationThreshold is True: it takes percent from 0 to 100; {HOLDS}",
     {"consolidationThreshold": True}),
    ("no time at all", f"consolidationDelayMinutes is 0: it takes minutes from 1 to 1440; {HOLDS}",
     {"consolidationDelayMinutes": 0}),
    ("a part of a minute", f"consolidationDelayMinutes is 1.5: it takes minutes from 1 to 1440; {HOLDS}",
     {"consolidationDelayMinutes": 1.5}),
    ("no object", "autoscalingPolicy is 'fast', not an object; the profile's values hold.", "fast"),
)  # fmt: skip
def test_what_is_not_of_the_apis_shape_is_a_sentence_and_the_profile_holds(fault: str, said: Any) -> None:
    assert read(said) == AutoscalingPolicy(faults=(fault,))


@cases(
    "expected, said",
    ("a cluster without the kind", NO_CLASSES, [NO_GROUP]),
    ("one of them", ComputeClasses({"web": REAPS}),
     [versions("v1"), served("computeclasses"), listed(of_class("web", REAPER))]),
    ("some that may not be read", ComputeClasses(unread=True),
     [versions("v1"), served("computeclasses"), Say(403, status(403, "forbidden"))]),
)  # fmt: skip
def test_the_classes_are_found_by_discovery(
    api: Script, cluster: KubernetesCluster, expected: ComputeClasses, said: list[Say]
) -> None:
    api.says(NO_GROUP, *said)
    assert cluster.buffers()[1] == expected


def test_a_dump_holds_them_and_one_under_other_names_shows_the_same() -> None:
    contents, hidden, given = DumpContents(), DumpContents(), of_class("web", {**REAPER, "secret": "acme"})
    contents.add("ComputeClass", json.dumps(given).encode())
    namer = Namer()
    KINDS["ComputeClass"](namer, given)
    namer.rank_names()
    hidden.add("ComputeClass", json.dumps(KINDS["ComputeClass"](namer, given)).encode())

    assert contents.to_reading().compute_classes == ComputeClasses({"web": REAPS})
    assert tuple(hidden.to_reading().compute_classes.found.values()) == (REAPS,)
