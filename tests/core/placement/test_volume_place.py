"""Where volumes can be mounted, case by case, as the scheduler's VolumeBinding and VolumeZone plugins judge.

Source: kubernetes pkg/scheduler/framework/plugins/volumebinding/binder.go (checkBoundClaims, checkVolumeProvisions),
volumezone/volume_zone.go, and csi-translation-lib/plugins/in_tree_volume.go (translateTopologyFromInTreeToCSI).
"""

from dataclasses import replace
from typing import Any

from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.selectors import NodeTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import CSINode, PersistentVolume, Storage
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints.constraint import ConstraintInput
from shared.core.placement.constraints.exclusion import OnePodClaims
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import PACKED
from tests.builders import NOW, cluster, mounts, node, persistent_volume, pod, storage, storage_class, volume_claim
from tests.depth import cases

BETA_ZONE, BETA_REGION = names.VOLUME_ZONE_LABELS[:2]
GCE_ZONE = "topology.gke.io/zone"
NODES = {
    "a": {names.ZONE_LABEL: "a", GCE_ZONE: "a"},
    "b": {names.ZONE_LABEL: "b", GCE_ZONE: "b", "disk": "ssd"},
    "beta": {BETA_ZONE: "a", BETA_REGION: "r1"},
    "plain": {"disk": "ssd"},
    "region": {names.REGION_LABEL: "r1"},
}
EVERYWHERE = list(NODES)


def term(**labels: str) -> NodeTerm:
    """One term; a label is named by the last word of its key."""
    keys = {"zone": names.ZONE_LABEL, "gke": GCE_ZONE, "beta": BETA_ZONE, "region": BETA_REGION, "disk": "disk"}
    return NodeTerm(tuple(Requirement(keys[name], "In", tuple(value.split("|"))) for name, value in labels.items()))


def admitting(known: Storage, *volumes: Volume, **pod_spec: Any) -> list[str]:
    """Return the nodes that lie in all the places of these volumes."""
    nodes = [node(name, labels={names.HOSTNAME_LABEL: name, **labels}, zone="") for name, labels in NODES.items()]
    picture = replace(cluster(nodes, [pod("p", volumes=volumes, **pod_spec)]), storage=known)
    mask = ClusterArrays(picture).admitting(0)
    return [name for name, admits in zip(NODES, mask, strict=True) if admits]


def behind(**disk: Any) -> Storage:
    return storage(volume_claim("data"), persistent_volume("pv-data", **disk))


@cases(
    "expected, terms",
    ("no affinity", EVERYWHERE, None),
    ("one zone", ["a"], (term(zone="a"),)),
    ("a regional disk", ["a", "b"], (term(gke="a|b"),)),
    ("all of a term", ["b"], (term(zone="a|b", disk="ssd"),)),
    ("any of two terms", ["a", "b", "plain"], (term(zone="a"), term(disk="ssd"))),
    ("an empty term means no node", [], (NodeTerm(),)),
    ("a node's name is not asked", [], (NodeTerm(fields=(Requirement("metadata.name", "In", ("a",)),)),)),
)
def test_a_bound_volume_binds_by_its_node_affinity(expected: list[str], terms: tuple[NodeTerm, ...] | None) -> None:
    assert admitting(behind(node_terms=terms), *mounts("data")) == expected


@cases(
    "expected, labels",
    ("a zone, and nodes that show none", ["a", "plain"], {names.ZONE_LABEL: "a"}),
    ("zones of a regional disk", ["a", "b", "plain"], {names.ZONE_LABEL: "a__b"}),
    ("with blanks", ["a", "b", "plain"], {names.ZONE_LABEL: " a __ b"}),
    ("a label that cannot be read is passed over", EVERYWHERE, {names.ZONE_LABEL: "a__"}),
    ("a beta label stands for the newer one, too", ["a", "beta", "plain"], {BETA_ZONE: "a"}),
    ("a region", ["plain", "region"], {names.REGION_LABEL: "r1"}),
    ("a region by its beta label", ["beta", "plain", "region"], {BETA_REGION: "r1"}),
    ("all labels", ["plain"], {names.ZONE_LABEL: "a", names.REGION_LABEL: "r1"}),
)
def test_a_bound_volume_binds_by_its_zone_labels(expected: list[str], labels: dict[str, str]) -> None:
    assert admitting(behind(labels=labels), *mounts("data")) == expected


