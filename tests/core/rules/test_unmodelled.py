from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Volume
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.unmodelled import could_take, find_unmodelled, is_destination, pinned_to_one_node
from tests.builders import node, our_taint, pod, pod_class, taint

OUTSIDE_LABELS = (names.STANDBY_NODE, names.MANAGED_NODE)


def term(key: str, operator: str, *values: str, by_name: bool = False) -> NodeTerm:
    asked = (Requirement(key, operator, values),)
    return NodeTerm(fields=asked) if by_name else NodeTerm(asked)


@pytest.mark.parametrize(
    ("expected", "spec"),
    [
        pytest.param(None, {}, id="no request"),
        pytest.param("n1", {"node_name": "n1"}, id="its template's"),
        pytest.param("n1", {"node_selector": {names.HOSTNAME_LABEL: "n1"}}, id="selector by hostname"),
        pytest.param("n1", {"node_terms": (term("metadata.name", "In", "n1", by_name=True),)}, id="by name"),
        pytest.param("n1", {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1"),)}, id="affinity by hostname"),
        pytest.param(None, {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1", "n2"),)}, id="one of two hosts"),
        pytest.param(None, {"node_terms": (term(names.HOSTNAME_LABEL, "NotIn", "n1"),)}, id="any other host"),
        pytest.param(
            None,
            {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1"), term("disk", "Exists"))},
            id="that host or any with the label",
        ),
    ],
)
def test_a_pod_that_names_one_node_is_known(expected: str | None, spec: dict[str, Any]) -> None:
    assert pinned_to_one_node(pod_class(**spec)) == expected


def test_a_rule_that_only_the_reader_knows_blocks_as_well() -> None:
    assert find_unmodelled(pod_class(unmodelled=("runtimeClass x",)), None) == (
        Finding(PodBlock.UNMODELLED, "runtimeClass x"),
    )


@pytest.mark.parametrize(
    ("expected", "spec"),
    [
        pytest.param("n1 (nodeName of its template)", {"node_name": "n1"}, id="a node"),
        pytest.param("hold (schedulingGates of its template)", {"scheduling_gates": ("hold",)}, id="gates"),
        pytest.param("mine (schedulerName of its template)", {"scheduler": "mine"}, id="a scheduler"),
        pytest.param("gpu (resourceClaims of its template)", {"resource_claims": ("gpu",)}, id="resource claims"),
        pytest.param(
            "flexVolume d (volumes of its template)", {"volumes": (Volume("d", "flexVolume"),)}, id="a volume"
        ),
        pytest.param("x", {"unmodelled": ("x",)}, id="what names the template itself"),
    ],
)
def test_what_a_template_adds_is_named_so(expected: str, spec: dict[str, Any]) -> None:
    adds = ("nodeName", "ports", "resourceClaims", "schedulerName", "schedulingGates", "volumes")
    own = tuple(add for add in adds if add not in expected)

    assert [finding.detail for finding in find_unmodelled(pod_class(template_adds=adds, **spec), None)] == [expected]
    assert "template" not in find_unmodelled(pod_class(template_adds=own, **spec), None)[0].detail


@pytest.mark.parametrize(
    ("expected", "subject"),
    [
        pytest.param(True, node("n"), id="a plain node"),
        pytest.param(True, node("n", taints=(taint("gpu"),)), id="a tainted one: the pod's tolerations decide"),
        pytest.param(False, node("n", ready=False), id="not ready"),
        pytest.param(False, node("n", unschedulable=True), id="cordoned"),
        pytest.param(False, node("n", taints=(our_taint(),)), id="ours"),
        *(
            pytest.param(False, node("n", taints=(taint(key, "PreferNoSchedule"),)), id=key)
            for key in (*names.GOING_TAINTS, *names.OUTSIDE_TAINTS)
        ),
        *(pytest.param(False, node("n", labels={key: "true"}), id=f"label {key}") for key in OUTSIDE_LABELS),
        pytest.param(False, node("n", labels={"type": "virtual-kubelet"}), id="a virtual kubelet, by its label"),
        pytest.param(True, node("n", labels={"type": "fast"}), id="a label of a person's own of that key"),
        *(
            pytest.param(False, node("n", conditions=frozenset({name})), id=name)
            for name in (*names.LIFECYCLE_CONDITIONS, names.SUSPENDED_CONDITION)
        ),
    ],
)
def test_only_nodes_that_stay_receive(expected: bool, subject: Node) -> None:
    assert is_destination(subject) is expected


@pytest.mark.parametrize(
    ("expected", "pods"), [pytest.param(True, 1, id="one place is enough"), pytest.param(False, 0, id="no place")]
)
def test_a_pod_takes_one_place(expected: bool, pods: int) -> None:
    assert could_take(node("n", pods=pods), pod("p")) is expected


@pytest.mark.parametrize(
    ("expected", "asked", "labels"),
    [
        pytest.param(True, "linux", {names.OS_LABEL: "linux"}, id="the same"),
        pytest.param(False, "linux", {names.OS_LABEL: "windows"}, id="Windows, without a taint"),
        pytest.param(False, "windows", {names.OS_LABEL: "linux"}, id="the reverse"),
        pytest.param(True, "linux", {}, id="the node does not show its own"),
        pytest.param(True, "", {names.OS_LABEL: "windows"}, id="the pod names none: its image may run on both"),
    ],
)
def test_a_pod_goes_to_no_node_whose_kubelet_would_reject_its_operating_system(
    expected: bool, asked: str, labels: dict[str, str]
) -> None:
    assert could_take(node("n", labels=labels), pod("p", os=asked)) is expected
