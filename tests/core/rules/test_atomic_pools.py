"""Nodes that the autoscaler removes together or not at all are refused by name, and only those."""

from dataclasses import replace
from typing import Any

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import TPU, Resources
from shared.core.records.state import ClusterState
from shared.core.rules.nodes import atomic_group
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, policy, taint
from tests.core.planning.passes import ordered, plan, verdicts

QUEUED, PROVISIONED = names.QUEUED_KEYS
GROUP, NAMED = names.PLACEMENT_LABELS


def tpu(chips: int, topology: str = "", machine: str = "ct5lp-hightpu-4t", **changes: Any) -> Node:
    labels = {names.MACHINE_LABEL: machine, **({names.TPU_TOPOLOGY_LABEL: topology} if topology else {})}
    plain = node("n1", cpu=112, memory=180, labels=labels, **changes)
    return replace(plain, allocatable=plain.allocatable + Resources.of({TPU: chips}))


@pytest.mark.parametrize(
    ("expected", "subject", "pool"),
    [
        pytest.param("", node("n1"), NodePool("a"), id="a plain node"),
        pytest.param("", node("n1"), None, id="a pool that GKE does not report"),
        # TPU
        pytest.param("TPU slice 4x8 of several hosts", tpu(4, "4x8"), None, id="eight hosts by their label"),
        pytest.param("TPU slice 4x8 of several hosts", tpu(4), NodePool("a", tpu_topology="4x8"), id="by the API"),
        pytest.param("TPU slice 2x2x2 of several hosts", tpu(4, "2x2x2"), None, id="three dimensions"),
        pytest.param("", tpu(8, "2x4", "ct5lp-hightpu-8t"), None, id="one host with all chips"),
        pytest.param("", tpu(1, "1x1", "ct5lp-hightpu-1t"), NodePool("a", tpu_topology="1x1"), id="one chip"),
        pytest.param("", tpu(0, "2x4", "ct5lp-hightpu-8t"), None, id="one host whose device plugin is not up yet"),
        pytest.param("TPU slice 4x8 of several hosts", tpu(0, "4x8"), None, id="nor is that of several"),
        pytest.param("TPU slice 2x2 of several hosts", tpu(0, "2x2", "custom"), None, id="chips that nothing shows"),
        pytest.param("TPU slice odd of several hosts", tpu(4, "odd"), None, id="a shape that cannot be read"),
        # queued provisioning
        pytest.param("queued provisioning", node("n1"), NodePool("a", queued=True), id="queued by the API"),
        pytest.param("queued provisioning", node("n1", labels={QUEUED: "true"}), None, id="by a label"),
        pytest.param("queued provisioning", node("n1", labels={PROVISIONED: "r-1"}), None, id="by its request's label"),
        pytest.param("queued provisioning", node("n1", taints=(taint(QUEUED),)), None, id="by a taint"),
        # compact placement
        pytest.param("compact placement", node("n1"), NodePool("a", compact=True), id="compact by the API"),
        pytest.param("compact placement", node("n1", labels={GROUP: "g"}), None, id="by its group's label"),
        pytest.param("compact placement", node("n1", labels={NAMED: "mine"}), None, id="by its policy's label"),
    ],
)
def test_what_binds_a_node_to_others(expected: str, subject: Node, pool: NodePool | None) -> None:
    assert atomic_group(subject, pool) == expected


def test_an_idle_slice_of_several_hosts_is_left_whole() -> None:
    hosts = [replace(tpu(4, "4x8"), name=f"tpu-{number}", uid=f"uid-tpu-{number}") for number in range(8)]

    made = plan(cluster([*hosts, node("web")]), policy(max_nodes_per_pass=9))

    assert ordered(made) == ["web"]
    assert {verdicts(made)[host.name] for host in hosts} == {("keep", "atomic_pool")}


def test_what_could_go_at_all_counts_no_part_of_a_group() -> None:
    snapshot = cluster([node("n1"), node("n2", labels={QUEUED: "true"}), node("n3")])

    assert potential(Situation(snapshot, ClusterState(), policy()), load()).nodes == ("n1", "n3")
