"""Drawn small clusters for the laws of placement, and what the proof makes of one, as the laws judge it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from operator import add

from hypothesis import strategies as st

from shared.core.cluster.autoscaling import CapacityBuffer, chunk_owner
from shared.core.cluster.node import Node
from shared.core.cluster.pod import HostPort, PodClass, Volume
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, SpreadConstraint, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment
from shared.core.placement import Simulation
from tests.builders import (
    cluster,
    mounts,
    node,
    our_taint,
    persistent_volume,
    pod,
    pod_class,
    storage,
    storage_class,
    taint,
    volume_claim,
)

APPS = ("red", "green", "blue")
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
PORTS = (HostPort("TCP", 80), HostPort("TCP", 80, "10.0.0.1"), HostPort("TCP", 80, "10.0.0.2"), HostPort("UDP", 80))
GPU = Toleration("gpu", "Exists")
PD = "pd.csi.storage.gke.io"
DISKS = (
    persistent_volume("pv-zonal", zone="a", access_modes=("ReadWriteOnce",)),
    persistent_volume("pv-regional", labels={ZONE: "a__b"}, access_modes=("ReadWriteMany",)),
    persistent_volume("pv-everywhere", access_modes=("ReadWriteMany",)),
    persistent_volume("pv-mine", zone="b", access_modes=("ReadWriteOncePod",)),
    persistent_volume("pv-local", kind="local", driver=""),
    persistent_volume("pv-lost"),
)
STORED: tuple[PersistentVolumeClaim | PersistentVolume | StorageClass, ...] = (
    *DISKS,
    storage_class("zonal", allowed_topologies=(NodeTerm((Requirement(ZONE, "In", ("b",)),)),)),
    *(
        volume_claim(
            disk.name.removeprefix("pv-"), namespace=space, access_modes=disk.access_modes, lost=disk.name == "pv-lost"
        )
        for disk in DISKS
        for space in ("default", "other")
    ),
)
VOLUMES = [
    *(mounts(disk.name.removeprefix("pv-")) for disk in DISKS),
    mounts("regional", "everywhere"),
    (Volume("scratch", "ephemeral", "", "standard-rwo"),),
    (Volume("scratch", "ephemeral", "", "zonal"),),
]


def of(app: str) -> LabelSelector:
    """Select the pods of that app."""
    return LabelSelector((Requirement("app", "In", (app,)),))


@st.composite
def pod_terms(draw: st.DrawFn) -> tuple[PodTerm, ...]:
    app = draw(st.sampled_from(APPS))
    key = draw(st.sampled_from([HOSTNAME, ZONE]))
    spaces = draw(st.sampled_from([("default",), ("other",), ("default", "other")]))
    everywhere = LabelSelector() if draw(st.booleans()) else None
    return (PodTerm(key, of(app), spaces, everywhere),)


@st.composite
def spreads(draw: st.DrawFn) -> tuple[SpreadConstraint, ...]:
    selector = draw(st.sampled_from([*map(of, APPS), None]))
    keys = draw(st.sampled_from([(ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME), ("rack",)]))
    return tuple(
        SpreadConstraint(
            key,
            draw(st.sampled_from([selector, selector, LabelSelector()])),
            draw(st.sampled_from([1, 1, 2])),
            draw(st.sampled_from([1, 1, 2, 3])),
            draw(st.sampled_from([(), (), ("app",), ("pod-template-hash",)])),
            honours_affinity=draw(st.booleans()),
            honours_taints=draw(st.booleans()),
        )
        for key in keys
    )


@st.composite
def classes(draw: st.DrawFn) -> PodClass:
    terms = (NodeTerm((Requirement("disk", draw(st.sampled_from(["Exists", "DoesNotExist"]))),)),)
    owner = draw(st.sampled_from(["ReplicaSet"] * 5 + ["DaemonSet"]))
    return pod_class(
        owner=f"{owner}/{draw(st.sampled_from(APPS))}",
        namespace=draw(st.sampled_from(["default", "other"])),
        cpu=draw(st.sampled_from([0.1, 0, 0.5, 1, 1.5])),
        memory=draw(st.sampled_from([0.5, 0, 2, 6])),
        node_selector=draw(st.sampled_from([{}, {}, {"disk": "ssd"}])),
        os=draw(st.sampled_from(["", "", "linux"])),
        node_terms=draw(st.sampled_from([None, None, terms])),
        tolerations=draw(st.sampled_from([(), (GPU,)])),
        volumes=draw(st.sampled_from([()] * 8 + VOLUMES)),
        host_ports=draw(st.sampled_from([()] * 4 + [PORTS[:1], PORTS[1:2], PORTS[2:], PORTS[3:]])),
        hard_spread=draw(st.one_of(st.just(()), st.just(()), spreads())),
        anti_affinity=draw(st.one_of(st.just(()), st.just(()), pod_terms())),
        affinity=draw(st.one_of(st.just(()), st.just(()), pod_terms(), st.builds(add, pod_terms(), pod_terms()))),
    )


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(3, 7))
    return [
        node(
            f"n{place}",
            cpu=draw(st.sampled_from([4, 2, 0.5])),
            memory=draw(st.sampled_from([16, 4])),
            pods=draw(st.sampled_from([110, 3])),
            zone=draw(st.sampled_from(["a", "b", ""])),
            labels=draw(st.sampled_from([{}, {"disk": "ssd"}, {"kubernetes.io/os": "windows"}])),
            taints=draw(st.sampled_from([()] * 8 + [(taint("gpu"),), (our_taint(),)])),
            unschedulable=draw(st.sampled_from([False] * 8 + [True])),
            ready=draw(st.sampled_from([True] * 8 + [False])),
        )
        for place in range(count)
    ]


@st.composite
def buffers(draw: st.DrawFn) -> CapacityBuffer:
    """One whose chunks no rule about other pods binds; its selector, terms and tolerations are any."""
    plain = draw(classes())
    chunk = PodClass(
        plain.namespace,
        owner=chunk_owner("spare"),
        requests=plain.requests,
        node_selector=plain.node_selector,
        node_terms=plain.node_terms,
        tolerations=plain.tolerations,
    )
    return CapacityBuffer(chunk.namespace, "spare", chunk, draw(st.integers(1, 6)))


@st.composite
def clusters(draw: st.DrawFn) -> Snapshot:
    rows = draw(nodes())
    kinds = draw(st.lists(classes(), min_size=1, max_size=5))
    places = [*(row.name for row in rows), ""]
    spots = draw(st.lists(st.tuples(st.sampled_from(kinds), st.sampled_from(places)), min_size=3, max_size=16))
    pods = [pod(f"p{number:02}", on=place, kind=kind) for number, (kind, place) in enumerate(spots)]
    limits = {row.name: draw(st.sampled_from([{}, {PD: 1}, {PD: 2}, {PD: 3}])) for row in rows}
    attached = {rows[0].name: (VolumeAttachment(PD, "pv-everywhere"),)}
    known = storage(*STORED, limits={name: CSINode(most) for name, most in limits.items()}, attached=attached)
    return replace(cluster(rows, pods, namespaces={"default": {}, "other": {}}), storage=known)


@dataclass(frozen=True)
class Proof:
    """Where the proof puts pods once it has taken all nodes that it can."""

    judged: Snapshot
    """Without the pods of departing nodes that have no place: they are judged as pods that wait, and lie nowhere."""
    moves: Mapping[str, str]  # By pod its new node.
    drained: Collection[str]


def proof_of(snapshot: Snapshot, *, robust: bool = True) -> Proof:
    leaving = [row.name for row in snapshot.nodes if row.drain_taint is not None]
    simulation = Simulation.of(snapshot, leaving, robust=robust)
    for row in snapshot.nodes:
        if row.name not in leaving:
            simulation.try_remove(row.name)
    moves = moves_of(simulation)
    waiting = {any_pod.key for any_pod in simulation.unplaced} - moves.keys()
    judged = replace(snapshot, pods=tuple(any_pod for any_pod in snapshot.pods if any_pod.key not in waiting))
    return Proof(judged, moves, {*simulation.taken, *leaving})


def moves_of(simulation: Simulation) -> dict[str, str]:
    """Return by pod where it lies then: what waited, and what moved."""
    moved = (move for moves in simulation.assignments.moves().values() for move in moves)
    return {move.pod: move.node for move in (*simulation.assignments.reservations(), *moved)}
