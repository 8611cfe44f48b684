"""Nodes that the autoscaler removes only as a group, all of it or none: draining one of them saves nothing.

They are multi-host TPU slices, queued provisioning and compact placement (cluster-autoscaler, atomic node groups). Read
from the GKE API where it is asked, and from the node's own labels and taints everywhere.
"""

import re
from math import prod
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import TPU

_SHAPE: Final = re.compile(r"[0-9]{1,4}(?:x[0-9]{1,4})*", re.ASCII)
_CHIPS_OF_A_MACHINE: Final = re.compile(r"-([0-9]{1,4})t$", re.ASCII)
"""Machine types of TPU nodes end in the number of their chips: `ct5lp-hightpu-4t`, `tpu7x-standard-4t`."""


def atomic_group(node: Node, pool: NodePool | None) -> str:
    """Return what binds the node to others, in words; empty where it may go alone."""
    limits = pool or NodePool(node.pool)
    topology = limits.tpu_topology or node.labels.get(names.TPU_TOPOLOGY_LABEL, "")
    if topology and not _one_host(topology, node):
        return f"TPU slice {topology} of several hosts"
    if limits.queued or any(node.labels.get(key) or node.has_taint(key) for key in names.QUEUED_KEYS):
        return "queued provisioning"
    if limits.compact or any(node.labels.get(key) for key in names.PLACEMENT_LABELS):
        return "compact placement"
    return ""


def _one_host(topology: str, node: Node) -> bool:
    """Whether the node's own chips are the whole slice; a shape that cannot be read is taken for several hosts."""
    if not _SHAPE.fullmatch(topology):
        return False
    machine = _CHIPS_OF_A_MACHINE.search(node.machine)
    chips = node.allocatable.get(TPU) or int(machine[1] if machine else 0)
    return prod(map(int, topology.split("x"))) <= chips
