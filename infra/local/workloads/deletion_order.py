"""Which pods a ReplicaSet that is scaled in gives up first.

Source: kubernetes pkg/controller, ActivePodsWithRanks, and GetDeletionCostFromPodAnnotations of pkg/apis/core/helper.
"""

import re
from collections import Counter

from infra.local.world.kinds import Json
from infra.local.world.pods import is_ready, node_of

_COST = "controller.kubernetes.io/pod-deletion-cost"
_WRITTEN = re.compile(r"0|[1-9][0-9]*|-[0-9]+")
_BITS = 31


def given_up_first(living: list[Json]) -> list[Json]:
    """Unbound pods first, then unready ones, then the cheapest, those beside most of their kind, the youngest."""
    beside = Counter(node_of(pod) for pod in living)
    youngest = sorted(living, key=lambda pod: pod["metadata"]["creationTimestamp"], reverse=True)
    return sorted(
        youngest, key=lambda pod: (bool(node_of(pod)), is_ready(pod), deletion_cost(pod), -beside[node_of(pod)])
    )


def deletion_cost(pod: Json) -> int:
    """The cost that somebody wrote on the pod; 0 without one, and where it is no integer of 32 bits."""
    written = (pod["metadata"].get("annotations") or {}).get(_COST, "")
    cost = int(written) if _WRITTEN.fullmatch(written) else 0
    return cost if -(2**_BITS) <= cost < 2**_BITS else 0
