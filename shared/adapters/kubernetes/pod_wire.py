"""The part of a pod that Ebb reads, and of its containers; see `wire`. Must not hold meaning: that is `fold`.

Parts that pods of one kind share word for word stay raw bytes here; `fold` compares them as bytes and they are
decoded once a kind.
"""

import msgspec

from shared.adapters.kubernetes.wire import ABSENT, Condition, OwnerReference, Partial, Time


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
