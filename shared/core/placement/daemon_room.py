"""Room for DaemonSet pods that are still to come: on a new node, after a rollout's deletion, where one was evicted.

A node that admits the pods of a DaemonSet and has none of them will be given one, and what lies in its room then keeps
it Pending, or is evicted for it (a ComputeClass's ensureAllDaemonSetPodsRunning). What such a pod needs is told by its
DaemonSet's pods elsewhere: of several revisions the most of each resource. Must not look at nodes one by one.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.pod import PodClass
from shared.core.placement.bounds import Amounts
from shared.core.placement.node_filters import Codes, NodeFilters

DAEMON_SET: Final = "DaemonSet"


def room_for_daemons(
    classes: Sequence[PodClass], requests: Amounts, kinds: Codes, where: Codes, node_filters: NodeFilters
) -> Amounts:
    """Return by axis and node what pods still to come will take.

    Args:
        classes: all pod classes.
        requests: by axis and class.
        kinds: of each bound pod its class.
        where: of each bound pod its node.
        node_filters: which nodes admit which class.
    """
    nodes = node_filters.count
    taken = np.zeros((len(requests), nodes), np.int64)
    bound = np.zeros(len(classes), np.bool_)
    bound[kinds] = True
    for own in _daemon_sets(classes, bound):
        is_own = np.zeros(len(classes), np.bool_)
        is_own[own] = True
        lacks = np.ones(nodes, np.bool_)
        lacks[where[is_own[kinds]]] = False
        if lacks.any():
            admitted = np.logical_or.reduce([node_filters.of(classes[kind]) for kind in own])
            taken += requests[:, own].max(axis=1)[:, np.newaxis] * (lacks & admitted)
    return taken


def _daemon_sets(classes: Sequence[PodClass], bound: NDArray[np.bool_]) -> list[list[int]]:
    """Return the classes of each DaemonSet of which pods run: those of pods without a node tell only of their own."""
    found: dict[tuple[str, str], list[int]] = {}
    for kind, spec in enumerate(classes):
        if bound[kind] and spec.owner is not None and spec.owner.kind == DAEMON_SET:
            found.setdefault((spec.namespace, spec.owner.name), []).append(kind)
    return list(found.values())