@cases(
    "expected, migrated, disk",
    ("nowhere taken over", ["a", "beta"], (), {"node_terms": (term(zone="a"), term(beta="a"))}),
    ("the newer zone label", ["a"], EVERYWHERE, {"node_terms": (term(zone="a"), term(beta="b"))}),
    ("the beta zone label", ["b"], EVERYWHERE, {"node_terms": (term(beta="b"),)}),
    ("on one node only", ["beta"], ["a"], {"node_terms": (term(beta="a", region="r1"),)}),
    ("the region by its newer label", [], EVERYWHERE, {"node_terms": (term(beta="a", region="r1"),)}),
    ("a zone shown by a label alone", ["a"], EVERYWHERE, {"labels": {names.ZONE_LABEL: "a"}}),
    ("the same, on one node only", ["a", "plain"], ["a"], {"labels": {names.ZONE_LABEL: "a"}}),
    ("no zone shown", EVERYWHERE, EVERYWHERE, {}),
)
def test_an_in_tree_disk_is_the_drivers_where_it_has_taken_over(
    expected: list[str], migrated: list[str], disk: dict[str, Any]
) -> None:
    over = {name: CSINode(migrated=frozenset({"kubernetes.io/gce-pd"})) for name in migrated}
    known = replace(behind(kind="gcePersistentDisk", plugin="kubernetes.io/gce-pd", **disk), csi_nodes=over)

    assert admitting(known, *mounts("data")) == expected


@cases(
    "expected, class_name, claim",
    ("made wherever the pod goes", EVERYWHERE, "standard-rwo", {}),
    ("made in one zone", ["a"], "zonal", {}),
    ("being made for a node", ["b"], "standard-rwo", {"selected_node": "b"}),
    ("for a node where it may not be made", [], "zonal", {"selected_node": "b"}),
)
def test_a_volume_that_is_not_made_yet_binds_by_its_class(
    expected: list[str], class_name: str, claim: dict[str, Any]
) -> None:
    zonal = storage_class("zonal", allowed_topologies=(term(gke="a"),))
    known = storage(volume_claim("data", volume="", storage_class=class_name, **claim), zonal)

    assert admitting(known, *mounts("data")) == expected


def test_an_ephemeral_volume_binds_by_its_class_and_not_by_the_disk_it_had() -> None:
    had = (volume_claim("p-v"), persistent_volume("pv-p-v", zone="b"))
    zonal = storage_class("zonal", allowed_topologies=(term(zone="a"),))

    assert admitting(storage(*had), Volume("v", "ephemeral", "", "standard-rwo")) == EVERYWHERE
    assert admitting(storage(*had, zonal), Volume("v", "ephemeral", "", "zonal")) == ["a"]


def test_all_volumes_of_a_pod_must_be_within_reach() -> None:
    known = storage(
        *(volume_claim(name) for name in ("one", "two")),
        persistent_volume("pv-one", node_terms=(term(zone="a|b"),)),
        persistent_volume("pv-two", node_terms=(term(disk="ssd"),)),
    )

    assert admitting(known, *mounts("one", "two")) == ["b"]
    assert admitting(known, *mounts("one", "two"), namespace="other") == EVERYWHERE  # where there are no such claims
    assert admitting(Storage(), *mounts("one", "two")) == EVERYWHERE  # not known: `rules.unmodelled` keeps the pod


def zonal_pods(claims: int, zones: str) -> tuple[list[PersistentVolume], Storage]:
    disks = [persistent_volume(f"pv-{number}", zone=zones[number % len(zones)]) for number in range(claims)]
    return disks, storage(*disks, *(volume_claim(str(number)) for number in range(claims)))


def test_thousands_of_claims_in_three_zones_are_three_masks() -> None:
    _, known = zonal_pods(300, "abc")
    pods = [pod(f"p{number}", volumes=mounts(str(number))) for number in range(300)]
    nodes = [node(f"n{zone}", zone=zone) for zone in "abc"]
    arrays = ClusterArrays(replace(cluster(nodes, pods), storage=known))

    assert len({id(arrays.admitting(kind)) for kind in range(300)}) == 3


@cases("expected, zone", ("another node there", True, "a"), ("none there", False, "b"))
def test_a_pod_goes_where_its_disk_can_follow(expected: bool, zone: str) -> None:
    nodes = [node("n1", zone="a"), node("n2", zone=zone)]
    known = storage(volume_claim("data"), persistent_volume("pv-data", zone="a"))
    picture = replace(cluster(nodes, [pod("db-0", on="n1", volumes=mounts("data"))]), storage=known)

    assert (Simulation.of(picture).try_remove("n1") is None) is expected


KNOWN = storage(
    volume_claim("mine", access_modes=("ReadWriteOncePod",)),
    volume_claim("once"),
    persistent_volume("pv-mine"),
    persistent_volume("pv-once"),
)


def picture(*pods: Pod) -> Snapshot:
    return replace(cluster([node("n1"), node("n2")], pods), storage=KNOWN)


@cases(
    "expected, wanted, other",
    ("another pod has it", 0, "mine", {}),
    ("for one node, which no filter looks at", 2, "once", {"volumes": mounts("once")}),
    ("another pod has another claim", 2, "mine", {"volumes": mounts("once")}),
    ("a claim of that name elsewhere", 2, "mine", {"namespace": "other"}),
    ("the other pod has ended", 2, "mine", {"phase": Phase.SUCCEEDED}),
    ("the other pod is still leaving", 0, "mine", {"deleting": NOW}),
    ("a daemon has it", 0, "mine", {"owner": "DaemonSet/x"}),
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
