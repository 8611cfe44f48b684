"""The independent judge's part about volumes: pod by pod, volume by volume, nothing of the placement it judges.

What only keeps a pod from being moved (a disk of its node, a claim no new pod could start with, a disk that several
share) is not asked of pods that need a place anyway: those without a node, or whose node goes without our doing.
"""

from collections.abc import Iterable, Mapping

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, Volume
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import PersistentVolume, PersistentVolumeClaim, Storage

Standing = list[tuple[Pod, Node]]


def volume_faults(snapshot: Snapshot, standing: Standing, moves: Mapping[str, str]) -> Iterable[str]:
    if not snapshot.storage.known:
        return
    for pod, target in standing:
        if pod.key in moves:
            for volume in pod.spec.volumes:
                yield from _out_of_reach(snapshot.storage, pod, volume, target)
                yield from _in_use(snapshot, pod, volume, standing)
            if _moved_by_us(snapshot, pod):
                yield from _never_moved(snapshot, pod)
    yield from _too_many(snapshot.storage, standing, moves)


def _claim(storage: Storage, pod: Pod, volume: Volume) -> PersistentVolumeClaim | None:
    named = volume.kind == "persistentVolumeClaim"
    return storage.claims.get(f"{pod.spec.namespace}/{volume.detail}") if named else None


def _disk(storage: Storage, pod: Pod, volume: Volume) -> PersistentVolume | None:
    claim = _claim(storage, pod, volume)
    return storage.volumes.get(claim.volume) if claim is not None and claim.bound else None


def _out_of_reach(storage: Storage, pod: Pod, volume: Volume, target: Node) -> Iterable[str]:
    disk = _disk(storage, pod, volume)
    if disk is None:
        made = storage.classes.get(volume.storage_class or "") if volume.kind == "ephemeral" else None
        terms = made.allowed_topologies if made is not None else None
    else:
        terms = disk.node_terms
    if terms is not None and not any(term.matches(target.labels, "") for term in terms):
        yield f"{pod.key} cannot mount {volume.name} on {target.name}"
    told = any(key in target.labels for key in names.VOLUME_ZONE_LABELS)
    for key, value in disk.labels.items() if disk is not None and told else ():
        if target.labels.get(key) not in value.split("__"):
            yield f"{pod.key} cannot mount {volume.name} on {target.name}, which is not in {value}"


def _in_use(snapshot: Snapshot, mover: Pod, volume: Volume, standing: Standing) -> Iterable[str]:
    claim = _claim(snapshot.storage, mover, volume)
    if claim is not None and "ReadWriteOncePod" in claim.access_modes:
        for pod, _ in standing:
            others = {_claim(snapshot.storage, pod, volume) for volume in pod.spec.volumes}
            if pod.key != mover.key and claim in others:
                yield f"{mover.key} and {pod.key} both use {claim.key}"


def _moved_by_us(snapshot: Snapshot, pod: Pod) -> bool:
    node = next((node for node in snapshot.nodes if node.name == pod.node), None)
    if node is None or not node.ready:
        return False
    return not any(taint.key in {names.OUR_TAINT, *names.GOING_TAINTS} for taint in node.taints)


def _never_moved(snapshot: Snapshot, mover: Pod) -> Iterable[str]:
    for volume in mover.spec.volumes:
        claim, disk = _claim(snapshot.storage, mover, volume), _disk(snapshot.storage, mover, volume)
        if volume.kind == "persistentVolumeClaim" and (claim is None or claim.lost or claim.deleting or disk is None):
            yield f"{mover.key} could not start anew with {volume.name}"
        elif disk is not None and disk.kind in {"local", "hostPath"}:
            yield f"{mover.key} leaves its disk {disk.name} behind"
        elif disk is not None and disk.kind == "csi" and not {"ReadWriteMany", "ReadOnlyMany"} & {*disk.access_modes}:
            for pod in snapshot.pods:
                others = {_claim(snapshot.storage, pod, volume) for volume in pod.spec.volumes}
                if pod.key != mover.key and claim in others and not pod.phase.finished:
                    yield f"{mover.key} and {pod.key} may be sent to different nodes with one disk"


def _too_many(storage: Storage, standing: Standing, moves: Mapping[str, str]) -> Iterable[str]:
    """A node that gets any new volume of a driver has room for it, be the pod that brings it the last to come.

    What is attached and used by no pod there counts, and once more with the pod that brings it, as in the scheduler.
    """
    for node in {each.name: each for _, each in standing}.values():
        limits = storage.csi_nodes[node.name].limits if node.name in storage.csi_nodes else {}
        for driver, most in limits.items():
            here = [pod for pod, at in standing if at.name == node.name]
            besides = {
                storage.volumes[attachment.volume].handle
                for attachment in storage.attachments.get(node.name, ())
                if attachment.driver == driver and attachment.volume in storage.volumes
            }
            for mover in (pod for pod in here if pod.key in moves):
                before = _attached(storage, driver, [pod for pod in here if pod is not mover])
                new = _attached(storage, driver, [mover]) - before
                if new and len(before | besides) + len(new) > most:
                    yield f"{node.name} would have to attach {len(before | besides) + len(new)} volumes"


def _attached(storage: Storage, driver: str, pods: Iterable[Pod]) -> set[str]:
    found = set()
    for pod in pods:
        for volume in pod.spec.volumes:
            disk = _disk(storage, pod, volume)
            made = storage.classes.get(volume.storage_class or "") if volume.kind == "ephemeral" else None
            if disk is not None and disk.driver == driver:
                found.add(disk.handle)
            if made is not None and made.provisioner == driver:
                found.add(f"{pod.key} {volume.name}")
    return found
