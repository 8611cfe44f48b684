"""The part of the Kubernetes API's objects that Ebb reads, as partial structs: everything else is skipped undecoded.

Parts that pods of one kind share word for word stay raw bytes here; `fold` compares them as bytes and they are
decoded once a kind. Must not hold meaning: that is `translate`, `fold` and `selectors`.
"""

from datetime import datetime
from typing import Annotated, Final, Generic, TypeVar

import msgspec

ABSENT: Final = msgspec.Raw(b"")
"""The default of raw parts."""
SILENT: Final = (ABSENT, msgspec.Raw(b"null"))
"""A raw part that says nothing: not there, or null."""
Time = Annotated[datetime, msgspec.Meta(tz=True)]
Quantities = dict[str, str | int | float]


class Partial(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A struct over the API's camelCase fields. Without cycles, so the garbage collector need not look at it."""


class OwnerReference(Partial, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = False


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


class Condition(Partial, frozen=True):
    type: str = ""
    status: str = ""
    reason: str | None = ""
    last_transition_time: Time | None = None


class Taint(Partial, frozen=True):
    key: str = ""
    effect: str = ""
    value: str = ""


class NodeSpec(Partial, frozen=True):
    taints: list[Taint] | None = None
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


class Expression(Partial, frozen=True):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Partial, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None


class BudgetSpec(Partial, frozen=True):
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = ""


class BudgetStatus(Partial, frozen=True):
    disruptions_allowed: int = 0
    expected_pods: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    observed_generation: int = 0


class PodDisruptionBudget(Partial, frozen=True):
    metadata: Meta
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


class Namespace(Partial, frozen=True):
    metadata: Meta


class Event(Partial, frozen=True):
    """What somebody said of an object; older writers fill in `lastTimestamp`, newer ones `eventTime`."""

    involved_object: Meta = Meta()
    message: str = ""
    last_timestamp: Time | None = None
    event_time: Time | None = None


class ControllerMeta(Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    generation: int = 0
    owner_references: list[OwnerReference] | None = None


class RollingUpdate(Partial, frozen=True):
    partition: int = 0


class UpdateStrategy(Partial, frozen=True):
    type: str = ""
    rolling_update: RollingUpdate | None = None


class TemplateResources(Partial, frozen=True):
    requests: Quantities | None = None
    limits: Quantities | None = None


class TemplateContainer(Partial, frozen=True):
    """A container of a pod template: read as values, for there are few of them, and raw parts would keep their page."""

    name: str = ""
    resources: TemplateResources | None = None
    restart_policy: str | None = ""


class TemplateSpec(Partial, frozen=True):
    containers: list[TemplateContainer] | None = None
    init_containers: list[TemplateContainer] | None = None
    overhead: Quantities | None = None
    resources: TemplateResources | None = None


class Template(Partial, frozen=True):
    spec: TemplateSpec | None = None


class ControllerSpec(Partial, frozen=True):
    replicas: int | None = None
    update_strategy: UpdateStrategy = UpdateStrategy()
    template: Template | None = None
    pod_replacement_policy: str | None = ""


class ControllerStatus(Partial, frozen=True):
    replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    current_revision: str = ""
    update_revision: str = ""
    conditions: list[Condition] | None = None


class Controller(Partial, frozen=True):
    """A ReplicaSet, a Deployment or a StatefulSet: the fields that the three share, and a few of one alone."""

    metadata: ControllerMeta
    spec: ControllerSpec = ControllerSpec()
    status: ControllerStatus = ControllerStatus()


class ListMeta(Partial, frozen=True):
    continue_: str = msgspec.field(default="", name="continue")


Item = TypeVar("Item")


class Page(Partial, Generic[Item], frozen=True):
    """One page of a list."""

    metadata: ListMeta = ListMeta()
    items: list[Item] | None = None
