"""The simulated autoscaler: scale-up, capacity buffers, and what it reaches by itself."""

from typing import Any

from infra.local.scaling.view import CANDIDATE, TO_BE_DELETED, has_taint
from infra.local.scenario import MachinePool, parse
from infra.local.simulated_gke import RestingCluster, leave_alone
from infra.local.world.kinds import Json
from tests.depth import cases
from tests.local.virtual_cluster import AutoscaledCluster, main_pool, pod, pooled

OURS = {"key": "status-taint.cluster-autoscaler.kubernetes.io/ebb", "value": "o1", "effect": "NoSchedule"}


def two_nodes(pool: MachinePool | None = None, **more: Any) -> AutoscaledCluster:
    """An empty node, and one that a pod keeps."""
    scaled = AutoscaledCluster([pooled("a", **more), pooled("b")], pool)
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    return scaled


def test_an_empty_node_gets_the_taints_in_order_and_goes_after_its_time() -> None:
    scaled = two_nodes()
    scaled.live(2)
    assert has_taint(scaled.store.get("nodes", "", "a"), CANDIDATE)
    scaled.live(10)
    assert has_taint(scaled.store.get("nodes", "", "a"), TO_BE_DELETED)
    scaled.live(4)
    assert (scaled.names(), scaled.events()) == (["b"], ["ScaleDown", "ScaleDown"])


def test_an_empty_node_that_is_not_ready_is_left_alone_as_one_that_still_boots() -> None:
    scaled = two_nodes()
    scaled.world.kubelet.dead.add("a")
    scaled.live(25)
    assert scaled.names() == ["a", "b"]


@cases(
    "expected, pool, more",
    ("cordoned and tainted by Ebb", ["b"], main_pool(), {"unschedulable": True, "taints": [OURS]}),
    ("the zone is at its minimum", ["a", "b"], main_pool(min_node_count=2), {}),
    ("the pool is not autoscaled", ["a", "b"], main_pool(enabled=False), {}),
    ("scale-down is disabled", ["a", "b"], main_pool(),
     {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}),
)  # fmt: skip
def test_which_empty_nodes_go(expected: list[str], pool: MachinePool, more: Any) -> None:
    scaled = two_nodes(pool, **more)
    scaled.live(25)
    assert scaled.names() == expected


@cases(
    "expected, more",
    ("a movable pod stays", ["a"], {}),
    ("a finished pod does not hold a node", [], {"phase": "Succeeded"}),
    ("a mirror pod does not", [], {"annotations": {"kubernetes.io/config.mirror": "x"}}),
    ("nor a large one", [], {"cpu": "3", "annotations": {"kubernetes.io/config.mirror": "x"}}),
)
def test_which_pods_hold_a_node(expected: list[str], more: Any) -> None:
    scaled = AutoscaledCluster([pooled("a")])
    scaled.add("pods", pod("p", on="a", **{"phase": "Running", **more}))
    scaled.live(25)
    assert scaled.names() == expected


def test_the_clock_starts_again_when_a_pod_comes_between() -> None:
    scaled = AutoscaledCluster([pooled("a")])
    scaled.live(8)
    scaled.add("pods", pod("p", on="a", phase="Running", terminationGracePeriodSeconds=1))
    scaled.live(2)
    assert not has_taint(scaled.store.get("nodes", "", "a"), CANDIDATE)
    scaled.evict("p")
    scaled.live(9)
    assert scaled.names() == ["a"]


def test_a_failed_deletion_uncordons_a_node_that_it_did_not_cordon_and_leaves_our_taint() -> None:
    scaled = AutoscaledCluster([pooled("a", unschedulable=True, taints=[OURS])])
    scaled.autoscaler.fail_deletions(frozenset({"a"}))
    scaled.live(16)
    spec = scaled.store.get("nodes", "", "a")["spec"]
    assert ("unschedulable" in spec, OURS in spec["taints"]) == (False, True)
    assert scaled.events() == ["ScaleDownFailed", "ScaleDown"]


def test_a_waiting_pod_brings_one_node_in_the_emptier_zone() -> None:
    scaled = AutoscaledCluster([pooled("a", cpu="1")])
    scaled.add("pods", pod("p", cpu="2"))
    scaled.add("pods", pod("q", cpu="1500m"))
    scaled.live(3)
    fresh = [item for item in scaled.store.all("nodes") if item["metadata"]["name"] != "a"]
    assert [item["metadata"]["labels"]["topology.kubernetes.io/zone"] for item in fresh] == ["z2"]
    assert "TriggeredScaleUp" in scaled.events()
    scaled.live(3)
    assert all(item["spec"].get("nodeName") for item in scaled.pods())


