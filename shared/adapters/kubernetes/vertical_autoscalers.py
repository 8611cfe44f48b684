"""VerticalPodAutoscalers: where they are listed, what is decoded of them, and what that means.

Source: kubernetes/autoscaler, vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1/types.go.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.containers import amounts
from shared.adapters.kubernetes.discovery import AdvisoryLists
from shared.adapters.kubernetes.malformed_objects import MalformedObjects
from shared.core.cluster.resources import CPU, Resources
from shared.core.cluster.returning import (
    ANY_CONTAINER,
    CONTROLLED,
    ContainerPolicy,
    StartupBoost,
    VerticalAutoscaler,
    VerticalAutoscalers,
)

KIND: Final = "VerticalPodAutoscaler"
GROUP: Final = "autoscaling.k8s.io"
RESOURCE: Final = "verticalpodautoscalers"
_OFF: Final = "Off"


class TargetRef(wire.Partial, frozen=True):
    kind: str = ""
    name: str = ""


class Boost(wire.Partial, frozen=True):
    """A factor of the request, or a quantity added to it: exactly one of the two, named by `type`."""

    factor: int | None = None
    quantity: str | int | float | None = None


class StartupBoosts(wire.Partial, frozen=True):
    cpu: Boost | None = None


class ScalingPolicy(wire.Partial, frozen=True):
    container_name: str = ""
    mode: str | None = ""
    min_allowed: wire.Quantities | None = None
    max_allowed: wire.Quantities | None = None
    controlled_resources: list[str] | None = None
    controlled_values: str | None = ""
    startup_boost: StartupBoosts | None = None


class ResourcePolicy(wire.Partial, frozen=True):
    container_policies: list[ScalingPolicy] | None = None


class UpdatePolicy(wire.Partial, frozen=True):
    update_mode: str | None = ""


class AutoscalerSpec(wire.Partial, frozen=True):
    target_ref: TargetRef | None = None
    update_policy: UpdatePolicy | None = None
    resource_policy: ResourcePolicy | None = None
    startup_boost: StartupBoosts | None = None


class ContainerRecommendation(wire.Partial, frozen=True):
    container_name: str = ""
    target: wire.Quantities | None = None


class Recommendation(wire.Partial, frozen=True):
    container_recommendations: list[ContainerRecommendation] | None = None


class AutoscalerStatus(wire.Partial, frozen=True):
    recommendation: Recommendation | None = None


class Autoscaler(wire.Partial, frozen=True):
    metadata: wire.Meta
    spec: AutoscalerSpec = AutoscalerSpec()
    status: AutoscalerStatus | None = None


def read_autoscalers(client: KubernetesClient) -> VerticalAutoscalers:
    """Read all of them. They only advise: a list that cannot be read is named as unread."""
    odd = MalformedObjects()
    lists = AdvisoryLists(client, odd)
    found = lists.read(RESOURCE, from_dump, GROUP)
    return VerticalAutoscalers(found, tuple(lists.unread), odd.faults)


def from_dump(raw: bytes | msgspec.Raw) -> VerticalAutoscaler:
    """Return one object of a dump or a page. Raises BadInput, msgspec.ValidationError."""
    given = msgspec.json.decode(raw, type=Autoscaler)
    meta, spec = given.metadata, given.spec
    target, update = spec.target_ref or TargetRef(), spec.update_policy
    found = given.status.recommendation if given.status else None
    rows = found.container_recommendations if found else None
    return VerticalAutoscaler(
        meta.namespace,
        meta.name,
        f"{meta.namespace}/{target.kind}/{target.name}",
        acts=update is None or update.update_mode != _OFF,
        recommended={row.container_name: amounts(row.target) for row in rows or ()},
        policies=dict(_policies(spec.resource_policy)),
        boost=_startup_boost(spec.startup_boost),
    )


def _policies(given: ResourcePolicy | None) -> Iterator[tuple[str, ContainerPolicy]]:
    for policy in (given.container_policies if given else None) or ():
        controlled = policy.controlled_resources
        yield (
            policy.container_name or ANY_CONTAINER,
            ContainerPolicy(
                scaled=policy.mode != _OFF,
                least=amounts(policy.min_allowed),
                most=amounts(policy.max_allowed),
                controlled=CONTROLLED if controlled is None else frozenset(controlled),
                below_limits=policy.controlled_values == "RequestsOnly",
                boost=_startup_boost(policy.startup_boost),
            ),
        )


def _startup_boost(given: StartupBoosts | None) -> StartupBoost | None:
    """Return the boost; a factor and a quantity exclude each other (a validation rule of the kind)."""
    if given is None or given.cpu is None:
        return None
    more = {} if given.cpu.quantity is None else {CPU: given.cpu.quantity}
    return StartupBoost(max(given.cpu.factor or 1, 1), Resources.parse(more).cpu)
