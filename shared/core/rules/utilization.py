"""How full a node is by its pods' requests, and how many nodes a pool has to spare. Exact fractions, no floats.

DaemonSet and kube-system pods count, as in estafette and node-refiner; a second pair of ratios leaves out what never
moves. The taints of a whole pool (GPU, spot, dedicated) limit who may use it: its room is for its own pods.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import ACCELERATORS, CPU, MEMORY, Resources, total
from shared.core.cluster.selectors import Taint
from shared.core.cluster.snapshot import NO_PODS, NodePods
from shared.core.policy import PoolPolicy
from shared.core.reasons import Blocker, Unremovable

KUBERNETES_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Conditions of a node (not-ready, disk-pressure, shutdown …): never a pool's own, however many nodes share them."""
OF_ONE_NODE: Final = frozenset({names.OUR_TAINT, *names.GOING_TAINTS, *names.OUTSIDE_TAINTS})
"""A node in drain, or on its way out: never a pool's own either, though the pool have no other node."""


def own_taints(nodes: Sequence[Node]) -> frozenset[Taint]:
    # Those that the pool was made with (docs/acceptance.md row 42).
    shared = frozenset.intersection(*(frozenset(node.taints) for node in nodes)) if nodes else frozenset()
    return frozenset(
        taint for taint in shared if taint.key not in OF_ONE_NODE and not taint.key.startswith(KUBERNETES_TAINTS)
    )


CPU_WEIGHT: Final = 80  # node-refiner's score: 0.8 of the CPU percentage and 0.2 of the memory percentage.
MEMORY_WEIGHT: Final = 20
FULL: Final = 100


@dataclass(frozen=True)
class Usage:
    """Requests divided by allocatable; `movable_…` without DaemonSet and mirror pods; `requested` is their sum."""

    cpu: Fraction
    memory: Fraction
    movable_cpu: Fraction
    movable_memory: Fraction
    requested: Resources
    accelerators: tuple[tuple[str, Fraction], ...] = ()
    """Requests by allocatable of each accelerator that the node has."""

    @property
    def accelerator(self) -> Fraction | None:
        return max((ratio for _, ratio in self.accelerators), default=None)

    @cached_property
    def score(self) -> Fraction:
        """0 for an empty node, 100 for a full one: 0.8·CPU% + 0.2·RAM% (docs/acceptance.md row 23)."""
        # A node with accelerators is at least as full as these are: 8 of 8 GPUs busy is 100, whatever its CPU does.
        by_cpu_and_memory = self.cpu * CPU_WEIGHT + self.memory * MEMORY_WEIGHT
        return max(by_cpu_and_memory, (self.accelerator or Fraction(0)) * FULL)


def usage(node: Node, pods: Iterable[Pod]) -> Usage | None:
    """Return how full the node is with those pods; None when it reports no allocatable CPU or memory."""
    # Finished pods occupy nothing; terminating and bound pending ones do (docs/acceptance.md rows 16, 18).
    size = node.allocatable
    if size.cpu <= 0 or size.memory <= 0:
        return None
    own = pods if isinstance(pods, NodePods) else NodePods(pods)
    found: Usage = own.usages.get(size) or own.usages.setdefault(size, _usage(size, own))
    return found


def _usage(size: Resources, own: NodePods) -> Usage:
    booked, movable = own.booked, own.booked_by_movers
    offered = ((name, amount) for name, amount in size.amounts if name in ACCELERATORS)
    return Usage(
        cpu=Fraction(booked.cpu, size.cpu),
        memory=Fraction(booked.memory, size.memory),
        movable_cpu=Fraction(movable.cpu, size.cpu),
        movable_memory=Fraction(movable.memory, size.memory),
        requested=booked,
        accelerators=tuple((name, Fraction(booked.get(name), amount)) for name, amount in offered),
    )


def above_limits(used: Usage, pool: PoolPolicy) -> tuple[Blocker, ...]:
    """Return which ratios are at or above the pool's limits; empty = underutilized (docs/acceptance.md 27 and 47)."""
    # Accelerators have the CPU's limit: what a node is bought for is its first measure.
    busiest, share = max(used.accelerators, key=lambda accelerator: accelerator[1], default=("", Fraction(0)))
    rows = (
        (Unremovable.CPU_ABOVE_LIMIT, "", used.cpu, pool.cpu_limit),
        (Unremovable.MEMORY_ABOVE_LIMIT, "", used.memory, pool.memory_limit),
        (Unremovable.ACCELERATOR_ABOVE_LIMIT, f"{busiest} ", share, pool.cpu_limit),
    )
    return tuple(
        Blocker(reason, detail=f"{name}{float(ratio):.1%} (limit {float(limit):.0%})")
        for reason, name, ratio, limit in rows
        if ratio >= limit
    )


def spare(
    nodes: Sequence[Node], pods_by_node: Mapping[str, NodePods], ignored: frozenset[str] = frozenset()
) -> Resources:
    """Return what is free on the Ready, schedulable and untainted of a pool's nodes; `ignored` are keys of taints."""
    # The taints that all nodes of a pool carry set the pool apart, and count for no node.
    own = own_taints(nodes)
    counted = [node for node in nodes if is_untainted(node, ignored, own) and node.ready and not node.outside]
    booked = total([pods_by_node.get(node.name, NO_PODS).booked for node in counted])
    return total([node.allocatable for node in counted]) - booked


def is_untainted(node: Node, ignored: frozenset[str] = frozenset(), own: frozenset[Taint] = frozenset()) -> bool:
    """Whether new pods may be bound to the node without a toleration."""
    # `own` are the taints of its whole pool, which do not count.
    repelling = (taint.key for taint in node.taints if taint.repels and taint.key not in ignored and taint not in own)
    return not node.unschedulable and not any(repelling)


def excess(free: Resources, candidate: Node) -> Fraction | None:
    """Return how many nodes like the candidate are to spare: the least over its resources."""
    # None when it reports no size.
    # Over CPU and memory as node-refiner (docs/acceptance.md row 25), and over the candidate's accelerators: a node
    # of busy GPUs is not to spare for its idle CPU.
    size = candidate.allocatable
    if size.cpu <= 0 or size.memory <= 0:
        return None
    counted = (CPU, MEMORY, *(name for name, _ in size.amounts if name in ACCELERATORS))
    return min(Fraction(free.get(name), size.get(name)) for name in counted)
