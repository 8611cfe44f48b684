"""Pods of one kind share a class, and what a pod books beside it: nothing that a rule reads is lost."""

from dataclasses import astuple
from typing import Any

import pytest

from shared.adapters.kubernetes import pod_objects, wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import Resources
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.placement import Simulation
from tests.adapters.objects import api_pod, container, node_affinity, read
from tests.builders import cluster, node, pod, resources
from tests.depth import cases


def test_pods_of_one_kind_share_one_class() -> None:
    decoder = PodDecoder()
    token: dict[str, Any] = {"projected": {"sources": []}}
    one = read(api_pod("web-1", nodeName="n1", volumes=[{"name": "kube-api-access-abc12", **token}]), decoder)
    two = read(api_pod("web-2", nodeName="n2", volumes=[{"name": "kube-api-access-xyz89", **token}]), decoder)

    assert one.spec is two.spec


def test_the_zone_that_a_pod_got_from_its_node_is_not_its_own() -> None:
    decoder = PodDecoder()
    zones = [{"app": "web", names.ZONE_LABEL: zone, names.REGION_LABEL: "r"} for zone in ("r-a", "r-b")]

    first, second = (read(api_pod(meta={"labels": labels}), decoder) for labels in zones)

    assert first.spec is second.spec
    assert dict(first.spec.labels) == {"app": "web"}


def test_pods_of_one_daemon_set_share_one_class_although_each_names_its_node() -> None:
    decoder = PodDecoder()
    meta = {"ownerReferences": [{"kind": "DaemonSet", "name": "logs", "uid": "d", "controller": True}]}
    pods = [
        read(api_pod(meta=meta, nodeName=name, affinity=node_affinity({"matchFields": [_named(name)]})), decoder)
        for name in ("n1", "n2")
    ]

    assert pods[0].spec is pods[1].spec
    assert pods[0].spec.node_terms is None


def _named(node: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "In", "values": [node]}


def test_any_other_pod_that_names_its_node_keeps_showing_so() -> None:
    found = read(api_pod(affinity=node_affinity({"matchFields": [_named("n1")]}))).spec

    assert found.node_terms == (NodeTerm((), (Requirement("metadata.name", "In", ("n1",)),)),)


@cases(
    "changes",
    ("labels", {"meta": {"labels": {"app": "api"}}}),
    ("an annotation that rules read", {"meta": {"annotations": {names.SAFE_TO_EVICT: "false"}}}),
    ("namespace", {"meta": {"namespace": "other"}}),
    ("owner", {"meta": {"ownerReferences": []}}),
    ("requests", {"containers": [container("200m")]}),
    ("host network", {"hostNetwork": True}),
    ("volumes", {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}),
    ("priority", {"priority": 7}),
    ("tolerations", {"tolerations": [{"operator": "Exists"}]}),
)
def test_whatever_rules_read_parts_two_classes(changes: dict[str, Any]) -> None:
    decoder = PodDecoder()

    assert read(api_pod(), decoder).spec is not read(api_pod(**changes), decoder).spec


def test_annotations_that_no_rule_reads_are_dropped() -> None:
    decoder = PodDecoder()
    plain, noted = api_pod(), api_pod(meta={"annotations": {"checksum/config": "1", names.SAFE_TO_EVICT: "true"}})

    assert read(noted, decoder).spec.annotations == {names.SAFE_TO_EVICT: "true"}
    assert read(api_pod(meta={"annotations": {"checksum/config": "2"}}), decoder).spec is read(plain, decoder).spec


_BIG = {"requests": {"cpu": "9"}}
_SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
SPEC: dict[str, Any] = {
    "containers": [container("200m")],
    "initContainers": [container("9")],
    "overhead": {"cpu": "5"},
    "resources": _BIG,
    "nodeSelector": {"disk": "ssd"},
    "os": {"name": "linux"},
    "affinity": node_affinity({"matchFields": [_named("n2")]}),
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [_SPREAD],
    "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}],
    "resourceClaims": [{"name": "gpu"}],
    "schedulingGates": [{"name": "wait"}],
    "workloadRef": {"name": "gang"},
    "schedulingGroup": {"podGroupName": "gang"},
    "evictionResponders": [{"name": "storage.example.com/mover", "priority": 1000}],
    "hostNetwork": True,
    "schedulerName": "own",
    "runtimeClassName": "gvisor",
    "priority": 7,
    "priorityClassName": "high",
    "terminationGracePeriodSeconds": 7,
    "restartPolicy": "Never",
}
STATUS: dict[str, Any] = {
    "containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "2"}}],
    "initContainerStatuses": [{"name": "side", "allocatedResources": {"cpu": "3"}}],
    "allocatedResources": {"cpu": "4"},
    "resources": _BIG,
    "extendedResourceClaimStatus": {"resourceClaimName": "web-1-extended-resources-x7"},
    "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
    "phase": "Succeeded",
    "nominatedNodeName": "n2",
}
_APP = container("1", ports=[{"containerPort": 80}])
_SIDECAR = container("1", name="side", restartPolicy="Always")
_GIVEN = {
    "containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "6"}, "resources": {"requests": {"cpu": "6"}}}]
}
_GIVEN_TO_ALL = {"resources": {"requests": {"cpu": "3"}}}


def _plain(**spec: Any) -> dict[str, Any]:
    return api_pod(**{"containers": [_APP], "initContainers": [_SIDECAR], **spec})


