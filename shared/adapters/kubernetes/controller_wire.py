"""The part of ReplicaSets, Deployments and StatefulSets that Ebb reads; see `wire`."""

import msgspec

from shared.adapters.kubernetes.templates import Template
from shared.adapters.kubernetes.wire import Condition, OwnerReference, Partial, Time
from shared.core.cluster import names


class ControllerNotes(msgspec.Struct, frozen=True, gc=False):
    """Of a controller's annotations, which may be large, those that are read."""

    surge: str = msgspec.field(default="", name=names.SURGE)
    surged_before: str = msgspec.field(default="", name=names.SURGED_BEFORE)


class ControllerMeta(Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: Time | None = None
    annotations: ControllerNotes | None = None
    owner_references: list[OwnerReference] | None = None


class RollingUpdate(Partial, frozen=True):
    partition: int = 0
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class UpdateStrategy(Partial, frozen=True):
    type: str = ""
    rolling_update: RollingUpdate | None = None


class VolumeClaimTemplate(Partial, frozen=True):
    metadata: ControllerMeta


class Ordinals(Partial, frozen=True):
    start: int = 0


class ControllerSpec(Partial, frozen=True):
    replicas: int | None = None
    update_strategy: UpdateStrategy = UpdateStrategy()
    strategy: UpdateStrategy = UpdateStrategy()
    """The same of a Deployment."""
    min_ready_seconds: int = 0
    paused: bool = False
    template: Template | None = None
    volume_claim_templates: list[VolumeClaimTemplate] | None = None
    ordinals: Ordinals | None = None
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
