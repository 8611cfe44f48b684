"""The simulated autoscaler: what it deletes, what it leaves, what it does when it fails, when it grows."""

from typing import Any

import pytest

from infra.local.scaling.view import CANDIDATE, TO_BE_DELETED, has_taint
from infra.local.scenario import MachinePool
from tests.local.autoscaled_cluster import AutoscaledCluster, main_pool, pooled
from tests.local.virtual_cluster import pod

OURS = {"key": "status-taint.cluster-autoscaler.kubernetes.io/ebb", "value": "o1", "effect": "NoSchedule"}


def test_an_empty_node_gets_the_taints_in_order_and_goes_after_its_time() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")])
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    scaled.live(2)
    assert has_taint(scaled.store.get("nodes", "", "a"), CANDIDATE)
    scaled.live(10)
    assert has_taint(scaled.store.get("nodes", "", "a"), TO_BE_DELETED)
    scaled.live(4)
    assert (scaled.names(), scaled.events()) == (["b"], ["ScaleDown", "ScaleDown"])


def test_an_empty_node_that_is_not_ready_is_left_alone_as_one_that_still_boots() -> None:
    scaled = AutoscaledCluster([pooled("a"), pooled("b")])
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    scaled.world.kubelet.dead.add("a")
    scaled.live(25)
    assert scaled.names() == ["a", "b"]


@pytest.mark.parametrize(
    ("expected", "pool", "more"),
    [
        pytest.param(["b"], main_pool(), {"unschedulable": True, "taints": [OURS]}, id="cordoned and tainted by Ebb"),
        pytest.param(["a", "b"], main_pool(min_node_count=2), {}, id="the zone is at its minimum"),
        pytest.param(["a", "b"], main_pool(enabled=False), {}, id="the pool is not autoscaled"),
        pytest.param(
            ["a", "b"],
            main_pool(),
            {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}},
            id="scale-down is disabled",
        ),
    ],
)
def test_which_empty_nodes_go(expected: list[str], pool: MachinePool, more: Any) -> None:
    scaled = AutoscaledCluster([pooled("a", **more), pooled("b")], pool)
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    scaled.live(25)
    assert scaled.names() == expected


@pytest.mark.parametrize(
    ("expected", "more"),
    [
        pytest.param(["a"], {}, id="a movable pod stays"),
        pytest.param([], {"phase": "Succeeded"}, id="a finished pod does not hold a node"),
        pytest.param([], {"annotations": {"kubernetes.io/config.mirror": "x"}}, id="a mirror pod does not"),
        pytest.param([], {"cpu": "3", "annotations": {"kubernetes.io/config.mirror": "x"}}, id="nor a large one"),
    ],
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
