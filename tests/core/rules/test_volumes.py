"""What of a pod's volumes keeps it, case by case: disks of the node, claims that start no pod, what is not known.

Source: kubernetes pkg/scheduler/framework/plugins/volumebinding (podHasPVCs, GetPodVolumeClaims, checkVolumeProvisions)
and pkg/controller/volume/attachdetach/reconciler (isMultiAttachForbidden).
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.pod import Phase, Volume
from shared.core.cluster.storage import (
    LISTS,
    PersistentVolume,
    PersistentVolumeClaim,
    Storage,
    StorageClass,
    claim_keys,
)
from shared.core.policy import PoolPolicy
from shared.core.reasons import PodBlock
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pods import judge
from shared.core.rules.unmodelled import VolumeFacts, volume_blocks
from tests.builders import (
    NOW,
    cluster,
    mounts,
    node,
    persistent_volume,
    pod,
    pod_class,
    storage,
    storage_class,
    volume_claim,
)
from tests.depth import cases

Row = PersistentVolumeClaim | PersistentVolume | StorageClass
DISK = persistent_volume("pv-data", zone="a")


def said(*rows: Row, volumes: tuple[Volume, ...] = mounts("data"), users: int = 1, **known: Any) -> list[str]:
    """Return what keeps a pod with these volumes, where so many pods use its claim."""
    facts = VolumeFacts(storage(*rows, **known), {"default/data": users})
    found = volume_blocks(pod_class(volumes=volumes), facts)
    return [f"{block.reason.value}: {block.detail}" for block in found]


@pytest.mark.parametrize(
    "kind", ["emptyDir", "configMap", "secret", "projected", "downwardAPI", "image", "hostPath", "csi", "nfs", "cephfs"]
)
def test_volumes_that_no_filter_looks_at_keep_nothing(kind: str) -> None:
    assert said(volumes=(Volume("v", kind),)) == []


@pytest.mark.parametrize("kind", ["gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd", "flexVolume", "newDisk"])
def test_a_volume_whose_place_the_pod_does_not_show_keeps_it(kind: str) -> None:
    assert said(volumes=(Volume("v", kind),)) == [f"volumes: {kind} v"]


@cases(
    "expected, rows",
    ("bound to a disk", None, [volume_claim("data"), DISK]),
    ("no such claim", "unbound_claim: claim data is missing", [DISK]),
    ("phase Lost", "unbound_claim: claim data has lost its volume", [volume_claim("data", lost=True), DISK]),
    ("deleted", "unbound_claim: claim data is being deleted", [volume_claim("data", deleting=True), DISK]),
    ("its volume is gone", "unbound_claim: volume pv-data is missing", [volume_claim("data")]),
    ("binding not complete", "unbound_claim: claim data has no volume", [volume_claim("data", bound=False), DISK]),
    ("waits for its pod", None, [volume_claim("data", volume="")]),
    ("should have a volume without a pod", "unbound_claim: claim data has no volume",
     [volume_claim("data", volume="", storage_class="now"), storage_class("now", waits_for_consumer=False)]),
    ("no class", "unbound_claim: claim data has no volume", [volume_claim("data", volume="", storage_class="")]),
    ("waits for somebody", "volumes: volumes of class hand are made by hand",
     [volume_claim("data", volume="", storage_class="hand"),
      storage_class("hand", provisioner="kubernetes.io/no-provisioner")]),
    *((f"a {kind} disk", f"local_volume: volume pv-data is of kind {kind}",
       [volume_claim("data"), replace(DISK, kind=kind, driver="")]) for kind in ("local", "hostPath")),
    ("a disk that is read in a way of its own", "volumes: volume pv-data is of kind azureDisk",
     [volume_claim("data"), replace(DISK, kind="azureDisk", driver="")]),
    ("a kind not known", "volumes: volume pv-data is of kind ", [volume_claim("data"), replace(DISK, kind="")]),
    *(
        (f"a {kind} volume", None, [volume_claim("data"), replace(DISK, kind=kind, driver="")])
        for kind in ("nfs", "iscsi", "gcePersistentDisk")
    ),
)  # fmt: skip
def test_a_claim_keeps_its_pod_only_where_a_new_one_could_not_start_with_it(
    expected: str | None, rows: list[Row]
) -> None:
    wanted = [expected.replace(": ", ": persistentVolumeClaim data: ", 1)] if expected else []

    assert said(*rows) == wanted


@cases(
    "expected, given, rows, known",
    ("made where the pod goes", None, "standard-rwo", [], {}),
    ("no such class", "its storage class is missing", "none", [], {}),
    ("no class named, and no default", "its storage class is missing", None, [], {}),
    ("the default class", None, None, [storage_class("usual", default_since=NOW)], {}),
    ("none at all", "its storage class is missing", "", [storage_class("usual", default_since=NOW)], {}),
    ("made anywhere", "class now makes a volume before its pod has a node", "now",
     [storage_class("now", waits_for_consumer=False)], {}),
    ("made where there is room", "pd.csi.storage.gke.io has room in some places only", "standard-rwo", [],
     {"capacity_drivers": frozenset({"pd.csi.storage.gke.io"})}),
)  # fmt: skip
def test_an_ephemeral_volume_is_made_again_for_the_new_pod(
    expected: str | None, given: str | None, rows: list[Row], known: dict[str, Any]
) -> None:
    found = said(*rows, volumes=(Volume("v", "ephemeral", "", given),), **known)

    assert found == ([f"volumes: ephemeral v: {expected}"] if expected else [])


@cases(
    "expected, users, rows",
    ("one pod alone", False, 1, [volume_claim("data"), DISK]),
    ("two pods", True, 2, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOnce",))]),
    ("two, one waits", True, 2, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOncePod",))]),
    ("many nodes", False, 9, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteMany",))]),
    ("many read", False, 9, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOnce", "ReadOnlyMany"))]),
    ("mounted, not attached", False, 9, [volume_claim("data"), replace(DISK, kind="nfs")]),
    ("the first pod decides where it will be", True, 2, [volume_claim("data", volume="")]),
)
def test_pods_that_share_a_disk_which_one_node_can_hold_stay(expected: bool, users: int, rows: list[Row]) -> None:
    wanted = [f"shared_disk: persistentVolumeClaim data: {users} pods use claim data"]

    assert said(*rows, users=users) == (wanted if expected else [])


def test_where_the_lists_were_not_read_every_claim_keeps_its_pod() -> None:
    volumes = (*mounts("data"), Volume("v", "ephemeral", "", "standard-rwo"), Volume("w", "emptyDir"))
    found = said(volume_claim("data"), DISK, volumes=volumes, unread=("csinodes",))

    assert found == ["volumes: persistentVolumeClaim data: csinodes not read, ephemeral v: csinodes not read"]


def test_a_step_of_a_drain_asks_nothing_of_claims_for_it_was_admitted_on_them() -> None:
    subject = pod("p", on="n1", volumes=(*mounts("data"), Volume("v", "flexVolume")))

    (blocker,) = judge(subject, DrainContext((), PoolPolicy(), NOW))
    assert (blocker.reason, blocker.detail) == (PodBlock.VOLUMES, "flexVolume v")


def test_a_claim_is_used_by_every_pod_that_names_it_until_the_pod_has_ended() -> None:
    kind = pod_class(volumes=(*mounts("data", "logs"), Volume("twice", "persistentVolumeClaim", "data")))
    pods = [
        pod("running", on="n1", kind=kind),
        pod("waiting", kind=kind, phase=Phase.PENDING),
        pod("leaving", on="n1", kind=kind, deleting=NOW),
        pod("ended", on="n1", kind=kind, phase=Phase.SUCCEEDED),
        pod("other", on="n1", namespace="other", volumes=mounts("data")),
        pod("scratch", on="n1", volumes=(Volume("data", "ephemeral"),)),
    ]

    counted = cluster([node("n1")], pods).claim_users
    assert {claim: users for claim, users in counted.items() if users} == {
        "default/data": 3,
        "default/logs": 3,
        "other/data": 1,
    }


def test_a_storage_that_was_not_read_is_not_known() -> None:
    assert Storage().unread == LISTS
    assert not Storage().known
    assert storage(volume_claim("data")).known


def test_a_pods_claims_are_those_it_names_and_those_made_for_it() -> None:
    volumes = (*mounts("data"), Volume("scratch", "ephemeral"), Volume("tmp", "emptyDir"))

    assert list(claim_keys(pod("web-0", volumes=volumes))) == ["default/data", "default/web-0-scratch"]


@cases(
    "expected, since",
    ("there is none", "", {"a": None}),
    ("one of several", "b", {"a": None, "b": NOW}),
    ("of two the newest", "b", {"a": NOW, "b": NOW + timedelta(days=1)}),
    ("of two of one age the first by name", "a", {"a": NOW, "b": NOW}),
)
def test_the_default_class_is_the_one_that_admission_takes(expected: str, since: dict[str, object]) -> None:
    classes = {name: storage_class(name, default_since=at) for name, at in since.items()}

    assert Storage(classes=classes).default_class == expected
