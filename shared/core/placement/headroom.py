"""What each node keeps free beside the pods that are moved to it. Must not know why."""

from collections.abc import Mapping

import numpy as np

from shared.core.cluster.node import Node
from shared.core.cluster.resources import PODS
from shared.core.placement.bounds import Amounts
from shared.core.placement.cluster_arrays import ClusterArrays


def headroom_of(arrays: ClusterArrays, percent: Mapping[str, int]) -> Amounts:
    """Return amounts by axis and node of percentages by pool, rounded up; the number of pods is not held back."""

    def share(node: Node) -> int:
        return percent.get(node.pool, 0)

    shares = np.fromiter(map(share, arrays.nodes), np.int64, len(arrays.nodes))
    amounts = -(-arrays.allocatable * shares // 100)
    amounts[arrays.axes.index(PODS)] = 0
    return amounts
