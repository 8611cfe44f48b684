"""What Ebb says of the same manifests, read as a dump is read. The only module here that knows Ebb."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from functions.cli.dumps.contents import DumpContents
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.packing import Packing
from shared.core.placement.simulation import Simulation
from shared.core.placement.strategies import PACKED
from shared.core.planning.waves import prove_wave
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.real.scheduler_filters.program import Cluster, Manifest

NOW = datetime(2026, 3, 4, 22, 0, tzinfo=UTC)


def snapshot(cluster: Cluster, pending: Iterable[Manifest] = (), controllers: Iterable[Manifest] = ()) -> Snapshot:
    contents = DumpContents()
    parts = (
        ("Node", cluster.nodes),
        ("Namespace", cluster.namespaces),
        ("Pod", (*cluster.pods, *pending)),
        ("ReplicaSet", controllers),
        ("PersistentVolumeClaim", cluster.claims),
        ("PersistentVolume", cluster.volumes),
        ("StorageClass", cluster.classes),
        ("CSINode", cluster.csi_nodes),
        ("CSIDriver", cluster.csi_drivers),
        ("VolumeAttachment", cluster.attachments),
    )
    for kind, items in parts:
        for item in items:
            contents.add(kind, json.dumps(item).encode())
    return snapshot_of("cluster", contents.to_reading(), PoolsReading({}, known=False), NOW, NOW)


def fits(picture: Snapshot) -> Mapping[str, frozenset[str]]:
    """Return by pod key which nodes a packing would give each unbound pod while nothing else has moved."""
    arrays = ClusterArrays(picture)
    packing = Packing(arrays, PACKED)
    return {pod.key: _takers(arrays, packing, pod) for pod in arrays.pending if not pod.node}


def _takers(arrays: ClusterArrays, packing: Packing, pod: Pod) -> frozenset[str]:
    kind = arrays.kind_of[pod.spec]
    taking = [] if arrays.lasting_findings(kind) else packing.taking(kind).nonzero()[0].tolist()
    return frozenset(arrays.nodes[place].name for place in taking)


def kept(picture: Snapshot) -> Mapping[str, str]:
    """Return by pod key the first rule by which a pod is never moved, however much room there is."""
    arrays = ClusterArrays(picture)
    found = ((pod.key, arrays.lasting_findings(arrays.kind_of[pod.spec])) for pod in arrays.pending)
    return {pod: findings[0].reason.value for pod, findings in found if findings}


@dataclass(frozen=True)
class Step:
    """A node is taken; its pods, and those that earlier steps gave it, move in this order: pod key and target."""

    node: str
    moves: Sequence[tuple[str, str]]


def witness(picture: Snapshot) -> Sequence[Step]:
    """Return the proof of a whole plan as it grew: every node is tried, those with least on them first."""
    simulation = Simulation.of(picture)
    arrays = simulation.arrays
    rows = sorted(picture.nodes, key=lambda node: (arrays.load(arrays.index[node.name]), node.name))
    return _steps(simulation, [node.name for node in rows if _may_go(node)])


def parts_of_a_wave(picture: Snapshot, dice: Random, parts: int) -> list[tuple[Sequence[Step], int]]:
    """Return proofs of parts of a wave of half the nodes, in orders of their own, and how many nodes did not fit."""

    def closed(names: Sequence[str]) -> Simulation:
        return Simulation.of(picture, closed=names)

    free = [node.name for node in picture.nodes if _may_go(node)]
    wave = prove_wave(dice.sample(free, len(free) // 2), closed)[0]
    drawn = [dice.sample(wave, dice.randint(1, len(wave))) for _ in range(parts)] if wave else []
    found = [_steps(closed(wave), part) for part in drawn]
    return [(steps, len(part) - len(steps)) for steps, part in zip(found, drawn, strict=True)]


def _steps(simulation: Simulation, names: Sequence[str]) -> Sequence[Step]:
    steps = list[Step]()
    for name in names:
        before = simulation.placement_count
        if simulation.try_remove(name) is None:
            steps.append(Step(name, [(move.pod, move.node) for move in simulation.assignments.steps()[before:]]))
    return steps


def _may_go(node: Node) -> bool:
    return node.ready and not node.unschedulable
