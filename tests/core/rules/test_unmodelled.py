from typing import Any

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Volume
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.unmodelled import could_take, find_unmodelled, is_destination, pinned_to_one_node
from tests.builders import node, our_taint, pod, pod_class, taint
from tests.depth import cases

OUTSIDE_LABELS = (names.STANDBY_NODE, names.MANAGED_NODE)


def term(key: str, operator: str, *values: str, by_name: bool = False) -> NodeTerm:
    asked = (Requirement(key, operator, values),)
    return NodeTerm(fields=asked) if by_name else NodeTerm(asked)


@cases(
    "expected, spec",
    ("no request", None, {}),
    ("its template's", "n1", {"node_name": "n1"}),
    ("selector by hostname", "n1", {"node_selector": {names.HOSTNAME_LABEL: "n1"}}),
    ("by name", "n1", {"node_terms": (term("metadata.name", "In", "n1", by_name=True),)}),
    ("affinity by hostname", "n1", {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1"),)}),
    ("one of two hosts", None, {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1", "n2"),)}),
    ("any other host", None, {"node_terms": (term(names.HOSTNAME_LABEL, "NotIn", "n1"),)}),
    ("that host or any with the label", None,
     {"node_terms": (term(names.HOSTNAME_LABEL, "In", "n1"), term("disk", "Exists"))}),
)  # fmt: skip
def test_a_pod_that_names_one_node_is_known(expected: str | None, spec: dict[str, Any]) -> None:
    assert pinned_to_one_node(pod_class(**spec)) == expected


def test_a_rule_that_only_the_reader_knows_blocks_as_well() -> None:
    assert find_unmodelled(pod_class(unmodelled=("runtimeClass x",)), None) == (
        Finding(PodBlock.UNMODELLED, "runtimeClass x"),
    )


@cases(
    "expected, spec",
    ("a node", "n1 (nodeName of its template)", {"node_name": "n1"}),
    ("gates", "hold (schedulingGates of its template)", {"scheduling_gates": ("hold",)}),
    ("a scheduler", "mine (schedulerName of its template)", {"scheduler": "mine"}),
    ("resource claims", "gpu (resourceClaims of its template)", {"resource_claims": ("gpu",)}),
    ("a volume", "flexVolume d (volumes of its template)", {"volumes": (Volume("d", "flexVolume"),)}),
    ("what names the template itself", "x", {"unmodelled": ("x",)}),
)
def test_what_a_template_adds_is_named_so(expected: str, spec: dict[str, Any]) -> None:
    adds = ("nodeName", "ports", "resourceClaims", "schedulerName", "schedulingGates", "volumes")
    own = tuple(add for add in adds if add not in expected)

    assert [finding.detail for finding in find_unmodelled(pod_class(template_adds=adds, **spec), None)] == [expected]
    assert "template" not in find_unmodelled(pod_class(template_adds=own, **spec), None)[0].detail


@cases(
    "expected, subject",
    ("a plain node", True, node("n")),
    ("a tainted one: the pod's tolerations decide", True, node("n", taints=(taint("gpu"),))),
    ("not ready", False, node("n", ready=False)),
    ("cordoned", False, node("n", unschedulable=True)),
    ("ours", False, node("n", taints=(our_taint(),))),
    *(
        (key, False, node("n", taints=(taint(key, "PreferNoSchedule"),)))
        for key in (*names.GOING_TAINTS, *names.OUTSIDE_TAINTS)
    ),
    *((f"label {key}", False, node("n", labels={key: "true"})) for key in OUTSIDE_LABELS),
    ("a virtual kubelet, by its label", False, node("n", labels={"type": "virtual-kubelet"})),
    ("a label of a person's own of that key", True, node("n", labels={"type": "fast"})),
    *(
        (name, False, node("n", conditions=frozenset({name})))
        for name in (*names.LIFECYCLE_CONDITIONS, names.SUSPENDED_CONDITION)
    ),
)
def test_only_nodes_that_stay_receive(expected: bool, subject: Node) -> None:
    assert is_destination(subject) is expected


LINUX, WINDOWS = ({names.OS_LABEL: system} for system in ("linux", "windows"))


@cases(
    "expected, asked, subject",
    ("one place for a pod is enough", True, "", node("n", pods=1)),
    ("no place", False, "", node("n", pods=0)),
    ("the same operating system", True, "linux", node("n", labels=LINUX)),
    ("Windows, without a taint", False, "linux", node("n", labels=WINDOWS)),
    ("the reverse", False, "windows", node("n", labels=LINUX)),
    ("the node does not show its own", True, "linux", node("n")),
    ("the pod names none: its image may run on both", True, "", node("n", labels=WINDOWS)),
)
def test_a_pod_goes_to_no_node_whose_kubelet_would_reject_it(expected: bool, asked: str, subject: Node) -> None:
    assert could_take(subject, pod("p", os=asked)) is expected
