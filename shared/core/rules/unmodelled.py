"""May this pod run there? What of the kube-scheduler's filters is modelled, and by what name the rest blocks.

`placement` asks the same of whole clusters at once. A pod with a rule that is not modelled is never assumed to fit. Of
volumes `placement.constraints` decide where they may go. What they cannot decide is named here: a disk that goes with
its node, a claim that no new pod could start with.
Source: kube-scheduler, plugin VolumeBinding (podHasPVCs, GetPodVolumeClaims, checkVolumeProvisions).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import CLAIM, WITH_CLAIM, WITHOUT_PLACE, Pod, PodClass, Volume
from shared.core.cluster.resources import PODS, Resources
from shared.core.cluster.selectors import NodeTerm, tolerates_all
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import PersistentVolume, PersistentVolumeClaim, Storage, StorageClass
from shared.core.reasons import Finding, PodBlock

ONE_POD: Final = Resources.of({PODS: 1})  # The place that any pod takes on its node.


def is_destination(node: Node) -> bool:
    """Whether new pods may be planned onto the node: Ready, schedulable, neither going, nor worked on, nor outside."""
    going = node.drain_taint is not None or any(node.has_taint(key) for key in names.GOING_TAINTS)
    return node.ready and not node.unschedulable and not going and not node.outside and not node.lifecycle


def admits(spec: PodClass, node: Node) -> bool:
    """Whether taints, node selector, required node affinity and the kubelet let the pod onto the node."""
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector.items())
    terms = spec.node_terms
    wanted = terms is None or any(term.matches(node.labels, node.name) for term in terms)
    able = spec.can_run_under(node.kubelet, node.os)
    return selected and wanted and able and tolerates_all(node.taints, spec.tolerations)


def could_take(node: Node, pod: Pod) -> bool:
    needs = pod.requests + ONE_POD
    return is_destination(node) and needs.fits(node.allocatable) and admits(pod.spec, node)


def pinned_to_one_node(spec: PodClass) -> str | None:
    """Return the one node that template, selector or affinity name, or None when the pod may run elsewhere."""
    if spec.node_name:
        return spec.node_name
    named = spec.node_selector.get(names.HOSTNAME_LABEL)
    if named is not None:
        return named
    pins = {_pinned_node(term) for term in spec.node_terms or ()}
    return pins.pop() if len(pins) == 1 else None


def _pinned_node(term: NodeTerm) -> str | None:
    asked = (*term.fields, *(expression for expression in term.expressions if expression.key == names.HOSTNAME_LABEL))
    return next((field.values[0] for field in asked if field.operator == "In" and len(field.values) == 1), None)


NODES_OWN: Final = frozenset({"local", "hostPath"})  # Persistent volumes that lie on one node.
MOUNTED: Final = frozenset({"nfs", "cephfs", "glusterfs", "azureFile"})
"""Persistent volumes that are mounted over the network and attached to no node, whatever their access mode is."""
KNOWN_SOURCES: Final = NODES_OWN | MOUNTED | {"csi", "gcePersistentDisk", "iscsi", "rbd", "fc"}
SEVERAL_NODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
NOT_MADE: Final = frozenset({"", "kubernetes.io/no-provisioner"})
"""Provisioners of classes whose volumes somebody has to make."""


@dataclass(frozen=True)
class VolumeFacts:
    """What stands behind the volumes, and how many pods use each claim."""

    storage: Storage
    users: Mapping[str, int]

    @classmethod
    def of(cls, snapshot: Snapshot) -> "VolumeFacts":
        return cls(snapshot.storage, snapshot.claim_users)


_NO_FACTS: Final = VolumeFacts(Storage(unread=()), {})


def claim_of(spec: PodClass, volume: Volume, storage: Storage) -> PersistentVolumeClaim | None:
    return storage.claims.get(f"{spec.namespace}/{volume.detail}") if volume.kind == CLAIM else None


def disk_of(claim: PersistentVolumeClaim | None, storage: Storage) -> PersistentVolume | None:
    return storage.volumes.get(claim.volume) if claim is not None and claim.bound else None


def made_for(volume: Volume, claim: PersistentVolumeClaim | None, storage: Storage) -> StorageClass | None:
    """Return the class of which a volume would be made: for this claim, or for the one of an ephemeral volume."""
    if claim is not None:
        return storage.classes.get(claim.storage_class)
    name = storage.default_class if volume.storage_class is None else volume.storage_class
    return storage.classes.get(name) if volume.kind != CLAIM else None


def volume_blocks(spec: PodClass, facts: VolumeFacts | None) -> tuple[Finding, ...]:
    """Return what of the volumes keeps all pods of the class."""
    # None asks nothing about their claims: a drain that runs was admitted on what stood behind them.
    bound = [volume for volume in spec.volumes if volume.kind not in WITHOUT_PLACE]
    asked = [volume for volume in bound if facts is not None or volume.kind not in WITH_CLAIM]
    if not asked:
        return ()
    known = facts or _NO_FACTS
    rows = [(volume, claim_of(spec, volume, known.storage)) for volume in asked]
    found = []
    for reason, question in VOLUME_BLOCKS:
        answers = ((volume, question(volume, claim, known)) for volume, claim in rows)
        named = [f"{volume.kind} {volume.name}{': ' * bool(why)}{why}" for volume, why in answers if why is not None]
        found += [Finding(reason, ", ".join(named))] if named else []
    return tuple(found)


def _lies_on_its_node(_: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    disk = disk_of(claim, facts.storage)
    return f"volume {disk.name} is of kind {disk.kind}" if disk is not None and disk.kind in NODES_OWN else None


def _starts_no_pod(volume: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    """Find a claim with which the scheduler gives a new pod no node at all."""
    if volume.kind != CLAIM or not facts.storage.known:
        return None
    if claim is None:
        return f"claim {volume.detail} is missing"
    if claim.lost or claim.deleting:
        return f"claim {claim.name} {'has lost its volume' if claim.lost else 'is being deleted'}"
    if claim.bound:
        return None if claim.volume in facts.storage.volumes else f"volume {claim.volume} is missing"
    waits = waits_for_its_pod(claim, made_for(volume, claim, facts.storage))
    return None if waits else f"claim {claim.name} has no volume"


def waits_for_its_pod(claim: PersistentVolumeClaim, made: StorageClass | None) -> bool:
    """Whether an unbound claim gets its volume once its pod has a node; one that names a volume does not."""
    return not claim.volume and made is not None and made.waits_for_consumer


def _held_by_others(_: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    """Find a disk that one node at a time can hold and that several pods use: no filter keeps them together."""
    # Sent to different nodes, all but one wait for the disk in vain (isMultiAttachForbidden). A claim without a
    # volume ties all its pods to where the first one goes.
    users = facts.users.get(claim.key, 0) if claim is not None else 0
    together = claim is not None and _on_one_node(disk_of(claim, facts.storage))
    return f"{users} pods use claim {claim.name}" if claim is not None and together and users > 1 else None


def _on_one_node(disk: PersistentVolume | None) -> bool:
    return disk is None or (disk.kind not in MOUNTED and SEVERAL_NODES.isdisjoint(disk.access_modes))


def held_by_one_node(spec: PodClass, facts: VolumeFacts | None) -> tuple[str, ...]:
    """Name the volumes with a named claim that one node at a time can hold: no two pods of the class can run apart."""
    if facts is None:
        return ()
    named = [(volume, claim_of(spec, volume, facts.storage)) for volume in spec.volumes if volume.kind == CLAIM]
    return tuple(volume.name for volume, claim in named if _on_one_node(disk_of(claim, facts.storage)))


def _is_not_known(volume: Volume, claim: PersistentVolumeClaim | None, facts: VolumeFacts) -> str | None:
    if volume.kind not in WITH_CLAIM:
        return ""
    if not facts.storage.known:
        return f"{', '.join(facts.storage.unread)} not read"
    disk, made = disk_of(claim, facts.storage), made_for(volume, claim, facts.storage)
    if disk is not None:
        return None if disk.kind in KNOWN_SOURCES else f"volume {disk.name} is of kind {disk.kind}"
    if volume.kind == CLAIM and (claim is None or not waits_for_its_pod(claim, made)):
        return None  # a claim that starts no pod, which is named so
    return _is_not_made(made, facts.storage)


def _is_not_made(made: StorageClass | None, storage: Storage) -> str | None:
    """Return why a new volume of the class might not be made where the pod goes."""
    if made is None:
        return "its storage class is missing"
    if not made.waits_for_consumer:
        return f"class {made.name} makes a volume before its pod has a node"
    if made.provisioner in NOT_MADE:
        return f"volumes of class {made.name} are made by hand"
    return f"{made.provisioner} has room in some places only" if made.provisioner in storage.capacity_drivers else None


VolumeQuestion = Callable[[Volume, PersistentVolumeClaim | None, VolumeFacts], str | None]
VOLUME_BLOCKS: Final[tuple[tuple[PodBlock, VolumeQuestion], ...]] = (
    (PodBlock.LOCAL_VOLUME, _lies_on_its_node),
    (PodBlock.UNBOUND_CLAIM, _starts_no_pod),
    (PodBlock.SHARED_DISK, _held_by_others),
    (PodBlock.VOLUMES, _is_not_known),
)
"""Asked of each volume that is not `WITHOUT_PLACE`; the answer names what keeps its pod, empty if its kind does."""


UnmodelledQuestion = Callable[[PodClass], str | None]
UNMODELLED: Final[tuple[tuple[PodBlock, UnmodelledQuestion], ...]] = (
    (PodBlock.NAMES_ITS_NODE, pinned_to_one_node),
    (PodBlock.FOREIGN_SCHEDULER, lambda spec: None if spec.scheduler in names.SCHEDULERS else spec.scheduler),
    (PodBlock.SCHEDULING_GATES, lambda spec: ", ".join(spec.scheduling_gates) or None),
    (PodBlock.RESOURCE_CLAIMS, lambda spec: ", ".join(spec.resource_claims) or None),
    (PodBlock.UNMODELLED, lambda spec: ", ".join(spec.unmodelled) or None),
)


_FIELDS: Final[Mapping[PodBlock, frozenset[str]]] = {
    PodBlock.NAMES_ITS_NODE: frozenset({"nodeName", "nodeSelector", "affinity"}),
    PodBlock.FOREIGN_SCHEDULER: frozenset({"schedulerName"}),
    PodBlock.SCHEDULING_GATES: frozenset({"schedulingGates"}),
    PodBlock.RESOURCE_CLAIMS: frozenset({"resourceClaims"}),
    **{reason: frozenset({"volumes"}) for reason, _ in VOLUME_BLOCKS},
}
"""The API's fields that each is about."""


def find_unmodelled(spec: PodClass, volumes: VolumeFacts | None) -> tuple[Finding, ...]:
    """Return everything in the pod's spec that placement does not model, each by its name; empty = may be placed."""
    asked = ((reason, question(spec)) for reason, question in UNMODELLED)
    found = (Finding(reason, detail) for reason, detail in asked if detail is not None)
    return tuple(_name_template(spec, finding) for finding in (*found, *volume_blocks(spec, volumes)))


def _name_template(spec: PodClass, found: Finding) -> Finding:
    """Return the finding; if it is about what the pod's template adds, that is named."""
    fields = [add for add in spec.template_adds if add in _FIELDS.get(found.reason, ())]
    return Finding(found.reason, f"{found.detail} ({', '.join(fields)} of its template)") if fields else found
