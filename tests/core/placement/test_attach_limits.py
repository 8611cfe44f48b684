"""How many volumes a node can attach, case by case, as the scheduler's NodeVolumeLimits plugin counts them.

Source: kubernetes pkg/scheduler/framework/plugins/nodevolumelimits/csi.go.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.core.cluster.pod import Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import CSINode, VolumeAttachment
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from tests.builders import cluster, mounts, node, persistent_volume, pod, storage, storage_class, volume_claim
from tests.depth import cases

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


@cases(
    "expected, most, here, new",
    ("as many as it can attach", True, 2, mounts("a"), mounts("b")),
    ("one too many", False, 1, mounts("a"), mounts("b")),
    ("one that is there already", True, 1, mounts("a"), mounts("a")),
    ("another claim for the same disk", True, 1, mounts("a"), mounts("twin")),
    ("one that is there and one that is not", False, 1, mounts("a"), mounts("a", "b")),
    ("nothing new on a node that has too many", True, 0, mounts("a"), mounts("a")),
    ("a volume that nothing attaches", True, 1, mounts("a"), mounts("nfs")),
    ("nor counts", True, 0, (), mounts("nfs")),
    ("a volume that is still to be made", False, 1, mounts("a"), mounts("waits")),
    ("which is one, no matter who asks for it", True, 1, mounts("waits"), mounts("waits")),
    ("whose volume is missing, by its class", False, 1, mounts("a"), mounts("gone")),
    ("a disk that the driver has taken over", False, 1, mounts("a"), mounts("old")),
    ("an ephemeral volume", False, 1, mounts("a"), (SCRATCH,)),
    ("which each pod has for itself", False, 1, (SCRATCH,), (SCRATCH,)),
    ("two of them", True, 2, (SCRATCH,), (SCRATCH,)),
    ("a disk that a pod names itself", False, 1, (INLINE,), mounts("a")),
    ("which is one, too", True, 1, (INLINE, replace(INLINE, name="e")), (INLINE,)),
    ("of an in-tree class", False, 1, mounts("a"), (replace(SCRATCH, storage_class="legacy"),)),
    ("a driver without a limit", True, None, mounts("a", "b"), mounts("c")),
)
def test_a_node_takes_as_many_volumes_as_its_driver_shows(
    expected: bool, most: int | None, here: tuple[Volume, ...], new: tuple[Volume, ...]
) -> None:
    assert takes(picture({"n1": most}, here, new)) is expected


def test_a_node_that_shows_nothing_of_its_drivers_has_no_limit() -> None:
    assert takes(picture({"n2": 0}, mounts("a", "b"), mounts("c")))


@cases(
    "expected, most, attached",
    ("nothing", True, 2, []),
    ("what the pod there uses", True, 2, ["pv-a"]),
    ("what no pod there uses", False, 2, ["pv-c"]),
    ("what is not the driver's own, or is gone", True, 2, ["pv-old", "pv-gone"]),
    ("the very disk that is to come, for it is counted twice", False, 2, ["pv-b"]),
    ("a disk whose attachment was made again beside one that is not gone yet takes one", True, 3, ["pv-c", "pv-c"]),
)
def test_what_is_attached_besides_takes_a_place(expected: bool, most: int, attached: list[str]) -> None:
    rows = {"n1": tuple(VolumeAttachment(PD, name) for name in attached)}

    assert takes(picture({"n1": most}, mounts("a"), mounts("b"), attachments=rows)) is expected


def drain(most: int, *volumes: str, shared: int = 0) -> bool:
    """Whether n1's pods, one for each volume, all fit on n2, which can attach so many."""
    pods = [pod(name, on="n1", volumes=mounts(name)) for name in volumes]
    pods += [pod(f"shared-{number}", on="n1", volumes=mounts("shared")) for number in range(shared)]
    disks = [persistent_volume(f"pv-{name}", access_modes=("ReadWriteMany",)) for name in (*volumes, "shared")]
    known = storage(*disks, *(volume_claim(name) for name in (*volumes, "shared")))
    known = replace(known, csi_nodes={"n2": CSINode(limits={PD: most})})
    return Simulation.of(replace(cluster([node("n1"), node("n2")], pods), storage=known)).try_remove("n1") is None


@cases(
    "expected, most, volumes, shared",
    ("room for all", True, 3, "abc", 0),
    ("room for all but one", False, 2, "abc", 0),
    ("five pods with one volume", True, 1, "", 5),
    ("and three with their own", False, 3, "abc", 5),
)
def test_the_volumes_of_all_that_move_together_count(expected: bool, most: int, volumes: str, shared: int) -> None:
    assert drain(most, *volumes, shared=shared) is expected
