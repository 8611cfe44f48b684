"""The simulated autoscaler drains what is below its gate: which nodes, in which order, past which obstacles."""

from dataclasses import replace
from typing import Any

from infra.local.scaling.view import CANDIDATE, OPTIMIZE_UTILIZATION, TO_BE_DELETED, has_taint
from infra.local.world.kubelet import PREFIX
from infra.local.world.pods import is_ready, node_of
from tests.depth import cases
from tests.local.virtual_cluster import QUICK, AutoscaledCluster, budget, main_pool, pod, pooled, workload


def spread(scaled: AutoscaledCluster, name: str, places: list[str], *, breaks: bool = False, **more: Any) -> None:
    """A ReplicaSet with one running pod on each of the nodes named; if it `breaks`, no replacement becomes ready."""
    knobs = {"annotations": {f"{PREFIX}never-ready": "true"}} if breaks else {}
    owner = scaled.add("replicasets", workload(name, replicas=len(places), **{**more, **knobs}))
    uid = owner["metadata"]["uid"]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": uid, "controller": True}
    for number, place in enumerate(places):
        fresh = pod(f"{name}-{number}", on=place, phase="Running", app=name, **more)
        fresh["metadata"]["ownerReferences"] = [reference]
        scaled.add("pods", fresh)


def candidates(scaled: AutoscaledCluster) -> list[str]:
    return [item["metadata"]["name"] for item in scaled.store.all("nodes") if has_taint(item, CANDIDATE)]


def evictions(scaled: AutoscaledCluster) -> list[tuple[str, str]]:
    return [(entry["name"], entry["actor"]) for entry in scaled.world.record.of("eviction")]


def test_a_node_below_the_gate_is_marked_then_drained_then_deleted() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")])
    spread(scaled, "web", ["a", "b", "b"])
    scaled.live(2)
    assert candidates(scaled) == ["a"]
    scaled.live(10)
    leaving = scaled.store.get("nodes", "", "a")
    assert has_taint(leaving, TO_BE_DELETED)
    assert leaving["spec"]["unschedulable"]
    scaled.live(50)
    assert (scaled.names(), scaled.events()) == (["b"], ["ScaleDown", "ScaleDown"])
    assert evictions(scaled) == [("web-0", "cluster-autoscaler")]
    assert [(node_of(item), is_ready(item)) for item in scaled.pods(app="web")] == [("b", True)] * 3


@cases(
    "expected, profile, cpu",
    ("balanced: 75 % is above the gate", [], QUICK, "3"),
    ("balanced: 50 % is not", ["a"], QUICK, "2"),
    ("optimized: 75 % is not", ["a"], replace(QUICK, threshold=OPTIMIZE_UTILIZATION.threshold), "3"),
    ("optimized: 88 % is", [], replace(QUICK, threshold=OPTIMIZE_UTILIZATION.threshold), "3500m"),
)
def test_the_gate_of_each_profile(expected: list[str], profile: Any, cpu: str) -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b", cpu="8")], settings=profile)
    spread(scaled, "web", ["a"], cpu=cpu)
    scaled.add("pods", pod("stays", on="b", phase="Running", cpu="1"))  # nothing would start it again: b stays
    scaled.live(2)
    assert candidates(scaled) == expected


def of_class(name: str, **said: Any) -> AutoscaledCluster:
    """Node `a` with the label of a class, and `b` beside it; the class `web` says so."""
    first = pooled("a")
    first["metadata"]["labels"]["cloud.google.com/compute-class"] = name
    scaled = AutoscaledCluster([first, pooled("b", cpu="8")])
    scaled.add("computeclasses", {"metadata": {"name": "web"}, "spec": {"autoscalingPolicy": said}})
    return scaled


@cases(
    "expected, cpu, name, said",
    ("a reaper leaves a node of which a bit is asked", [], "1m", "web", {"consolidationThreshold": 0}),
    ("one whose pods ask for nothing goes", ["a"], "0", "web", {"consolidationThreshold": 0}),
    ("a class that is not there shows nothing", ["a"], "2", "other", {"consolidationThreshold": 0}),
    ("one that shows nothing: the profile's 50 %", ["a"], "2", "web", {}),
    ("a percentage below the profile's", [], "2", "web", {"consolidationThreshold": 25}),
    ("and one above it", ["a"], "3", "web", {"consolidationThreshold": 75}),
)
def test_the_threshold_of_a_compute_class_holds_for_its_nodes(
    expected: list[str], cpu: str, name: str, said: dict[str, int]
) -> None:
    scaled = of_class(name, **said)
    spread(scaled, "web", ["a"], cpu=cpu, memory="0")
    scaled.add("pods", pod("stays", on="b", phase="Running", cpu="1"))
    scaled.live(2)
    assert candidates(scaled) == expected


def test_the_delay_of_a_compute_class_holds_for_its_nodes() -> None:
    scaled = of_class("web", consolidationDelayMinutes=1)
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    scaled.live(60)
    assert scaled.names() == ["a", "b"]
    scaled.live(10)
    assert scaled.names() == ["b"]


