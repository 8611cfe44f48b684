"""What the simulated scheduler filters and scores by, and how it counts quantities."""

from typing import Any

import pytest

from infra.local.scheduling.filters import node_infos_of, refusal
from infra.local.world.kinds import Json
from infra.local.world.pods import is_unschedulable, node_of, units
from tests.local.virtual_cluster import VirtualCluster, node, pod, workload

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"matchLabels": {"app": "web"}}


def affinity(sort: str, key: str = HOST, **term: Any) -> Json:
    required = [{"topologyKey": key, "labelSelector": WEB, **term}]
    return {sort: {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def pinned(operator: str, *values: str) -> Json:
    terms = [{"matchExpressions": [{"key": "disk", "operator": operator, "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def spread(skew: int = 1, key: str = ZONE, **more: Any) -> list[Json]:
    return [{"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB, **more}]


TAINT = [{"key": "k", "value": "v", "effect": "NoSchedule"}]


def ports(**more: Any) -> list[Json]:
    return [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80, **more}]}]


PORT, ONE_ADDRESS, OTHER_ADDRESS = ports(), ports(hostIP="10.0.0.1"), ports(hostIP="10.0.0.2")
UNSELECTED = "node(s) didn't match Pod's node affinity/selector"
UNATTRACTED = "node(s) didn't match pod affinity rules"
REPELLED = "node(s) didn't match pod anti-affinity rules"
BY_OTHERS = "node(s) didn't satisfy existing pods anti-affinity rules"
SKEWED = "node(s) didn't match pod topology spread constraints"
NO_PORT = "node(s) didn't have free ports for the requested pod ports"
CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}


@pytest.mark.parametrize(
    ("expected", "target", "asking"),
    [
        pytest.param(None, {}, {}, id="fits"),
        pytest.param("Insufficient cpu", {}, {"cpu": "5"}, id="cpu"),
        pytest.param("Insufficient memory", {}, {"memory": "20Gi"}, id="memory"),
        pytest.param("Too many pods", {"pods": 0}, {}, id="pod count"),
        pytest.param("node(s) were unschedulable", {"unschedulable": True}, {}, id="cordoned"),
        pytest.param(None, {"unschedulable": True}, {"tolerations": [CORDON]}, id="tolerates the cordon"),
        pytest.param("node(s) had untolerated taint {k: v}", {"taints": TAINT}, {}, id="tainted"),
        pytest.param(None, {"taints": TAINT}, {"tolerations": [{"key": "k", "value": "v"}]}, id="tolerated"),
        pytest.param(None, {"taints": TAINT}, {"tolerations": [{"operator": "Exists"}]}, id="tolerates all"),
        pytest.param(UNSELECTED, {}, {"nodeSelector": {"disk": "ssd"}}, id="selector"),
        pytest.param(None, {"labels": {"disk": "ssd"}}, {"affinity": pinned("In", "ssd")}, id="affinity"),
        pytest.param(UNSELECTED, {"labels": {"disk": "ssd"}}, {"affinity": pinned("NotIn", "ssd")}, id="and against"),
    ],
)
def test_a_node_is_refused_for_its_own_reasons(expected: str | None, target: Any, asking: Any) -> None:
    place = node("a", **target)
    picture = node_infos_of([place], [])
    assert refusal(pod(**asking), picture.by_name["a"], picture) == expected


@pytest.mark.parametrize(
    ("expected", "existing", "asking"),
    [
        pytest.param(REPELLED, {"app": "web"}, {"affinity": affinity("podAntiAffinity")}, id="anti-affinity"),
        pytest.param(BY_OTHERS, {"affinity": affinity("podAntiAffinity")}, {}, id="anti-affinity of the one there"),
        pytest.param(None, {"app": "db"}, {"affinity": affinity("podAntiAffinity")}, id="anti-affinity to others"),
        pytest.param(None, {"app": "web"}, {"affinity": affinity("podAffinity")}, id="affinity"),
        pytest.param(UNATTRACTED, {"app": "db"}, {"app": "api", "affinity": affinity("podAffinity")}, id="to nobody"),
        pytest.param(None, {"app": "db"}, {"affinity": affinity("podAffinity")}, id="the first of a group"),
        pytest.param(SKEWED, {}, {"topologySpreadConstraints": spread()}, id="spread over zones"),
        pytest.param(None, {}, {"topologySpreadConstraints": spread(2)}, id="a wider skew"),
        pytest.param(None, {}, {"topologySpreadConstraints": spread(labelSelector={})}, id="an empty selector"),
        pytest.param(NO_PORT, {"containers": PORT}, {"containers": PORT}, id="host port"),
        pytest.param(None, {"containers": PORT}, {"containers": ports(protocol="UDP")}, id="another protocol"),
        pytest.param(NO_PORT, {"containers": PORT}, {"containers": ONE_ADDRESS}, id="one address, all taken"),
        pytest.param(None, {"containers": ONE_ADDRESS}, {"containers": OTHER_ADDRESS}, id="another address"),
    ],
)
def test_a_node_is_refused_for_the_pods_around(expected: str | None, existing: Any, asking: Any) -> None:
    nodes = [node("a"), node("b", labels={ZONE: "z2"})]
    picture = node_infos_of(nodes, [pod("there", on="a", phase="Running", **existing)])
    assert refusal(pod(**asking), picture.by_name["a"], picture) == expected


@pytest.mark.parametrize(
    ("expected", "keys", "on"),
    [
        pytest.param(UNATTRACTED, ["rack"], "b", id="the companion is on another rack"),
        pytest.param(None, ["rack"], "c", id="one on a node without the key is none: the first of a group"),
        pytest.param(UNATTRACTED, ["rack", "row"], "c", id="one on a node with one of the keys is there"),
        pytest.param(UNATTRACTED, ["row"], "c", id="the node itself lacks the key"),
    ],
)
def test_a_companion_counts_by_the_topology_keys_of_its_node(expected: str | None, keys: list[str], on: str) -> None:
    """Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, satisfyPodAffinity."""
    nodes = [node("a", labels={"rack": "1"}), node("b", labels={"rack": "2"}), node("c", labels={"row": "1"})]
    picture = node_infos_of(nodes, [pod("there", on=on, phase="Running")])
    required = [{"topologyKey": key, "labelSelector": WEB} for key in keys]
    asking = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})

    assert refusal(asking, picture.by_name["a"], picture) == expected


@pytest.mark.parametrize(
    ("expected", "policy"),
    [
        pytest.param(SKEWED, {}, id="a tainted node is an empty domain by default"),
        pytest.param(None, {"nodeTaintsPolicy": "Honor"}, id="honoured taints leave the domain out"),
    ],
)
def test_an_empty_tainted_domain_counts_in_a_spread(expected: str | None, policy: Any) -> None:
    picture = node_infos_of([node("a"), node("b", taints=TAINT)], [pod("there", on="a", phase="Running")])
    asking = pod(topologySpreadConstraints=spread(key=HOST, **policy))
    assert refusal(asking, picture.by_name["a"], picture) == expected


def test_a_pod_that_fits_nowhere_shows_why_and_is_tried_again() -> None:
    virtual = VirtualCluster([node("a", cpu="1"), node("b", unschedulable=True)])
    virtual.add("pods", pod("big", cpu="2"))
    virtual.run(1)
    assert is_unschedulable(virtual.pods()[0])
    message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
    assert [(item["reason"], item["message"]) for item in virtual.store.all("events")] == [
        ("FailedScheduling", message)
    ]
    virtual.change("nodes", "", "b", lambda thing: thing["spec"].pop("unschedulable"))
    virtual.run(1)
    assert node_of(virtual.pods()[0]) == "b"


@pytest.mark.parametrize(
    ("expected", "packs"),
    [
        pytest.param("b", False, id="spreads"),
        pytest.param("a", True, id="packs"),
    ],
)
def test_the_scoring_decides_between_nodes_that_fit(expected: str, packs: bool) -> None:
    virtual = VirtualCluster([node("a"), node("b")], packs=packs)
    virtual.add("pods", pod("there", on="a", phase="Running"))
    virtual.add("pods", pod("new"))
    virtual.run(1)
    assert node_of(virtual.store.get("pods", "default", "new")) == expected


def test_pods_of_one_round_do_not_overfill_a_node() -> None:
    virtual = VirtualCluster([node("a", cpu="2"), node("b", cpu="2")])
    virtual.add("deployments", workload(replicas=5))
    virtual.run(3)
    assert sorted(node_of(item) for item in virtual.pods()) == ["", "a", "a", "b", "b"]


def test_units_round_up() -> None:
    assert (units("cpu", "0.1001"), units("memory", "1.5")) == (101, 2)
