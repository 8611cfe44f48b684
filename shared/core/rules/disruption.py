"""What evicting a pod costs whom it serves: of two sets of nodes that save the same, the gentler one is taken.

As in Karpenter an eviction counts one, more or less by the pod's deletion cost and its priority
(kubernetes-sigs/karpenter, pkg/utils/disruption); a pod that began lately counts double, for it has probably just been
moved. Must not decide whether a pod may be moved.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass

EVICTION: Final = 2**27
"""What the eviction of an ordinary pod counts."""
_MOST: Final = 10 * EVICTION
_OF_PRIORITY: Final = 4
"""A priority of 2^25 counts as much as an eviction, a deletion cost of 2^27 as well."""
YOUNG: Final = timedelta(hours=1)
_INT32: Final = 2**31


def disruption(moving: Iterable[Pod], now: datetime) -> int:
    """Return what it costs to evict the pods of a node that have to move."""
    return sum(eviction_cost(pod, now) for pod in moving)


def eviction_cost(pod: Pod, now: datetime) -> int:
    """Return what evicting the pod costs; never below nothing."""
    cost = EVICTION + deletion_cost(pod.spec) + _OF_PRIORITY * pod.spec.priority
    young = pod.created is not None and now - pod.created < YOUNG
    return max(0, min(cost, _MOST)) * (2 if young else 1)


def deletion_cost(spec: PodClass) -> int:
    """Return the pod's own word for it; what is no 32-bit integer counts nothing, as for the ReplicaSet controller."""
    written = spec.annotations.get(names.DELETION_COST, "")
    digits = written.removeprefix("-").removeprefix("+")
    plain = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_INT32))
    cost = int(written) if plain and len(written) - len(digits) <= 1 else 0
    return cost if -_INT32 <= cost < _INT32 else 0
