"""The simulated autoscaler: what it deletes, what it leaves, what it does when it fails, when it grows."""

from typing import Any

import pytest

from infra.local.machine_types import MachinePool
from infra.local.scaling.settings import AutoscalerSettings
from infra.local.scaling.view import CANDIDATE, TO_BE_DELETED, has_taint
from tests.local.autoscaled_cluster import AutoscaledCluster, pooled
from tests.local.virtual_cluster import pod, workload

OURS = {"key": "status-taint.cluster-autoscaler.kubernetes.io/ebb", "value": "o1", "effect": "NoSchedule"}


def test_an_empty_node_gets_the_taints_in_order_and_goes_after_its_time() -> None:
    rig = AutoscaledCluster([pooled("a"), pooled("b")])
    rig.add("pods", pod("stays", on="b", phase="Running"))
    rig.live(2)
    assert has_taint(rig.store.get("nodes", "", "a"), CANDIDATE)
    rig.live(10)
    assert has_taint(rig.store.get("nodes", "", "a"), TO_BE_DELETED)
    rig.live(4)
    assert (rig.names(), rig.events()) == (["b"], ["ScaleDown"])


def test_an_empty_node_that_is_not_ready_is_left_alone_as_one_that_still_boots() -> None:
    rig = AutoscaledCluster([pooled("a"), pooled("b")])
    rig.add("pods", pod("stays", on="b", phase="Running"))
    rig.world.kubelet.dead.add("a")
    rig.live(25)
    assert rig.names() == ["a", "b"]


@pytest.mark.parametrize(
    ("expected", "pool", "more"),
    [
        pytest.param(
            ["b"], MachinePool("main"), {"unschedulable": True, "taints": [OURS]}, id="cordoned and tainted by Ebb"
        ),
        pytest.param(["a", "b"], MachinePool("main", min_nodes=2), {}, id="the zone is at its minimum"),
        pytest.param(
            ["a", "b"], MachinePool("main", total_min_nodes=2, total_max_nodes=9), {}, id="the pool is at its minimum"
        ),
        pytest.param(
            ["b"], MachinePool("main", total_min_nodes=1, total_max_nodes=9), {}, id="one above the total minimum"
        ),
        pytest.param(["a", "b"], MachinePool("main", autoscaled=False), {}, id="the pool is not autoscaled"),
        pytest.param(
            ["a", "b"],
            MachinePool("main"),
            {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}},
            id="scale-down is disabled",
        ),
    ],
)
def test_which_empty_nodes_go(expected: list[str], pool: MachinePool, more: Any) -> None:
    rig = AutoscaledCluster([pooled("a", **more), pooled("b")], pool)
    rig.add("pods", pod("stays", on="b", phase="Running"))
    rig.live(25)
    assert rig.names() == expected


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
    rig = AutoscaledCluster([pooled("a")])
    rig.add("pods", pod("p", on="a", **{"phase": "Running", **more}))
    rig.live(25)
    assert rig.names() == expected


def test_daemon_requests_count_when_they_are_not_ignored() -> None:
    settings = AutoscalerSettings(scan_interval=1, unneeded_time=5, deletion=1, ignore_daemonsets=False)
    rig = AutoscaledCluster([pooled("a")], settings=settings)
    rig.add("daemonsets", workload("agent", replicas=None, cpu="3"))
    rig.live(20)
    assert rig.names() == ["a"]


def test_the_clock_starts_anew_when_a_pod_comes_between() -> None:
    rig = AutoscaledCluster([pooled("a")])
    rig.live(8)
    rig.add("pods", pod("p", on="a", phase="Running", terminationGracePeriodSeconds=1))
    rig.live(2)
    assert not has_taint(rig.store.get("nodes", "", "a"), CANDIDATE)
    rig.evict("p")
    rig.live(9)
    assert rig.names() == ["a"]


def test_a_failed_deletion_uncordons_a_node_that_it_did_not_cordon_and_leaves_our_taint() -> None:
    rig = AutoscaledCluster([pooled("a", unschedulable=True, taints=[OURS])])
    rig.autoscaler.fail_deletions(frozenset({"a"}))
    rig.live(16)
    spec = rig.store.get("nodes", "", "a")["spec"]
    assert ("unschedulable" in spec, OURS in spec["taints"], rig.events()) == (False, True, ["ScaleDownFailed"])


def test_after_a_restart_its_taint_is_taken_off_and_the_node_uncordoned() -> None:
    taint = {"key": TO_BE_DELETED, "value": "1", "effect": "NoSchedule"}
    rig = AutoscaledCluster([pooled("a", unschedulable=True, taints=[taint])], MachinePool("main", min_nodes=1))
    rig.live(1)
    assert rig.store.get("nodes", "", "a")["spec"] in ({}, {"taints": []})


def test_a_waiting_pod_brings_one_node_in_the_emptier_zone() -> None:
    rig = AutoscaledCluster([pooled("a", cpu="1")])
    rig.add("pods", pod("p", cpu="2"))
    rig.add("pods", pod("q", cpu="1500m"))
    rig.live(3)
    fresh = [item for item in rig.store.all("nodes") if item["metadata"]["name"] != "a"]
    assert [item["metadata"]["labels"]["topology.kubernetes.io/zone"] for item in fresh] == ["z2"]
    assert "TriggeredScaleUp" in rig.events()
    rig.live(3)
    assert all(item["spec"].get("nodeName") for item in rig.pods())


def test_a_pool_at_its_maximum_does_not_grow_and_says_so_once() -> None:
    rig = AutoscaledCluster([pooled("a", cpu="1")], MachinePool("main", zones=("z1",), max_nodes=1))
    rig.add("pods", pod("p", cpu="2"))
    rig.live(5)
    assert rig.names() == ["a"]
    assert rig.events().count("NotTriggerScaleUp") == 1
