"""What the simulated scheduler filters and scores by, and how it counts quantities."""

from typing import Any

from infra.local.scheduling import fits, node_infos_of
from infra.local.world.kinds import Json
from infra.local.world.pods import is_unschedulable, node_of, units
from tests.depth import cases
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


PORT = ports()
CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}


@cases(
    "expected, target, asking",
    ("fits", True, {}, {}),
    ("cpu", False, {}, {"cpu": "5"}),
    ("memory", False, {}, {"memory": "20Gi"}),
    ("pod count", False, {"pods": 0}, {}),
    ("cordoned", False, {"unschedulable": True}, {}),
    ("tolerates the cordon", True, {"unschedulable": True}, {"tolerations": [CORDON]}),
    ("tainted", False, {"taints": TAINT}, {}),
    ("tolerated", True, {"taints": TAINT}, {"tolerations": [{"key": "k", "value": "v"}]}),
    ("tolerates all", True, {"taints": TAINT}, {"tolerations": [{"operator": "Exists"}]}),
    ("selector", False, {}, {"nodeSelector": {"disk": "ssd"}}),
    ("affinity", True, {"labels": {"disk": "ssd"}}, {"affinity": pinned("In", "ssd")}),
    ("and against", False, {"labels": {"disk": "ssd"}}, {"affinity": pinned("NotIn", "ssd")}),
)
def test_a_node_is_refused_for_its_own_reasons(expected: bool, target: Any, asking: Any) -> None:
    place = node("a", **target)
    picture = node_infos_of([place], [])
    assert fits(pod(**asking), picture.by_name["a"], picture) == expected


@cases(
    "expected, existing, asking",
    ("anti-affinity", False, {"app": "web"}, {"affinity": affinity("podAntiAffinity")}),
    ("anti-affinity of the one there", False, {"affinity": affinity("podAntiAffinity")}, {}),
    ("anti-affinity to others", True, {"app": "db"}, {"affinity": affinity("podAntiAffinity")}),
    ("affinity", True, {"app": "web"}, {"affinity": affinity("podAffinity")}),
    ("to nobody", False, {"app": "db"}, {"app": "api", "affinity": affinity("podAffinity")}),
    ("the first of a group", True, {"app": "db"}, {"affinity": affinity("podAffinity")}),
    ("spread over zones", False, {}, {"topologySpreadConstraints": spread()}),
    ("a wider skew", True, {}, {"topologySpreadConstraints": spread(2)}),
    ("an empty selector", True, {}, {"topologySpreadConstraints": spread(labelSelector={})}),
    ("host port", False, {"containers": PORT}, {"containers": PORT}),
    ("another protocol", True, {"containers": PORT}, {"containers": ports(protocol="UDP")}),
)
def test_a_node_is_refused_for_the_pods_around(expected: bool, existing: Any, asking: Any) -> None:
    nodes = [node("a"), node("b", labels={ZONE: "z2"})]
    picture = node_infos_of(nodes, [pod("there", on="a", phase="Running", **existing)])
    assert fits(pod(**asking), picture.by_name["a"], picture) == expected


@cases(
    "expected, keys, on",
    ("the companion is on another rack", False, ["rack"], "b"),
    ("one on a node without the key is none: the first of a group", True, ["rack"], "c"),
    ("one on a node with one of the keys is there", False, ["rack", "row"], "c"),
    ("the node itself lacks the key", False, ["row"], "c"),
)
def test_a_companion_counts_by_the_topology_keys_of_its_node(expected: bool, keys: list[str], on: str) -> None:
    """Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, satisfyPodAffinity."""
    nodes = [node("a", labels={"rack": "1"}), node("b", labels={"rack": "2"}), node("c", labels={"row": "1"})]
    picture = node_infos_of(nodes, [pod("there", on=on, phase="Running")])
    required = [{"topologyKey": key, "labelSelector": WEB} for key in keys]
    asking = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})

    assert fits(asking, picture.by_name["a"], picture) == expected


@cases(
    "expected, policy",
    ("a tainted node is an empty domain by default", False, {}),
    ("honoured taints leave the domain out", True, {"nodeTaintsPolicy": "Honor"}),
)
def test_an_empty_tainted_domain_counts_in_a_spread(expected: bool, policy: Any) -> None:
    picture = node_infos_of([node("a"), node("b", taints=TAINT)], [pod("there", on="a", phase="Running")])
    asking = pod(topologySpreadConstraints=spread(key=HOST, **policy))
    assert fits(asking, picture.by_name["a"], picture) == expected


def test_a_pod_that_fits_nowhere_is_tried_again() -> None:
    virtual = VirtualCluster([node("a", cpu="1"), node("b", unschedulable=True)])
    virtual.add("pods", pod("big", cpu="2"))
    virtual.run(1)
    assert is_unschedulable(virtual.pods()[0])
    virtual.change("nodes", "", "b", lambda thing: thing["spec"].pop("unschedulable"))
    virtual.run(1)
    assert node_of(virtual.pods()[0]) == "b"


@cases("expected, packs", ("spreads", "b", False), ("packs", "a", True))
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