def _resized(**status: Any) -> dict[str, Any]:
    whole = bool(status.keys() & {"resources", "allocatedResources"})
    own: dict[str, Any] = {"resources": {"requests": {"cpu": "2"}}} if whole else {}
    return api_pod(
        containers=[_APP], initContainers=[_SIDECAR], status={**(_GIVEN_TO_ALL if whole else _GIVEN), **status}, **own
    )


def _said(pod: Pod) -> tuple[Any, ...]:
    return astuple(pod.spec), pod.booked, pod.nominated


@cases(
    "varied",
    *((f"spec.{name}", _plain(**{name: value})) for name, value in SPEC.items()),
    *((f"status.{name}", _resized(**{name: value})) for name, value in STATUS.items()),
)
def test_a_pod_is_read_alike_whatever_its_folder_has_read_before(varied: dict[str, Any]) -> None:
    decoder = PodDecoder()
    for known in (_plain(), _resized(), _resized(**_GIVEN_TO_ALL)):
        read(known, decoder)

    assert _said(read(varied, decoder)) == _said(read(varied))


def test_every_field_that_is_decoded_of_a_pod_is_varied_above_or_its_own() -> None:
    fields = {part: set(part.__struct_encode_fields__) for part in (wire.PodSpec, wire.PodStatus)}

    assert fields[wire.PodSpec] - {"nodeName"} == SPEC.keys()
    assert fields[wire.PodStatus] - {"startTime"} == STATUS.keys()


def test_many_kinds_are_not_all_kept_by_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_objects, "MOST_KINDS", 2)
    decoder = PodDecoder()
    kinds = [api_pod(priority=number % 5) for number in range(20)]

    assert [read(kind, decoder).spec.priority for kind in kinds] == [number % 5 for number in range(20)]
    assert len({id(read(kind, decoder).spec) for kind in kinds}) == 5


def reported(name: str = "app", *, allocated: str = "", actuated: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"name": name}
    if allocated:
        status["allocatedResources"] = {"cpu": allocated}
    if actuated:
        status["resources"] = {"requests": {"cpu": actuated}}
    return status


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
DEFERRED = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}


@cases(
    "expected, statuses, conditions",
    ("no status yet", None, [], []),
    ("the status repeats the spec", None, [reported(allocated="1", actuated="1")], []),
    ("the same in other words", None, [reported(allocated="1000m", actuated="1")], []),
    ("growing: the request counts already", None, [reported(allocated="500m", actuated="500m")], []),
    ("shrinking: not yet returned", resources(2), [reported(allocated="2", actuated="2")], []),
    ("allocated, not yet actuated", resources(2), [reported(allocated="1", actuated="2")], []),
    ("an opt-out that cannot come true", resources(0.5), [reported(allocated="500m", actuated="500m")], [INFEASIBLE]),
    ("1.36 takes the request if actuated is not shown", None, [reported(allocated="500m")], [INFEASIBLE]),
    ("an opt-out that waits counts", None, [reported(allocated="500m")], [DEFERRED]),
    ("a status of no container of the spec", None, [reported("other", allocated="9")], []),
)
def test_a_running_pod_books_what_its_status_reports(
    expected: Resources | None, statuses: list[dict[str, Any]], conditions: list[dict[str, Any]]
) -> None:
    status = {"containerStatuses": statuses, "conditions": conditions}

    assert read(api_pod(containers=[container("1")], status=status)).booked == expected


def test_a_pod_that_does_not_run_books_its_spec() -> None:
    status = {"containerStatuses": [reported(allocated="2")]}

    assert read(api_pod(nodeName="", status={**status, "phase": "Pending"})).booked is None
    assert read(api_pod(status={**status, "phase": "Succeeded"})).booked is None


def test_a_sidecars_status_counts_too() -> None:
    sidecar = container("1", name="proxy", restartPolicy="Always")
    status = {"initContainerStatuses": [reported("proxy", allocated="2")]}

    assert read(api_pod(containers=[container("1")], initContainers=[sidecar], status=status)).booked == resources(3)


def test_the_pods_own_status_counts_and_its_overhead_again_as_both_schedulers_count_it() -> None:
    status = {"allocatedResources": {"cpu": "4500m"}, "resources": {"requests": {"cpu": "2500m"}}}
    spec: dict[str, Any] = {"resources": {"requests": {"cpu": "2"}}, "overhead": {"cpu": "500m"}}

    assert read(api_pod(containers=[container("1")], status=status, **spec)).booked == resources(5)


def test_what_a_class_requests_is_the_spec_alone() -> None:
    status = {"containerStatuses": [reported(allocated="2")]}
    pod = read(api_pod(containers=[container("1")], status=status))

    assert (pod.spec.requests, pod.requests) == (resources(1), resources(2))


@cases("moves, wish", ("none", True, "1"), ("one that the node puts off", False, "3500m"))
def test_a_node_keeps_room_for_a_resize_that_waits(moves: bool, wish: str) -> None:
    """What a pod asks for on its node counts as taken there before the node gives it (Deferred)."""
    status = {"containerStatuses": [reported(allocated="1", actuated="1")], "conditions": [DEFERRED]}
    waiting = read(api_pod("grows", containers=[container(wish)], nodeName="n2", status=status))
    nodes = [node("n1"), node("n2", cpu=4)]
    simulation = Simulation.of(cluster(nodes, [waiting, pod("mover", on="n1", cpu=1)]))

    assert (simulation.try_remove("n1") is None) is moves
