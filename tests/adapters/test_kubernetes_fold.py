"""Pods of one kind share a class, and nothing that a rule reads is lost by sharing."""

from typing import Any

import pytest

from shared.adapters.kubernetes.fold import PodFolder
from shared.core.cluster import names
from shared.core.cluster.selectors import NodeTerm, Requirement
from tests.adapters.objects import api_pod, container, node_affinity, read


def test_pods_of_one_kind_share_one_class() -> None:
    folder = PodFolder()
    token: dict[str, Any] = {"projected": {"sources": []}}
    one = read(api_pod("web-1", nodeName="n1", volumes=[{"name": "kube-api-access-abc12", **token}]), folder)
    two = read(api_pod("web-2", nodeName="n2", volumes=[{"name": "kube-api-access-xyz89", **token}]), folder)

    assert one.spec is two.spec


def test_the_zone_that_a_pod_got_from_its_node_is_not_its_own() -> None:
    folder = PodFolder()
    zones = [{"app": "web", names.ZONE_LABEL: zone, names.REGION_LABEL: "r"} for zone in ("r-a", "r-b")]

    first, second = (read(api_pod(meta={"labels": labels}), folder) for labels in zones)

    assert first.spec is second.spec
    assert dict(first.spec.labels) == {"app": "web"}


def test_pods_of_one_daemon_set_share_one_class_although_each_names_its_node() -> None:
    folder = PodFolder()
    meta = {"ownerReferences": [{"kind": "DaemonSet", "name": "logs", "uid": "d", "controller": True}]}
    pods = [
        read(api_pod(meta=meta, nodeName=name, affinity=node_affinity({"matchFields": [_named(name)]})), folder)
        for name in ("n1", "n2")
    ]

    assert pods[0].spec is pods[1].spec
    assert pods[0].spec.node_terms is None


def _named(node: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "In", "values": [node]}


def test_any_other_pod_that_names_its_node_keeps_saying_so() -> None:
    found = read(api_pod(affinity=node_affinity({"matchFields": [_named("n1")]}))).spec

    assert found.node_terms == (NodeTerm((), (Requirement("metadata.name", "In", ("n1",)),)),)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"meta": {"labels": {"app": "api"}}}, id="labels"),
        pytest.param({"meta": {"annotations": {names.SAFE_TO_EVICT: "false"}}}, id="an annotation that rules read"),
        pytest.param({"meta": {"namespace": "other"}}, id="namespace"),
        pytest.param({"meta": {"ownerReferences": []}}, id="owner"),
        pytest.param({"containers": [container("200m")]}, id="requests"),
        pytest.param({"hostNetwork": True}, id="host network"),
        pytest.param({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}, id="volumes"),
        pytest.param({"priority": 7}, id="priority"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, id="tolerations"),
    ],
)
def test_whatever_rules_read_parts_two_classes(changes: dict[str, Any]) -> None:
    folder = PodFolder()

    assert read(api_pod(), folder).spec is not read(api_pod(**changes), folder).spec


def test_annotations_that_no_rule_reads_are_dropped() -> None:
    folder = PodFolder()
    plain, noted = api_pod(), api_pod(meta={"annotations": {"checksum/config": "1", names.SAFE_TO_EVICT: "true"}})

    assert read(noted, folder).spec.annotations == {names.SAFE_TO_EVICT: "true"}
    assert read(api_pod(meta={"annotations": {"checksum/config": "2"}}), folder).spec is read(plain, folder).spec