def test_a_pool_at_its_maximum_does_not_grow() -> None:
    scaled = AutoscaledCluster([pooled("a", cpu="1")], main_pool("z1", max_node_count=1))
    scaled.add("pods", pod("p", cpu="2"))
    scaled.live(5)
    assert scaled.names() == ["a"]


SCENARIO = """
profile: {profile}
pools: [{{name: web, count: 6, zones: [z], autoscaling: {{minNodeCount: {least}}}}}]
workloads:
  - {{name: app, replicas: 6, requests: {{cpu: "{cpu}", memory: 1Gi}}, nodes: [web/0-5]}}
  - {{name: keeper, replicas: 6, requests: {{cpu: "1", memory: 1Gi}}, nodes: [web/0-5]}}
"""


def rest(profile: str = "BALANCED", cpu: str = "500m", least: int = 0) -> RestingCluster:
    return leave_alone(parse(SCENARIO.format(profile=profile, cpu=cpu, least=least)))


@cases(
    "left, given",
    ("balanced: nodes at 38 % become full or go", 3, {}),
    ("balanced: nodes at 61 % stay, whatever is free", 6, {"cpu": "1400m"}),
    ("optimize-utilization drains those, too", 4, {"profile": "OPTIMIZE_UTILIZATION", "cpu": "1400m"}),
    ("not below the pool's minimum", 5, {"least": 5}),
)
def test_what_the_autoscaler_reaches_alone(left: int, given: dict[str, Any]) -> None:
    of = rest(**given)
    assert (len(of.nodes), of.is_rest) == (left, True)
    assert len(of.removed) == 6 - left


def test_one_that_never_rests_is_left_after_its_time_and_shows_it() -> None:
    restless = leave_alone(parse(SCENARIO.format(profile="BALANCED", cpu="500m", least=0)), most=30)
    assert not restless.is_rest


GROUP = "/apis/autoscaling.x-k8s.io"
BUFFERS = f"{GROUP}/v1beta1/capacitybuffers"


def with_buffer(scaled: AutoscaledCluster, chunks: int, cpu: str, **spec: Any) -> AutoscaledCluster:
    asked = {"resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    body = {"spec": {"containers": [{"name": "main", **asked}]}}
    meta = {"name": "web", "namespace": "default"}
    scaled.add("podtemplates", {"metadata": meta, "template": body})
    status = {"podTemplateRef": {"name": "web"}, "replicas": chunks}
    scaled.add("capacitybuffers", {"metadata": meta, "spec": spec, "status": status})
    return scaled


def ready(scaled: AutoscaledCluster) -> int | None:
    buffer: Json = scaled.store.get("capacitybuffers", "default", "web")
    count: int | None = buffer["status"].get("readyReplicas")
    return count


def test_the_kind_is_served_once_there_is_a_buffer() -> None:
    scaled = two_nodes()
    for path in (GROUP, f"{GROUP}/v1beta1", BUFFERS):
        assert scaled.call("GET", path).status == 404
    with_buffer(scaled, 1, "100m")
    assert [row["version"] for row in scaled.json("GET", GROUP)["versions"]] == ["v1beta1"]
    assert [row["name"] for row in scaled.json("GET", f"{GROUP}/v1beta1")["resources"]] == ["capacitybuffers"]
    assert len(scaled.json("GET", BUFFERS)["items"]) == 1


@cases(
    "left, chunks, spec",
    ("without chunks the empty node goes", ["b"], 0, {}),
    ("a chunk that has room next to the pod lets it go", ["b"], 1, {}),
    ("a chunk that has room on it alone keeps it", ["a", "b"], 2, {}),
    ("standby holds nothing", ["b"], 2, {"provisioningStrategy": "buffer.gke.io/standby-capacity"}),
)
def test_the_autoscaler_deletes_no_node_that_a_buffer_needs(left: list[str], chunks: int, spec: Any) -> None:
    scaled = with_buffer(two_nodes(), chunks, "2500m", **spec)
    scaled.live(25)
    assert scaled.names() == left


def test_the_autoscaler_buys_a_node_for_chunks_that_fit_nowhere_and_shows_how_many_have_room() -> None:
    scaled = with_buffer(two_nodes(), 3, "2500m")
    scaled.live(1)
    assert (ready(scaled), len(scaled.names())) == (2, 3)
    scaled.live(10)
    assert (ready(scaled), len(scaled.names())) == (3, 3)
    assert "TriggeredScaleUp" not in scaled.events(), "nobody sees the pods that stand for chunks"


def test_a_cordoned_node_has_no_room_for_chunks() -> None:
    scaled = with_buffer(two_nodes(main_pool("z1", max_node_count=2)), 2, "2500m")
    scaled.live(2)
    assert ready(scaled) == 2
    scaled.change("nodes", "", "a", lambda thing: thing["spec"].update(unschedulable=True))
    scaled.live(2)
    assert ready(scaled) == 1
