"""ComputeClasses as the autoscaler reads them: up to which utilisation their nodes go, and after how long.

The list is asked for only where a node bears the label of a class.
Source: GoogleCloudPlatform/cluster-autoscaler, pkg/computeclass/autoscaling_options.go (a percentage by 100, minutes).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infra.local.scaling.client import Client, RefusedCall
from infra.local.world.kinds import Json
from infra.local.world.pods import labels_of

CLASS_LABEL = "cloud.google.com/compute-class"
_NOT_FOUND = 404


@dataclass(frozen=True)
class ClassRule:
    """What one class says; None where the profile holds."""

    threshold: float | None = None
    gpu_threshold: float | None = None
    unneeded_time: float | None = None


def class_rules(client: Client, nodes: Sequence[Json]) -> Mapping[str, ClassRule]:
    """The rules by the class's name; none where the cluster has no such kind."""
    if not any(CLASS_LABEL in labels_of(node) for node in nodes):
        return {}
    try:
        found = client.listed("computeclasses")
    except RefusedCall as refused:
        if refused.status != _NOT_FOUND:
            raise
        return {}
    return {each["metadata"]["name"]: _rule(each) for each in found}


def _rule(given: Json) -> ClassRule:
    said = (given.get("spec") or {}).get("autoscalingPolicy") or {}
    minutes = said.get("consolidationDelayMinutes")
    return ClassRule(
        _share(said.get("consolidationThreshold")),
        _share(said.get("gpuConsolidationThreshold")),
        None if minutes is None else minutes * 60.0,
    )


def _share(percent: int | None) -> float | None:
    return None if percent is None else percent / 100
