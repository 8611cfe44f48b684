"""DaemonSet pods that are still to come keep their room on destinations."""

from typing import Any

import pytest

from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration
from shared.core.placement import Simulation
from tests.builders import cluster, node, pod, taint

SSD = {"disk": "ssd"}
ON_SSD = (NodeTerm((Requirement("disk", "In", ("ssd",)),)),)


def daemon(on: str, cpu: float = 1.5, **spec: Any) -> Pod:
    return pod(f"agent-{on}", on=on, owner="DaemonSet/agent", cpu=cpu, **spec)


@pytest.mark.parametrize(
    ("expected", "daemons", "second"),
    [
        pytest.param(True, [], {}, id="without a DaemonSet there is room"),
        pytest.param(False, [daemon("n1")], {}, id="its pod is to come and takes the room"),
        pytest.param(True, [daemon("n1", cpu=1)], {}, id="there is room for both"),
        pytest.param(True, [daemon("n1", cpu=1), daemon("n2", cpu=1)], {}, id="its pod is there and counts once"),
        pytest.param(True, [daemon("n1", node_selector=SSD)], {}, id="its selector leaves the node out"),
        pytest.param(False, [daemon("n1", node_selector=SSD)], {"labels": SSD}, id="its selector means the node"),
        pytest.param(True, [daemon("n1", node_terms=ON_SSD)], {}, id="its affinity leaves the node out"),
        pytest.param(False, [daemon("n1", node_terms=ON_SSD)], {"labels": SSD}, id="its affinity means the node"),
        pytest.param(True, [daemon("n1", phase=Phase.FAILED)], {}, id="a pod that has ended shows nothing"),
        pytest.param(False, [daemon("n1", cpu=0.5), daemon("n3")], {}, id="of two revisions the most counts"),
    ],
)
def test_a_daemon_pod_still_to_come_keeps_its_room(expected: bool, daemons: list[Pod], second: dict[str, Any]) -> None:
    """n1 has a pod of 3 CPU, n2 has 4, and n3 room for a daemon alone."""
    nodes = [node("n1"), node("n2", **second), node("n3", cpu=1.6)]
    seen = cluster(nodes, [pod("p1", on="n1", cpu=3), *daemons])
    assert (Simulation.of(seen).try_remove("n1") is None) is expected


def test_a_taint_that_a_daemon_set_does_not_tolerate_keeps_its_pods_away() -> None:
    """The pod that moves tolerates it, the DaemonSet only in the second case."""
    gpu = (Toleration("gpu", "Exists"),)
    nodes = [node("n1"), node("n2", taints=(taint("gpu"),))]
    moving = pod("p1", on="n1", cpu=3, tolerations=gpu)
    assert Simulation.of(cluster(nodes, [moving, daemon("n1")])).try_remove("n1") is None
    assert Simulation.of(cluster(nodes, [moving, daemon("n1", tolerations=gpu)])).try_remove("n1") is not None
