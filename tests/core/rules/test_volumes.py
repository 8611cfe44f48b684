"""What of a pod's volumes keeps it, case by case: disks of the node, claims that start no pod, what is not known.

Source: kubernetes pkg/scheduler/framework/plugins/volumebinding (podHasPVCs, GetPodVolumeClaims, checkVolumeProvisions)
and pkg/controller/volume/attachdetach/reconciler (isMultiAttachForbidden).
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.pod import Phase, Volume
from shared.core.cluster.snapshot import Snapshot
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
from shared.core.rules.volumes import VolumeFacts, volume_blocks
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

Row = PersistentVolumeClaim | PersistentVolume | StorageClass
DISK = persistent_volume("pv-data", zone="a")


def said(*rows: Row, volumes: tuple[Volume, ...] = mounts("data"), users: int = 1, **known: Any) -> list[str]:
    """Return what keeps a pod with these volumes, where so many pods use its claim."""
    facts = VolumeFacts(storage(*rows, **known), {"default/data": users})
    found = volume_blocks(pod_class(volumes=volumes), facts)
    return [f"{block.reason.value}: {block.detail}" for block in found]


@pytest.mark.parametrize(
    "kind",
    ["emptyDir", "configMap", "secret", "projected", "downwardAPI", "image", "hostPath", "csi", "nfs", "cephfs"],
)
def test_volumes_that_no_filter_looks_at_keep_nothing(kind: str) -> None:
    assert said(volumes=(Volume("v", kind),)) == []


@pytest.mark.parametrize("kind", ["gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd", "flexVolume", "newDisk"])
def test_a_volume_whose_place_the_pod_does_not_show_keeps_it(kind: str) -> None:
    assert said(volumes=(Volume("v", kind),)) == [f"volumes: {kind} v"]


@pytest.mark.parametrize(
    ("expected", "rows"),
    [
        pytest.param(None, [volume_claim("data"), DISK], id="bound to a disk"),
        pytest.param("unbound_claim: claim data is missing", [DISK], id="no such claim"),
        pytest.param(
            "unbound_claim: claim data has lost its volume", [volume_claim("data", lost=True), DISK], id="phase Lost"
        ),
        pytest.param(
            "unbound_claim: claim data is being deleted", [volume_claim("data", deleting=True), DISK], id="deleted"
        ),
        pytest.param("unbound_claim: volume pv-data is missing", [volume_claim("data")], id="its volume is gone"),
        pytest.param(
            "unbound_claim: claim data has no volume",
            [volume_claim("data", bound=False), DISK],
            id="binding not complete",
        ),
        pytest.param(None, [volume_claim("data", volume="")], id="waits for its pod"),
        pytest.param(
            "unbound_claim: claim data has no volume",
            [volume_claim("data", volume="", storage_class="now"), storage_class("now", waits_for_consumer=False)],
            id="should have a volume without a pod",
        ),
        pytest.param(
            "unbound_claim: claim data has no volume",
            [volume_claim("data", volume="", storage_class="")],
            id="no class",
        ),
        pytest.param(
            "volumes: volumes of class hand are made by hand",
            [
                volume_claim("data", volume="", storage_class="hand"),
                storage_class("hand", provisioner="kubernetes.io/no-provisioner"),
            ],
            id="waits for somebody",
        ),
        *(
            pytest.param(
                f"local_volume: volume pv-data is of kind {kind}",
                [volume_claim("data"), replace(DISK, kind=kind, driver="")],
                id=f"a {kind} disk",
            )
            for kind in ("local", "hostPath")
        ),
        pytest.param(
            "volumes: volume pv-data is of kind azureDisk",
            [volume_claim("data"), replace(DISK, kind="azureDisk", driver="")],
            id="a disk that is read in a way of its own",
        ),
        pytest.param(
            "volumes: volume pv-data is of kind ", [volume_claim("data"), replace(DISK, kind="")], id="a kind not known"
        ),
        *(
            pytest.param(None, [volume_claim("data"), replace(DISK, kind=kind, driver="")], id=f"a {kind} volume")
            for kind in ("nfs", "iscsi", "gcePersistentDisk")
        ),
    ],
)
def test_a_claim_keeps_its_pod_only_where_a_new_one_could_not_start_with_it(
    expected: str | None, rows: list[Row]
) -> None:
    wanted = [expected.replace(": ", ": persistentVolumeClaim data: ", 1)] if expected else []

    assert said(*rows) == wanted


@pytest.mark.parametrize(
    ("expected", "given", "rows", "known"),
    [
        pytest.param(None, "standard-rwo", [], {}, id="made where the pod goes"),
        pytest.param("its storage class is missing", "none", [], {}, id="no such class"),
        pytest.param("its storage class is missing", None, [], {}, id="no class named, and no default"),
        pytest.param(None, None, [storage_class("usual", default_since=NOW)], {}, id="the default class"),
        pytest.param(
            "its storage class is missing", "", [storage_class("usual", default_since=NOW)], {}, id="none at all"
        ),
        pytest.param(
            "class now makes a volume before its pod has a node",
            "now",
            [storage_class("now", waits_for_consumer=False)],
            {},
            id="made anywhere",
        ),
        pytest.param(
            "pd.csi.storage.gke.io has room in some places only",
            "standard-rwo",
            [],
            {"capacity_drivers": frozenset({"pd.csi.storage.gke.io"})},
            id="made where there is room",
        ),
    ],
)
def test_an_ephemeral_volume_is_made_again_for_the_new_pod(
    expected: str | None, given: str | None, rows: list[Row], known: dict[str, Any]
) -> None:
    found = said(*rows, volumes=(Volume("v", "ephemeral", "", given),), **known)

    assert found == ([f"volumes: ephemeral v: {expected}"] if expected else [])


@pytest.mark.parametrize(
    ("expected", "users", "rows"),
    [
        pytest.param(False, 1, [volume_claim("data"), DISK], id="one pod alone"),
        pytest.param(True, 2, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOnce",))], id="two pods"),
        pytest.param(
            True, 2, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOncePod",))], id="two, one waits"
        ),
        pytest.param(False, 9, [volume_claim("data"), replace(DISK, access_modes=("ReadWriteMany",))], id="many nodes"),
        pytest.param(
            False,
            9,
            [volume_claim("data"), replace(DISK, access_modes=("ReadWriteOnce", "ReadOnlyMany"))],
            id="many read",
        ),
        pytest.param(False, 9, [volume_claim("data"), replace(DISK, kind="nfs")], id="mounted, not attached"),
        pytest.param(True, 2, [volume_claim("data", volume="")], id="the first pod decides where it will be"),
    ],
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


def users(snapshot: Snapshot) -> dict[str, int]:
    return {claim: count for claim, count in snapshot.claim_users.items() if count}


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

    assert users(cluster([node("n1")], pods)) == {"default/data": 3, "default/logs": 3, "other/data": 1}


def test_a_storage_that_was_not_read_is_not_known() -> None:
    assert Storage().unread == LISTS
    assert not Storage().known
    assert storage(volume_claim("data")).known


def test_a_pods_claims_are_those_it_names_and_those_made_for_it() -> None:
    volumes = (*mounts("data"), Volume("scratch", "ephemeral"), Volume("tmp", "emptyDir"))

    assert list(claim_keys(pod("web-0", volumes=volumes))) == ["default/data", "default/web-0-scratch"]


@pytest.mark.parametrize(
    ("expected", "since"),
    [
        pytest.param("", {"a": None}, id="there is none"),
        pytest.param("b", {"a": None, "b": NOW}, id="one of several"),
        pytest.param("b", {"a": NOW, "b": NOW + timedelta(days=1)}, id="of two the newest"),
        pytest.param("a", {"a": NOW, "b": NOW}, id="of two of one age the first by name"),
    ],
)
def test_the_default_class_is_the_one_that_admission_takes(expected: str, since: dict[str, object]) -> None:
    classes = {name: storage_class(name, default_since=at) for name, at in since.items()}

    assert Storage(classes=classes).default_class == expected
