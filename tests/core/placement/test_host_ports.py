"""Ports of the host, case by case, as the scheduler's NodePorts plugin judges them.

Source: kubernetes pkg/scheduler/framework/plugins/nodeports/node_ports.go and `HostPortInfo.CheckConflict` of
k8s.io/kube-scheduler/framework: protocol and number decide, addresses as text, `0.0.0.0` stands for all.
"""

from typing import Any

from shared.core.cluster import names
from shared.core.cluster.pod import HostPort, Phase
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from tests.builders import NOW, cluster, node, pod
from tests.depth import cases

WEB = HostPort("TCP", 80)


def at(address: str) -> HostPort:
    return HostPort("TCP", 80, address)


def taken(snapshot: Snapshot, *order: str) -> list[str]:
    simulation = Simulation.of(snapshot)
    return [name for name in order if simulation.try_remove(name) is None]


@cases(
    "free, one, other",
    ("the same port", False, WEB, WEB),
    ("another number", True, WEB, HostPort("TCP", 81)),
    ("another protocol", True, WEB, HostPort("UDP", 80)),
    ("the same address", False, at("10.0.0.1"), at("10.0.0.1")),
    ("another address", True, at("10.0.0.1"), at("10.0.0.2")),
    ("one address and all", False, at("10.0.0.1"), WEB),
    ("all addresses of another protocol", True, at("10.0.0.1"), HostPort("UDP", 80)),
    ("all of either family", False, at("::"), WEB),
    ("all of IPv6, which on most hosts holds IPv4", False, at("::"), at("10.0.0.1")),
    ("two of IPv6", True, at("fd00::1"), at("fd00::2")),
)
def test_a_port_bars_a_node_from_either_side(free: bool, one: HostPort, other: HostPort) -> None:
    for mine, theirs in ((one, other), (other, one)):
        pods = [pod("mover", on="n1", host_ports=(mine,)), pod("stayer", on="n2", host_ports=(theirs,))]
        assert bool(taken(cluster([node("n1"), node("n2")], pods), "n1")) is free


@cases(
    "free, mover, stayer",
    ("a pod without ports may go anywhere", True, {}, {"host_ports": (WEB,)}),
    ("a node without such pods takes any", True, {"host_ports": (WEB,)}, {}),
    ("one of several is enough", False, {"host_ports": (HostPort("TCP", 81), WEB)}, {"host_ports": (WEB,)}),
    ("a pod does not bar itself", True, {"host_ports": (WEB, WEB)}, {}),
    ("a daemon's port stays", False, {"host_ports": (WEB,)}, {"host_ports": (WEB,), "owner": "DaemonSet/x"}),
    ("a static pod's port stays", False, {"host_ports": (WEB,)},
     {"host_ports": (WEB,), "owner": None, "annotations": {names.MIRROR: "x"}}),
    ("a terminating pod holds its port", False, {"host_ports": (WEB,)}, {"host_ports": (WEB,), "deleting": NOW}),
    ("a finished one has let it go", True, {"host_ports": (WEB,)}, {"host_ports": (WEB,), "phase": Phase.SUCCEEDED}),
)  # fmt: skip
def test_whose_ports_count(free: bool, mover: dict[str, Any], stayer: dict[str, Any]) -> None:
    pods = [pod("mover", on="n1", **mover), pod("stayer", on="n2", **stayer)]
    assert bool(taken(cluster([node("n1"), node("n2")], pods), "n1")) is free


def test_of_two_pods_with_one_port_each_needs_a_node_of_its_own() -> None:
    pods = [pod("a", on="n1", host_ports=(at("10.0.0.1"),)), pod("b", on="n1", host_ports=(at("10.0.0.2"),))]
    greedy = pod("c", on="n2", host_ports=(WEB,))
    nodes = [node("n1"), node("n2"), node("n3")]

    assert taken(cluster(nodes, pods), "n1", "n2") == ["n1", "n2"]
    assert taken(cluster(nodes, [*pods, greedy]), "n1", "n2") == ["n1"]
    assert taken(cluster(nodes[:2], [*pods, greedy]), "n1") == []


def test_a_pod_that_moved_holds_its_port_where_it_went() -> None:
    pods = [pod("a", on="n1", host_ports=(WEB,)), pod("b", on="n2", host_ports=(WEB,))]

    assert taken(cluster([node("n1"), node("n2"), node("n3")], pods), "n2", "n1") == ["n2"]
    assert taken(cluster([node("n1"), node("n2"), node("n3"), node("n4")], pods), "n2", "n1") == ["n2", "n1"]
