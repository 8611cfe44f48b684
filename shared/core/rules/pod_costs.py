"""What people write on a pod about how dear it is to disturb, read as those read it for whom it was written.

The annotations are asked in an order, and the first that can be read counts: the name that node autoscalers are to
share, Karpenter's own, and the deletion cost, which ranks the pods of one ReplicaSet. Must not weigh them:
`disruption` does.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot

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
    """Return how dear its people say that a pod is; 0 where they say nothing that can be read."""
    if not spec.annotations:
        return 0
    return next((cost for name in _COSTS if (cost := _read(spec, name)) is not None), 0)


def deletion_cost(pod: Pod) -> int:
    """Return the deletion cost that stands on a pod, its people's or Ebb's, as its ReplicaSet reads it.

    0 of what cannot be read: a mark like Ebb's may come from the template, and say anything.
    """
    written = pod.spec.annotations.get(names.DELETION_COST, pod.steered)
    return _parsed(written, _DELETION) or 0


def has_written_cost(spec: PodClass) -> bool:
    """Whether its people wrote a cost on the pod, whatever it says."""
    return bool(spec.annotations) and not spec.annotations.keys().isdisjoint(_COSTS)


def unread_costs(snapshot: Snapshot) -> tuple[str, ...]:
    """Return a sentence for each cost that cannot be read and so does not count; of many, how many more."""
    pods = Counter(pod.spec for pod in snapshot.pods if pod.spec.annotations)
    found = [sentence for spec, count in pods.items() for sentence in _unread(spec, count)]
    more = len(found) - _MOST_NAMED
    return (
        *found[:_MOST_NAMED],
        *([f"{more} more costs of pods cannot be read and do not count."] if more > 0 else ()),
    )


def _unread(spec: PodClass, count: int) -> tuple[str, ...]:
    whose = spec.workload or f"{spec.namespace} (pods of no controller)"
    pods = f"{count:,} pod{'s' if count > 1 else ''}"
    return tuple(
        f"{whose}: {name} is {spec.annotations[name]!r} on {pods}, {range_.words}; it does not count."
        for name, range_ in _COSTS.items()
        if name in spec.annotations and _read(spec, name) is None
    )


def _read(spec: PodClass, name: str) -> int | None:
    return _parsed(spec.annotations.get(name, ""), _COSTS[name])


def _parsed(written: str, range_: _Range) -> int | None:
    digits = written.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS or _is_padded(written):
        return None
    cost = int(written)
    return cost if range_.least <= cost <= _MOST else None


def _is_padded(written: str) -> bool:
    """Whether it begins with a zero that says nothing; behind a minus Kubernetes lets them stand."""
    return written.startswith("0") and written != "0"
