"""The taints that set a whole pool apart (GPU, spot, dedicated), as against those that set one node apart.

A pool's own taint limits who may use the pool. Its nodes are well and are candidates, and what is
free on them is room for the pods of that pool.
"""

from collections.abc import Sequence
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.selectors import Taint

KUBERNETES_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Conditions of a node (not-ready, disk-pressure, shutdown …): never a pool's own, however many nodes share them."""
OF_ONE_NODE: Final = frozenset({names.OUR_TAINT, *names.GOING_TAINTS, *names.OUTSIDE_TAINTS})
"""A node in drain, or on its way out: never a pool's own either, though the pool have no other node."""


def own_taints(nodes: Sequence[Node]) -> frozenset[Taint]:
    """Return the taints that all nodes of a pool carry: those that the pool was made with.

    See docs/acceptance.md row 42.
    """
    shared = frozenset.intersection(*(frozenset(node.taints) for node in nodes)) if nodes else frozenset()
    return frozenset(taint for taint in shared if not _of_one_node(taint))


def _of_one_node(taint: Taint) -> bool:
    return taint.key in OF_ONE_NODE or taint.key.startswith(KUBERNETES_TAINTS)
