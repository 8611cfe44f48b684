"""How many volumes a node can attach, case by case, as the scheduler's NodeVolumeLimits plugin counts them.

Source: kubernetes pkg/scheduler/framework/plugins/nodevolumelimits/csi.go.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shared.core.cluster.pod import Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import CSINode, VolumeAttachment
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from tests.builders import cluster, mounts, node, persistent_volume, pod, storage, storage_class, volume_claim

PD = "pd.csi.storage.gke.io"
SCRATCH = Volume("scratch", "ephemeral", "", "standard-rwo")
INLINE = Volume("d", "gcePersistentDisk", "disk")
CLAIMS = ("a", "b", "c", "twin", "nfs", "waits", "gone", "old")
DISKS = (
    *(persistent_volume(f"pv-{name}") for name in ("a", "b", "c")),
    persistent_volume("pv-twin", handle="pv-a"),
    persistent_volume("pv-nfs", kind="nfs", driver="", handle=""),
    persistent_volume("pv-old", kind="gcePersistentDisk", handle="old", plugin="kubernetes.io/gce-pd"),
)


def picture(
    limits: Mapping[str, int | None], here: tuple[Volume, ...], new: tuple[Volume, ...], **known: Any
) -> Snapshot:
    """n1 with one pod that has the volumes `here`, and a pod without a node that brings the volumes `new`."""
    claims = [volume_claim(name, **({"volume": ""} if name == "waits" else {})) for name in CLAIMS]
    csi = {name: CSINode(limits={} if most is None else {PD: most}) for name, most in limits.items()}
    plain = storage(*claims, *DISKS, storage_class("legacy", provisioner="kubernetes.io/gce-pd"))
    rows = replace(plain, csi_nodes=csi, **known)
    return replace(cluster([node("n1")], [pod("new", volumes=new), pod("old", on="n1", volumes=here)]), storage=rows)


def takes(snapshot: Snapshot) -> bool:
    arrays = ClusterArrays(snapshot)
    return bool(Packing(arrays, PACKED).taking(0)[0])


@pytest.mark.parametrize(
    ("expected", "most", "here", "new"),
    [
        pytest.param(True, 2, mounts("a"), mounts("b"), id="as many as it can attach"),
        pytest.param(False, 1, mounts("a"), mounts("b"), id="one too many"),
        pytest.param(True, 1, mounts("a"), mounts("a"), id="one that is there already"),
        pytest.param(True, 1, mounts("a"), mounts("twin"), id="another claim for the same disk"),
        pytest.param(False, 1, mounts("a"), mounts("a", "b"), id="one that is there and one that is not"),
        pytest.param(True, 0, mounts("a"), mounts("a"), id="nothing new on a node that has too many"),
        pytest.param(True, 1, mounts("a"), mounts("nfs"), id="a volume that nothing attaches"),
        pytest.param(True, 0, (), mounts("nfs"), id="nor counts"),
        pytest.param(False, 1, mounts("a"), mounts("waits"), id="a volume that is still to be made"),
        pytest.param(True, 1, mounts("waits"), mounts("waits"), id="which is one, no matter who asks for it"),
        pytest.param(False, 1, mounts("a"), mounts("gone"), id="whose volume is missing, by its class"),
        pytest.param(False, 1, mounts("a"), mounts("old"), id="a disk that the driver has taken over"),
        pytest.param(False, 1, mounts("a"), (SCRATCH,), id="an ephemeral volume"),
        pytest.param(False, 1, (SCRATCH,), (SCRATCH,), id="which each pod has for itself"),
        pytest.param(True, 2, (SCRATCH,), (SCRATCH,), id="two of them"),
        pytest.param(False, 1, (INLINE,), mounts("a"), id="a disk that a pod names itself"),
        pytest.param(True, 1, (INLINE, replace(INLINE, name="e")), (INLINE,), id="which is one, too"),
        pytest.param(False, 1, mounts("a"), (replace(SCRATCH, storage_class="legacy"),), id="of an in-tree class"),
        pytest.param(True, None, mounts("a", "b"), mounts("c"), id="a driver without a limit"),
    ],
)
def test_a_node_takes_as_many_volumes_as_its_driver_shows(
    expected: bool, most: int | None, here: tuple[Volume, ...], new: tuple[Volume, ...]
) -> None:
    assert takes(picture({"n1": most}, here, new)) is expected


def test_a_node_that_shows_nothing_of_its_drivers_has_no_limit() -> None:
    assert takes(picture({"n2": 0}, mounts("a", "b"), mounts("c")))


@pytest.mark.parametrize(
    ("expected", "attached"),
    [
        pytest.param(True, [], id="nothing"),
        pytest.param(True, ["pv-a"], id="what the pod there uses"),
        pytest.param(False, ["pv-c"], id="what no pod there uses"),
        pytest.param(True, ["pv-old", "pv-gone"], id="what is not the driver's own, or is gone"),
        pytest.param(False, ["pv-b"], id="the very disk that is to come, for it is counted twice"),
    ],
)
def test_what_is_attached_besides_takes_a_place(expected: bool, attached: list[str]) -> None:
    rows = {"n1": tuple(VolumeAttachment(PD, name) for name in attached)}

    assert takes(picture({"n1": 2}, mounts("a"), mounts("b"), attachments=rows)) is expected


def test_a_disk_that_is_attached_twice_over_takes_one_place() -> None:
    """An attachment that was made again stands beside the one that is not gone yet."""
    rows = {"n1": (VolumeAttachment(PD, "pv-c"),) * 2}

    assert takes(picture({"n1": 3}, mounts("a"), mounts("b"), attachments=rows))


def drain(most: int, *volumes: str, shared: int = 0) -> bool:
    """Whether n1's pods, one for each volume, all fit on n2, which can attach so many."""
    pods = [pod(name, on="n1", volumes=mounts(name)) for name in volumes]
    pods += [pod(f"shared-{number}", on="n1", volumes=mounts("shared")) for number in range(shared)]
    disks = [persistent_volume(f"pv-{name}", access_modes=("ReadWriteMany",)) for name in (*volumes, "shared")]
    known = storage(*disks, *(volume_claim(name) for name in (*volumes, "shared")))
    known = replace(known, csi_nodes={"n2": CSINode(limits={PD: most})})
    return Simulation.of(replace(cluster([node("n1"), node("n2")], pods), storage=known)).try_remove("n1") is None


@pytest.mark.parametrize(
    ("expected", "most", "volumes", "shared"),
    [
        pytest.param(True, 3, "abc", 0, id="room for all"),
        pytest.param(False, 2, "abc", 0, id="room for all but one"),
        pytest.param(True, 1, "", 5, id="five pods with one volume"),
        pytest.param(False, 3, "abc", 5, id="and three with their own"),
    ],
)
def test_the_volumes_of_all_that_move_together_count(expected: bool, most: int, volumes: str, shared: int) -> None:
    assert drain(most, *volumes, shared=shared) is expected
