"""What evicting a pod costs whom it serves: of two sets of nodes that save the same, the gentler one is taken.

As in Karpenter an eviction counts one, more or less by the cost that people wrote on the pod and by its priority
(kubernetes-sigs/karpenter, pkg/utils/disruption); a pod that began lately counts double, for it has probably just been
moved. Must not decide whether a pod may be moved.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.rules.pod_costs import written_cost

EVICTION: Final = 2**27
"""What the eviction of an ordinary pod counts."""
_MOST: Final = 10 * EVICTION
_OF_PRIORITY: Final = 4
"""A priority of 2^25 counts as much as an eviction, a written cost of 2^27 as well."""
YOUNG: Final = timedelta(hours=1)


def disruption(moving: Iterable[Pod], now: datetime) -> int:
    """Return what it costs to evict the pods of a node that have to move."""
    return sum(eviction_cost(pod, now) for pod in moving)


def eviction_cost(pod: Pod, now: datetime) -> int:
    """Return what evicting the pod costs; never below nothing."""
    cost = EVICTION + written_cost(pod.spec) + _OF_PRIORITY * pod.spec.priority
    young = pod.created is not None and now - pod.created < YOUNG
    return max(0, min(cost, _MOST)) * (2 if young else 1)