def test_what_one_node_takes_is_not_there_for_the_next_and_chosen_nodes_are_no_destination() -> None:
    """Three nodes at 50 %: the first goes onto the second or third, and then nothing is left to go onto."""
    scaled = AutoscaledCluster([pooled("a"), pooled("b"), pooled("c")])
    spread(scaled, "web", ["a", "b", "c"], cpu="2")
    scaled.live(2)
    assert candidates(scaled) == ["a"]
    scaled.live(60)
    assert len(scaled.names()) == 2


TAINT = {"key": "team", "value": "x", "effect": "NoSchedule"}


@cases(
    "more, beside",
    ("a selector that only this node has", {"nodeSelector": {"kubernetes.io/hostname": "a"}}, {}),
    ("more than is free elsewhere", {"cpu": "2500m"}, {}),
    ("not safe", {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, {}),
    ("a tainted node takes nothing", {}, {"taints": [TAINT]}),
)
def test_a_pod_that_cannot_move_keeps_its_node(more: Any, beside: Any) -> None:
    scaled = AutoscaledCluster([pooled("a", cpu="8"), pooled("b", **beside)])
    spread(scaled, "web", ["a"], **more)
    scaled.add("pods", pod("stays", on="b", phase="Running", cpu="2"))
    scaled.live(30)
    assert (candidates(scaled), scaled.names(), evictions(scaled)) == ([], ["a", "b"], [])


def test_a_budget_that_is_shut_keeps_the_node_and_is_asked_again_after_the_recheck() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")], settings=replace(QUICK, recheck=20))
    spread(scaled, "web", ["a", "b", "b"])
    guard = scaled.add("poddisruptionbudgets", budget(maxUnavailable=0))
    scaled.live(5)
    assert candidates(scaled) == []
    scaled.store.remove(scaled.store.get("poddisruptionbudgets", "default", guard["metadata"]["name"]), "test")
    scaled.live(10)
    assert candidates(scaled) == []
    scaled.live(10)
    assert candidates(scaled) == ["a"]


def test_a_budget_of_one_pod_lets_one_node_be_unneeded_at_a_time() -> None:
    """Both nodes have a pod of it, and there is room for both."""
    scaled = AutoscaledCluster([pooled("a"), pooled("b"), pooled("c")])
    spread(scaled, "web", ["a", "b", "c"])
    scaled.add("poddisruptionbudgets", budget(maxUnavailable=1))
    scaled.live(5)
    assert len(candidates(scaled)) == 1


def test_a_system_pod_without_a_budget_holds_its_node() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")])
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "dns", "uid": "u", "controller": True}
    dns = pod("dns", on="a", phase="Running")
    dns["metadata"] |= {"namespace": "kube-system", "ownerReferences": [owner]}
    scaled.add("pods", dns)
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    scaled.live(3)
    assert candidates(scaled) == []


def test_one_occupied_node_at_a_time_and_empty_ones_in_bulk() -> None:
    names = ["a", "b", "c", "d", "e", "full"]
    scaled = AutoscaledCluster([pooled(name, cpu="8" if name == "full" else "4") for name in names])
    spread(scaled, "web", ["a", "b"])
    spread(scaled, "base", ["full"], cpu="5")
    scaled.live(12)
    leaving = [item["metadata"]["name"] for item in scaled.store.all("nodes") if has_taint(item, TO_BE_DELETED)]
    assert leaving == ["a", "c", "d", "e"]
    scaled.live(100)
    assert scaled.names() == ["full"]


def test_evictions_that_a_budget_refuses_come_again_and_after_their_time_the_node_is_uncordoned() -> None:
    """The second pod of the node never gets its turn: the replacement of the first does not become ready."""
    scaled = AutoscaledCluster([pooled("a"), pooled("b")], settings=replace(QUICK, eviction_time=30))
    spread(scaled, "web", ["a", "a"], breaks=True, cpu="500m")
    spread(scaled, "base", ["b"], cpu="2500m")
    scaled.add("poddisruptionbudgets", budget(minAvailable=1))
    scaled.live(20)
    assert (len(evictions(scaled)), has_taint(scaled.store.get("nodes", "", "a"), TO_BE_DELETED)) == (1, True)
    scaled.live(30)
    spec = scaled.store.get("nodes", "", "a")["spec"]
    assert ("unschedulable" in spec, len(evictions(scaled))) == (False, 1)
    assert scaled.events() == ["ScaleDownFailed", "ScaleDown"]


def test_a_pod_that_does_not_end_in_time_fails_the_removal() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")], settings=replace(QUICK, grace_headroom=5))
    spread(scaled, "web", ["a"], terminationGracePeriodSeconds=1)
    spread(scaled, "base", ["b"], cpu="3")
    scaled.live(11)
    scaled.world.kubelet.dead.add("a")  # nobody ends the pod any more
    scaled.live(10)
    assert (scaled.names(), scaled.events()) == (["a", "b"], ["ScaleDownFailed", "ScaleDown"])


def test_a_waiting_pod_has_the_room_before_any_candidate() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b"), pooled("c")], main_pool("z1", max_node_count=3))
    spread(scaled, "web", ["a"], cpu="2")
    spread(scaled, "base", ["b"], cpu="2500m")
    spread(scaled, "rest", ["c"], cpu="2500m")
    scaled.live(2)
    assert candidates(scaled) == []
