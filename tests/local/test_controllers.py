"""Workloads keep their counts, budgets their status, nodes their conditions."""

from infra.local.world.pods import is_ready, node_of
from tests.depth import cases
from tests.local.virtual_cluster import MERGE, VirtualCluster, node, pod, workload

PATH = "/apis/apps/v1/namespaces/default/deployments/web"


def test_a_statefulset_pod_comes_back_under_its_name_once_the_old_one_is_gone() -> None:
    virtual = VirtualCluster([node("a"), node("b")])
    virtual.add("statefulsets", workload("db", replicas=2))
    virtual.run(6)
    old = virtual.store.get("pods", "default", "db-0")["metadata"]["uid"]
    virtual.evict("db-0", gracePeriodSeconds=5)
    virtual.run(3)
    assert virtual.store.get("pods", "default", "db-0")["metadata"]["uid"] == old
    virtual.run(6)
    fresh = virtual.store.get("pods", "default", "db-0")
    assert fresh["metadata"]["uid"] != old
    assert is_ready(fresh)


def test_a_daemonset_runs_on_every_node_cordoned_ones_too() -> None:
    virtual = VirtualCluster(
        [node("a"), node("b", unschedulable=True), node("c", taints=[{"key": "x", "effect": "NoSchedule"}])]
    )
    virtual.add("daemonsets", workload("agent", replicas=None, cpu="100m"))
    virtual.run(4)
    assert sorted(node_of(item) for item in virtual.pods()) == ["a", "b"]
    virtual.store.remove(virtual.store.get("nodes", "", "b"), "test")
    virtual.run(2)
    assert [node_of(item) for item in virtual.pods()] == ["a"]


def test_pods_of_a_deleted_node_are_collected_after_the_quarantine() -> None:
    virtual = VirtualCluster([node("a"), node("b")])
    virtual.add("pods", pod("bare", on="b", phase="Running"))
    virtual.store.remove(virtual.store.get("nodes", "", "b"), "test")
    virtual.run(38)
    assert len(virtual.pods()) == 1
    virtual.run(4)
    assert virtual.pods() == []


def test_a_terminating_pod_leaves_after_its_shutdown_time_at_most_its_grace() -> None:
    virtual = VirtualCluster(shutdown=3.0)
    for name, grace in (("quick", 30), ("capped", 1)):
        virtual.add("pods", pod(name, on="a", phase="Running", terminationGracePeriodSeconds=grace))
        virtual.evict(name)
    virtual.run(2)
    assert [item["metadata"]["name"] for item in virtual.pods()] == ["quick"]
    virtual.run(2)
    assert virtual.pods() == []


def test_a_node_whose_kubelet_dies_goes_unknown_and_is_tainted() -> None:
    virtual = VirtualCluster()
    virtual.world.kubelet.dead.add("a")
    virtual.run(1)
    dead = virtual.store.get("nodes", "", "a")
    assert not is_ready(dead)
    assert [taint["key"] for taint in dead["spec"]["taints"]] == ["node.kubernetes.io/unreachable"]
    virtual.world.kubelet.dead.clear()
    virtual.run(1)
    assert is_ready(virtual.store.get("nodes", "", "a"))
    assert "taints" not in virtual.store.get("nodes", "", "a")["spec"]


@cases(
    "first, costs",
    ("a cost below nothing", 2, {2: "-5"}),
    ("the one without a cost", 2, {0: "1", 1: "2147483647", 3: "7"}),
    ("the lowest", 1, {1: "-2147483648", 2: "-5"}),
    ("33 bits are no cost", 1, {0: "-2147483649", 1: "-1"}),
    ("nor is what is no number", 1, {0: "-", 1: "-1", 2: "x"}),
)
def test_a_replica_set_loses_first_what_costs_least(first: int, costs: dict[int, str]) -> None:
    virtual = VirtualCluster([node(name) for name in "abcd"])
    virtual.add("deployments", workload(replicas=4))
    virtual.run(8)
    names = [item["metadata"]["name"] for item in virtual.pods()]
    for place, cost in costs.items():
        patch = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost}}}
        virtual.call("PATCH", f"/api/v1/namespaces/default/pods/{names[place]}", patch, type=MERGE)

    virtual.call("PATCH", PATH, {"spec": {"replicas": 3}}, type=MERGE)
    virtual.run(60)

    assert {*names} - {item["metadata"]["name"] for item in virtual.pods()} == {names[first]}


def test_a_replica_set_loses_first_what_stands_next_to_its_like_and_then_the_youngest() -> None:
    virtual = VirtualCluster([node("a", cpu="2"), node("b", cpu="1")])
    virtual.add("deployments", workload(replicas=1, cpu="900m"))
    virtual.run(8)
    for replicas in (2, 3):
        virtual.json("PATCH", PATH, {"spec": {"replicas": replicas}}, type=MERGE)
        virtual.run(8)
    ages = {item["metadata"]["name"]: item["metadata"]["creationTimestamp"] for item in virtual.pods()}
    doubled = [item["metadata"]["name"] for item in virtual.pods() if node_of(item) == "a"]
    assert len(doubled) == 2
    youngest = max(doubled, key=lambda name: ages[name])

    virtual.json("PATCH", PATH, {"spec": {"replicas": 2}}, type=MERGE)
    virtual.run(60)
    assert {*ages} - {item["metadata"]["name"] for item in virtual.pods()} == {youngest}
