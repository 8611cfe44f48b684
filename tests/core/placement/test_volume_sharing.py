"""Claims for one pod at a time, case by case, as the scheduler's VolumeRestrictions plugin judges them.

Source: kubernetes pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go (a pod that names a
ReadWriteOncePod claim which any pod on any node uses finds no node).
"""

from dataclasses import replace
from typing import Any

import pytest

from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import ConstraintInput
from shared.core.placement.constraints.volume_place import OnePodClaims
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from tests.builders import NOW, cluster, mounts, node, persistent_volume, pod, storage, volume_claim

KNOWN = storage(
    volume_claim("mine", access_modes=("ReadWriteOncePod",)),
    volume_claim("once"),
    persistent_volume("pv-mine"),
    persistent_volume("pv-once"),
)


def picture(*pods: Pod) -> Snapshot:
    return replace(cluster([node("n1"), node("n2")], pods), storage=KNOWN)


@pytest.mark.parametrize(
    ("expected", "wanted", "other"),
    [
        pytest.param(0, "mine", {}, id="another pod has it"),
        pytest.param(2, "once", {"volumes": mounts("once")}, id="for one node, which no filter looks at"),
        pytest.param(2, "mine", {"volumes": mounts("once")}, id="another pod has another claim"),
        pytest.param(2, "mine", {"namespace": "other"}, id="a claim of that name elsewhere"),
        pytest.param(2, "mine", {"phase": Phase.SUCCEEDED}, id="the other pod has ended"),
        pytest.param(0, "mine", {"deleting": NOW}, id="the other pod is still leaving"),
        pytest.param(0, "mine", {"owner": "DaemonSet/x"}, id="a daemon has it"),
    ],
)
def test_while_a_pod_has_the_claim_no_other_finds_a_node(expected: int, wanted: str, other: dict[str, Any]) -> None:
    arrays = ClusterArrays(
        picture(pod("new", volumes=mounts(wanted)), pod("old", on="n1", **{"volumes": mounts("mine"), **other}))
    )

    assert int(Packing(arrays, PACKED).taking(0).sum()) == expected


def test_a_pod_that_moves_has_let_go_of_its_claim_and_holds_it_where_it_went() -> None:
    mover = picture(pod("db-0", on="n1", volumes=mounts("mine")))
    simulation = Simulation.of(mover)

    assert simulation.try_remove("n1") is None
    packing = Packing(ClusterArrays(mover), PACKED)
    assert packing.reserve([0], 0) == []
    assert not packing.taking(0).any()


def test_of_pods_that_leave_one_after_another_each_holds_its_claim_until_it_is_evicted() -> None:
    """Neither is ever alone with it, unless the other has no place yet."""
    arrays = ClusterArrays(picture(*(pod(name, on="n1", volumes=mounts("mine")) for name in ("one", "two"))))
    packing = Packing(arrays, PACKED)

    assert packing.remove(0, [0, 1]).blocked is not None
    assert packing.log == []


def test_a_claim_is_free_once_the_last_of_its_users_is_gone() -> None:
    """Two may have it where a person has bound the second to a node."""
    snapshot = picture(pod("db", volumes=mounts("mine")))
    arrays = ClusterArrays(snapshot)
    state = OnePodClaims(ConstraintInput(snapshot, arrays.classes, arrays.node_filters)).state()
    state.add(0, 0)
    state.add(0, 1)

    state.evict(0, 0)
    nodes = state.allowed_nodes(0)
    assert nodes is not None
    assert not nodes.any()
    state.evict(0, 1)
    assert state.allowed_nodes(0) is None
