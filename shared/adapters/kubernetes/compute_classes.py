"""How a ComputeClass lets the autoscaler take nodes away: GKE's object into the core's words.

What is not of the API's shape is a sentence, never a failure: the profile's value holds for it. Must not read.
Source: docs.cloud.google.com, ComputeClass CRD (`spec.autoscalingPolicy`: percent, and minutes from 1 to 1440).
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

from shared.adapters.kubernetes import buffer_wire
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses

_THRESHOLD: Final = ("consolidationThreshold", 0, 100, "percent")
_GPU_THRESHOLD: Final = ("gpuConsolidationThreshold", 0, 100, "percent")
_DELAY: Final = ("consolidationDelayMinutes", 1, 1440, "minutes")
Bounds = tuple[str, int, int, str]


def classes_of(given: Iterable[buffer_wire.ComputeClass], *, unread: bool = False) -> ComputeClasses:
    return ComputeClasses({each.metadata.name: autoscaling_policy(each) for each in given}, unread)


def autoscaling_policy(given: buffer_wire.ComputeClass) -> AutoscalingPolicy:
    """Return what the class says; what cannot be read is named in its faults."""
    said, faults = given.spec.autoscaling_policy, list[str]()
    block: Mapping[str, Any] = said if isinstance(said, dict) else {}
    if said is not None and not isinstance(said, dict):
        faults.append(f"autoscalingPolicy is {said!r}, not an object; the profile's values hold.")
    threshold = _read(block, _THRESHOLD, faults)
    gpu_threshold = _read(block, _GPU_THRESHOLD, faults)
    delay = _read(block, _DELAY, faults)
    return AutoscalingPolicy(
        None if threshold is None else Fraction(threshold, 100),
        None if gpu_threshold is None else Fraction(gpu_threshold, 100),
        None if delay is None else timedelta(minutes=delay),
        tuple(faults),
    )


def _read(block: Mapping[str, Any], bounds: Bounds, faults: list[str]) -> int | None:
    name, least, most, unit = bounds
    value = block.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    faults.append(f"{name} is {value!r}: it takes {unit} from {least} to {most}; the profile's value holds.")
    return None
