"""Each rule answers for itself, and together they say what the packing does: what none excludes may take the pod."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.exclusions import OF_CONSTRAINT, Exclusion, NodeChoice, choice
from shared.core.cluster.names import OS_LABEL
from shared.core.cluster.node import Kubelet
from shared.core.cluster.pod import HostPort
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, SpreadConstraint
from shared.core.placement import Simulation
from shared.core.placement.constraints import CONSTRAINTS
from tests.builders import cluster, node, pod, taint

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WEB = LabelSelector((Requirement("app", "In", ("web",)),))
DB = LabelSelector((Requirement("app", "In", ("db",)),))


def _choice(nodes: list[Any], moving: Any, *others: Any) -> NodeChoice:
    simulation = Simulation.of(cluster(nodes, [moving, *others]))
    arrays, packing = simulation.arrays, simulation.first_packing.copy()
    source, kind = arrays.index[moving.node], arrays.kind_of[moving.spec]
    packing.close([source])
    return choice(packing, kind, source)


def _words(found: NodeChoice) -> dict[str, tuple[int, int]]:
    return {
        f"{excluded.rule.value} {excluded.detail}".strip(): (excluded.nodes, excluded.alone)
        for excluded in found.excluded
    }


def test_every_constraint_has_a_word() -> None:
    assert OF_CONSTRAINT.keys() == set(CONSTRAINTS)
    others = {Exclusion.SHUT, Exclusion.TAINT, Exclusion.SELECTOR, Exclusion.KUBELET, Exclusion.ROOM}
    assert {*OF_CONSTRAINT.values(), *others} == set(Exclusion)


@pytest.mark.parametrize(
    ("expected", "other", "spec"),
    [
        pytest.param("shut", {"unschedulable": True}, {}, id="a cordoned node"),
        pytest.param("taint", {"taints": (taint("gpu"),)}, {}, id="a taint"),
        pytest.param("selector", {}, {"node_selector": {"disk": "ssd"}}, id="a node selector"),
        pytest.param("selector", {}, {"node_terms": (NodeTerm((Requirement("disk", "Exists"),)),)}, id="affinity"),
        pytest.param("kubelet 1.33", {"kubelet": Kubelet((1, 32))}, {"needs_kubelet": Kubelet((1, 33))}, id="older"),
        pytest.param("kubelet linux", {"labels": {OS_LABEL: "windows"}}, {"os": "linux"}, id="another system"),
        pytest.param("room cpu", {"cpu": 1}, {"cpu": 2}, id="too little CPU"),
        pytest.param("room memory", {"memory": 1}, {"memory": 2}, id="too little memory"),
        pytest.param("room pods", {"pods": 0}, {}, id="no place for one more pod"),
        pytest.param("anti_affinity", {}, {"anti_affinity": (PodTerm(HOST, DB, ("default",)),)}, id="apart"),
        pytest.param("host_port", {}, {"host_ports": (HostPort("TCP", 80),)}, id="a port that is taken"),
        pytest.param("affinity", {}, {"affinity": (PodTerm(HOST, LabelSelector((Requirement("x", "Exists"),)),
                                                          ("default",)),)}, id="company that is not there"),
        pytest.param("spread", {"zone": "y"}, {"hard_spread": (SpreadConstraint(ZONE, WEB),)}, id="too uneven"),
    ],
)  # fmt: skip
def test_a_node_is_excluded_by(expected: str, other: dict[str, Any], spec: dict[str, Any]) -> None:
    db = pod("db", on="n2", owner="StatefulSet/db", host_ports=(HostPort("TCP", 80),), cpu=0, memory=0)
    webs = [pod(f"w{number}", on="n2") for number in range(2)] if expected == "spread" else []
    moving = pod("p", on="n1", **spec)
    assert _words(_choice([node("n1"), node("n2", **other)], moving, db, *webs)) == {expected: (1, 1)}


def test_a_node_counts_with_each_rule_and_alone_with_none_where_there_are_two() -> None:
    nodes = [node("n1"), node("n2", cpu=1, taints=(taint("gpu"),)), node("n3", cpu=1), node("n4")]
    found = _choice(nodes, pod("p", on="n1", cpu=2))
    assert (found.nodes, found.open) == (3, 1)
    assert _words(found) == {"taint": (1, 0), "room cpu": (2, 1)}


def test_the_nodes_that_a_rule_excludes_and_those_that_are_open_have_names() -> None:
    nodes = [node("n1"), node("n2", cpu=1, taints=(taint("gpu"),)), node("n3", cpu=1), node("n4")]
    found = _choice(nodes, pod("p", on="n1", cpu=2))
    assert found.where.names == ("n4",)
    assert [excluded.where.names for excluded in found.excluded] == [("n2",), ("n2", "n3")]
    assert [excluded.where_alone.names for excluded in found.excluded] == [(), ("n3",)]


def test_a_node_with_just_enough_room_is_not_excluded_for_it() -> None:
    found = _choice([node("n1"), node("n2", cpu=2, taints=(taint("gpu"),))], pod("p", on="n1", cpu=2))
    assert _words(found) == {"taint": (1, 1)}


def test_the_node_itself_is_no_other_node() -> None:
    assert _choice([node("n1")], pod("p", on="n1")) == NodeChoice(0, 0)


@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.booleans(), st.sampled_from("xyz")), min_size=1, max_size=6),
    st.sampled_from([0.5, 1.5, 3]),
    st.lists(st.integers(0, 5), max_size=4),
)
def test_what_no_rule_excludes_is_what_may_take_the_pod(
    rows: list[tuple[int, bool, str]], cpu: float, webs: list[int]
) -> None:
    others = [
        node(f"n{at}", cpu=size, zone=zone, taints=(taint("t"),) if tainted else ())
        for at, (size, tainted, zone) in enumerate(rows, start=1)
    ]
    spread = (SpreadConstraint(ZONE, WEB),)
    moving = pod("p", on="n0", cpu=cpu, hard_spread=spread)
    lying = [pod(f"w{at}", on=f"n{1 + place % len(rows)}", cpu=0.1) for at, place in enumerate(webs)]
    simulation = Simulation.of(cluster([node("n0"), *others], [moving, *lying]))
    packing, kind = simulation.first_packing.copy(), simulation.arrays.kind_of[moving.spec]
    packing.close([0])
    assert choice(packing, kind, 0).open == int(packing.taking(kind).sum())
