"""The part of CapacityBuffers, PodTemplates and ComputeClasses that Ebb reads; see `wire`. Must not hold meaning."""

from typing import Any

import msgspec

from shared.adapters.kubernetes import pod_wire, wire
from shared.adapters.kubernetes.wire import Partial


class BufferMeta(wire.Meta, frozen=True):
    owner_references: list[wire.OwnerReference] | None = None


class Reference(Partial, frozen=True):
    name: str = ""


class BufferSpec(Partial, frozen=True):
    provisioning_strategy: str | None = ""


class BufferStatus(Partial, frozen=True):
    pod_template_ref: Reference | None = None
    replicas: int | None = None
    ready_replicas: int | None = None
    provisioning_strategy: str | None = ""
    conditions: list[wire.Condition] | None = None


class Buffer(Partial, frozen=True):
    """A CapacityBuffer of v1beta1, or of v1alpha1, which has fewer fields."""

    metadata: BufferMeta
    spec: BufferSpec = BufferSpec()
    status: BufferStatus = BufferStatus()


class Amounts(Partial, frozen=True):
    requests: wire.Quantities | None = None
    limits: wire.Quantities | None = None


class TemplateContainer(Partial, frozen=True):
    """A container before the API server has written its limits into its requests, as it does with pods."""

    name: str = ""
    resources: Amounts | None = None
    ports: msgspec.Raw = wire.ABSENT
    restart_policy: str | None = ""


class TemplateContainers(Partial, frozen=True):
    containers: list[TemplateContainer] | None = None
    init_containers: list[TemplateContainer] | None = None


class TemplateBody(Partial, frozen=True):
    metadata: pod_wire.PodMeta = pod_wire.PodMeta()
    spec: msgspec.Raw = wire.ABSENT


class PodTemplate(Partial, frozen=True):
    metadata: wire.Meta
    template: TemplateBody = TemplateBody()


class ClassBuffer(Partial, frozen=True):
    provisioning_strategy: str | None = ""
    limits: wire.Quantities | None = None


class ComputeClassSpec(Partial, frozen=True):
    buffers: list[ClassBuffer] | None = None
    autoscaling_policy: Any = None
    """As it was written: what is not of the API's shape there must not hide the rest."""


class ComputeClass(Partial, frozen=True):
    """A ComputeClass of GKE: its buffers, and how the autoscaler takes its nodes away."""

    metadata: wire.Meta
    spec: ComputeClassSpec = ComputeClassSpec()
