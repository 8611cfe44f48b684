"""What evicting a pod costs: what people write on it, and how that and its priority weigh (as in Karpenter).

The first annotation that can be read counts: the name that node autoscalers are to share, Karpenter's own, and the
deletion cost, which ranks the pods of one ReplicaSet. A pod that began in the last half a day counts double.
Source: kubernetes-sigs/karpenter, pkg/utils/disruption.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.rules.drain_context import DrainContext

_MOST: Final = 2**31 - 1
_DIGITS: Final = len(str(_MOST))
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class _Range:
    least: int
    words: str


_DISRUPTION: Final = _Range(0, f"no integer from 0 to {_MOST}")
_DELETION: Final = _Range(-(2**31), "no integer of 32 bits without a plus sign and leading zeros")
_COSTS: Final[Mapping[str, _Range]] = {
    **dict.fromkeys(names.DISRUPTION_COSTS, _DISRUPTION),
    names.DELETION_COST: _DELETION,
}
"""In the order in which they are asked. Ranges: kubernetes/autoscaler PR 9850 (the proposal), and
`GetDeletionCostFromPodAnnotations` of pkg/apis/core/helper, by which the ReplicaSet controller reads."""


def written_cost(spec: PodClass) -> int:
    """Return the cost that people wrote on a pod; 0 if none can be read."""
    if not spec.annotations:
        return 0
    return next((cost for name in _COSTS if (cost := _read(spec, name)) is not None), 0)


def deletion_cost(pod: Pod) -> int:
    """Return the deletion cost that stands on a pod, its people's or Ebb's, as its ReplicaSet reads it."""
    # 0 of what cannot be read: a mark like Ebb's may come from the template, with any value.
    written = pod.spec.annotations.get(names.DELETION_COST, pod.steered)
    return _parse_cost(written, _DELETION) or 0


def has_written_cost(spec: PodClass) -> bool:
    """Whether its people wrote a cost on the pod, readable or not."""
    return bool(spec.annotations) and not spec.annotations.keys().isdisjoint(_COSTS)


def unread_costs(snapshot: Snapshot) -> tuple[str, ...]:
    """Return a sentence for each cost that cannot be read and so does not count; of many, how many more."""
    pods = Counter(pod.spec for pod in snapshot.pods if pod.spec.annotations)
    found = [sentence for spec, count in pods.items() for sentence in _unread(spec, count)]
    more = len(found) - _MOST_NAMED
    rest = [f"{more} more costs of pods cannot be read and do not count."] if more > 0 else []
    return (*found[:_MOST_NAMED], *rest)


def _unread(spec: PodClass, count: int) -> tuple[str, ...]:
    whose = spec.workload or f"{spec.namespace} (pods of no controller)"
    pods = f"{count:,} pod{'s' if count > 1 else ''}"
    return tuple(
        f"{whose}: {name} is {spec.annotations[name]!r} on {pods}, {range_.words}; it does not count."
        for name, range_ in _COSTS.items()
        if name in spec.annotations and _read(spec, name) is None
    )


def _read(spec: PodClass, name: str) -> int | None:
    return _parse_cost(spec.annotations.get(name, ""), _COSTS[name])


def _parse_cost(written: str, range_: _Range) -> int | None:
    digits = written.removeprefix("-")
    # A needless zero in front is refused; after a minus Kubernetes accepts them.
    padded = written.startswith("0") and written != "0"
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS or padded:
        return None
    cost = int(written)
    return cost if range_.least <= cost <= _MOST else None


EVICTION: Final = 2**27  # What the eviction of an ordinary pod counts.
_MOST_COST: Final = 10 * EVICTION
_OF_PRIORITY: Final = 4  # A priority of 2^25 counts as much as an eviction, a written cost of 2^27 as well.
YOUNG: Final = timedelta(hours=12)
"""So long demand falls on most days: a younger pod may have been moved already, and would be moved once more."""


def disruption(moving: Iterable[Pod], context: DrainContext) -> int:
    return sum([eviction_cost(pod, context.now) for pod in moving])


def eviction_cost(pod: Pod, now: datetime) -> int:
    cost = EVICTION + written_cost(pod.spec) + _OF_PRIORITY * pod.spec.priority
    return max(0, min(cost, _MOST_COST)) * (2 if is_young(pod, now) else 1)


def young_pods(moving: Iterable[Pod], context: DrainContext) -> int:
    """Return how many pods may have been moved already today."""
    return sum(is_young(pod, context.now) for pod in moving)


def is_young(pod: Pod, now: datetime) -> bool:
    return pod.created is not None and now - pod.created < YOUNG
