"""The part of the API's objects that Ebb reads: metadata, pods, nodes and storage as the API sends them."""

from datetime import datetime
from typing import Annotated, Final, Generic, TypeVar

import msgspec

from shared.core.cluster.selectors import Requirement, Taint

ABSENT: Final = msgspec.Raw(b"")  # The default of raw parts.
SILENT: Final = (ABSENT, msgspec.Raw(b"null"))  # A raw part without content: not there, or null.
Time = Annotated[datetime, msgspec.Meta(tz=True)]
Count = Annotated[int, msgspec.Meta(ge=0)]  # The API server takes none below 0.
Quantities = dict[str, str | int | float]


class Partial(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A struct over the API's camelCase fields. Without cycles, so the garbage collector need not look at it."""


class Named(Partial, frozen=True):
    name: str = ""


class OwnerReference(Partial, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = False


def controller_of(owners: list[OwnerReference] | None) -> OwnerReference | None:
    for owner in owners or ():  # of every pod: a generator would take twice as long
        if owner.controller:
            return owner
    return None


class Meta(Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class Condition(Partial, frozen=True):
    type: str = ""
    status: str = ""
    reason: str | None = ""
    last_transition_time: Time | None = None


class NodeSpec(Partial, frozen=True):
    taints: tuple[Taint, ...] | None = None
    unschedulable: bool = False


class NodeInfo(Partial, frozen=True):
    kubelet_version: str = ""


class NodeStatus(Partial, frozen=True):
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    node_info: NodeInfo | None = None
    declared_features: list[str] | None = None


class Node(Partial, frozen=True):
    metadata: Meta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class LabelSelector(Partial, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class BudgetSpec(Partial, frozen=True):
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = ""


class BudgetCondition(Condition, frozen=True):
    message: str | None = ""


class BudgetStatus(Partial, frozen=True):
    disruptions_allowed: Count = 0
    expected_pods: Count = 0
    current_healthy: Count = 0
    desired_healthy: Count = 0
    observed_generation: int = 0
    conditions: list[BudgetCondition] | None = None


class PodDisruptionBudget(Partial, frozen=True):
    metadata: Meta
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


class AnyObject(Partial, frozen=True):
    """A namespace, or whatever else only the metadata is read of."""

    metadata: Meta


class EventSource(Partial, frozen=True):
    component: str = ""


class Event(Partial, frozen=True):
    """A line about an object; older writers fill in `source` and `lastTimestamp`, newer ones the other two."""

    involved_object: Meta = Meta()
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    reporting_component: str = ""
    last_timestamp: Time | None = None
    event_time: Time | None = None


class ListMeta(Partial, frozen=True):
    continue_: str = msgspec.field(default="", name="continue")


Item = TypeVar("Item")


class Page(Partial, Generic[Item], frozen=True):
    metadata: ListMeta = ListMeta()
    items: list[Item] | None = None


class PodMeta(Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: msgspec.Raw = ABSENT
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class Requests(Partial, frozen=True):
    requests: msgspec.Raw = ABSENT


class RequestsAndLimits(Requests, frozen=True):
    """Of a template; in a pod the API server has written limits into the requests, and no rule reads them."""

    limits: msgspec.Raw = ABSENT


class Container(Partial, frozen=True):
    name: str = ""
    resources: Requests | None = None
    ports: msgspec.Raw = ABSENT
    restart_policy: str | None = ""


class PodSpec(Partial, frozen=True):
    node_name: str = ""
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: msgspec.Raw = ABSENT
    resources: Requests | None = None
    node_selector: msgspec.Raw = ABSENT
    os: Named | None = None
    affinity: msgspec.Raw = ABSENT
    tolerations: msgspec.Raw = ABSENT
    topology_spread_constraints: msgspec.Raw = ABSENT
    volumes: msgspec.Raw = ABSENT
    resource_claims: msgspec.Raw = ABSENT
    scheduling_gates: msgspec.Raw = ABSENT
    workload_ref: msgspec.Raw = ABSENT
    scheduling_group: msgspec.Raw = ABSENT
    eviction_responders: msgspec.Raw = ABSENT
    host_network: bool = False
    scheduler_name: str = ""
    runtime_class_name: str | None = ""
    priority: int | None = None
    priority_class_name: str = ""
    termination_grace_period_seconds: int | None = None
    restart_policy: str = ""


class ContainerStatus(Partial, frozen=True):
    name: str = ""
    allocated_resources: msgspec.Raw = ABSENT
    resources: Requests | None = None


class PodStatus(Partial, frozen=True):
    phase: str = ""
    nominated_node_name: str = ""
    start_time: Time | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    allocated_resources: msgspec.Raw = ABSENT
    resources: Requests | None = None
    extended_resource_claim_status: msgspec.Raw = ABSENT


class Pod(Partial, frozen=True):
    metadata: PodMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class ClaimSpec(Partial, frozen=True):
    volume_name: str | None = ""
    storage_class_name: str | None = None
    access_modes: list[str] | None = None


class ClaimStatus(Partial, frozen=True):
    phase: str | None = ""


class Claim(Partial, frozen=True):
    metadata: Meta
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class Volume(Partial, frozen=True):
    """A PersistentVolume. Its source is a field of the spec with the source's kind as its name."""

    metadata: Meta
    spec: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class ClaimTemplate(Partial, frozen=True):
    """What an ephemeral volume's claim is made from."""

    spec: ClaimSpec = ClaimSpec()


class VolumeSource(Partial, frozen=True):
    """How two volumes of one kind differ for Ebb, of a pod or of the cluster; all else is the kubelet's business."""

    medium: str | None = ""
    claim_name: str | None = ""
    driver: str | None = ""
    volume_handle: str | None = ""
    pd_name: str | None = ""
    volume_claim_template: ClaimTemplate | None = None


class ClaimReference(Partial, frozen=True):
    namespace: str | None = ""
    name: str | None = ""


class TopologyRow(Partial, frozen=True):
    key: str = ""
    values: tuple[str, ...] | None = None


class TopologyTerm(Partial, frozen=True):
    match_label_expressions: list[TopologyRow] | None = None


class StorageClass(Partial, frozen=True):
    metadata: Meta
    provisioner: str | None = ""
    volume_binding_mode: str | None = ""
    allowed_topologies: list[TopologyTerm] | None = None


class DriverAllocatable(Partial, frozen=True):
    count: int | None = None


class NodeDriver(Partial, frozen=True):
    name: str = ""
    allocatable: DriverAllocatable | None = None


class CSINodeSpec(Partial, frozen=True):
    drivers: list[NodeDriver] | None = None


class CSINode(Partial, frozen=True):
    metadata: Meta
    spec: CSINodeSpec = CSINodeSpec()


class AttachmentSource(Partial, frozen=True):
    persistent_volume_name: str | None = ""


class AttachmentSpec(Partial, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Partial, frozen=True):
    metadata: Meta
    spec: AttachmentSpec = AttachmentSpec()


class CSIDriverSpec(Partial, frozen=True):
    storage_capacity: bool | None = False


class CSIDriver(Partial, frozen=True):
    metadata: Meta
    spec: CSIDriverSpec = CSIDriverSpec()
