"""What the cluster autoscaler would take by itself: its gates, its greedy order, and the pods that forbid it a node.

It looks at one node after the other, never at what a set of nodes would bring. Its rules about pods are not those of
Ebb's drains (`rules.pods`): it asks no policy, and moves what Ebb would leave.
Source: cluster-autoscaler pkg/core/scaledown (eligibility, planner), pkg/simulator (cluster.go, utilization/info.go,
drainability/rules), with GKE's flag that local storage does not matter.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Final

from functions.cli.analysis.forecast.scheduling import beginning
from shared.core.cluster import names
from shared.core.cluster.autoscaling import Profile, profile_named
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import GPU
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import REPLICATED
from shared.core.rules.pods import movable
from shared.core.rules.utilization import Usage, usage

DELETION: Final = timedelta(minutes=1)
"""How long the cloud takes to delete a machine."""


def profile_of(snapshot: Snapshot) -> Profile:
    return profile_named(snapshot.profile)


def soonest(snapshot: Snapshot, nodes: Iterable[Node]) -> timedelta:
    """Return the shortest time after which the autoscaler takes an unneeded one of these nodes."""
    return min((snapshot.scale_down(node).unneeded for node in nodes), default=profile_of(snapshot).unneeded)


def unneeded(snapshot: Snapshot, context: DrainContext, arrays_of: ArraysOf = ClusterArrays) -> tuple[str, ...]:
    """Return the nodes that the autoscaler would find unneeded now, in the order in which it would remove them.

    `context` knows the PDBs of the snapshot.
    """
    rows = [
        node
        for node in snapshot.nodes
        if is_eligible(node, snapshot.pods_by_node[node.name], snapshot.scale_down(node).gate)
    ]
    return scan(snapshot, context, rows, arrays_of=arrays_of).unneeded


@dataclass(frozen=True, slots=True)
class ScaleDownScan:
    """What one look of the autoscaler finds: who could go, and who is eligible and could not."""

    unneeded: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def scan(
    snapshot: Snapshot,
    context: DrainContext,
    eligible: Iterable[Node],
    leaving: Collection[str] = (),
    before: Collection[str] = (),
    arrays_of: ArraysOf = ClusterArrays,
) -> ScaleDownScan:
    """Return which eligible nodes could go, one after the other; `leaving` are on their way out already.

    Nodes that were unneeded `before` are asked ahead of others with pods.
    """
    sizes = _Sizes(snapshot)
    for name in leaving:
        sizes.take(snapshot.node_by_name[name])
    rows = [node for node in eligible if sizes.may_shrink(node)]
    movers = {node.name: movable(snapshot.pods_by_node[node.name], snapshot.taken_at) for node in rows}
    may_go = [node for node in rows if may_be_moved(movers[node.name], context)]
    simulation = beginning(arrays_of(snapshot)) if may_go else None
    for node in sorted(may_go, key=lambda each: (bool(movers[each.name]), each.name not in before)):
        if simulation is not None and sizes.may_shrink(node) and simulation.try_remove(node.name) is None:
            sizes.take(node)
    taken = simulation.taken if simulation is not None else ()
    return ScaleDownScan(taken, tuple(node.name for node in rows if node.name not in taken))


class _Sizes:
    """How many nodes are left of each pool and of its zones, which have minimums."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._pools = snapshot.pools
        self._left = Counter(key for node in snapshot.nodes if not node.outside for key in self._keys(node))

    def may_shrink(self, node: Node) -> bool:
        pool = self._pools.get(node.pool)
        if pool is None or not pool.autoscaled:
            return False
        total, zone = (self._left[key] for key in self._keys(node))
        return total > pool.min_total and zone > pool.min_per_zone

    def take(self, node: Node) -> None:
        self._left.subtract(self._keys(node))

    @staticmethod
    def _keys(node: Node) -> Iterator[tuple[str, ...]]:
        yield (node.pool,)
        yield (node.pool, node.zone)


def is_eligible(node: Node, pods: Sequence[Pod], gate: Fraction) -> bool:
    """Whether the autoscaler looks at a node with these pods at all."""
    switched_off = node.annotations.get(names.SCALE_DOWN_DISABLED) == "true"
    if not node.ready or node.outside or switched_off or node.has_taint(names.AUTOSCALER_DELETING_TAINT):
        return False
    used = usage(node, pods)
    return used is not None and _utilization(used) <= gate


def _utilization(used: Usage) -> Fraction:
    """Return the larger ratio of CPU and memory, DaemonSet pods left out on both sides; of GPUs where it has them."""
    gpu = dict(used.accelerators).get(GPU)
    if gpu is not None:
        return gpu
    rows = ((used.movable_cpu, used.cpu), (used.movable_memory, used.memory))
    return max(_without_daemons(moving, whole) for moving, whole in rows)


def _without_daemons(moving: Fraction, whole: Fraction) -> Fraction:
    offered = 1 - (whole - moving)
    return moving / offered if offered > 0 else Fraction(moving > 0)


SYSTEM_POD_BLOCKS_FOR: Final = timedelta(hours=1)

_Rule = Callable[[Pod, DrainContext], bool | None]
"""True: it may go whatever later rules decide; False: it may not; None: this rule does not decide."""


def _by_annotation(pod: Pod, _: DrainContext) -> bool | None:
    return {"true": True, "on-completion": False}.get(pod.spec.annotations.get(names.SAFE_TO_EVICT, ""))


def _not_replicated(pod: Pod, _: DrainContext) -> bool | None:
    owner = pod.spec.owner
    return None if owner is not None and owner.kind in REPLICATED else False


def _system(pod: Pod, context: DrainContext) -> bool | None:
    if pod.spec.namespace != names.KUBE_SYSTEM or context.budgets_of(pod.spec):
        return None
    return pod.created is None or context.now - pod.created >= SYSTEM_POD_BLOCKS_FOR


def _not_safe(pod: Pod, _: DrainContext) -> bool | None:
    return False if pod.spec.annotations.get(names.SAFE_TO_EVICT) == "false" else None


def _budget(pod: Pod, context: DrainContext) -> bool | None:
    return False if any(each.disruptions_allowed < 1 for each in context.budgets_of(pod.spec)) else None


_RULES: Final[tuple[_Rule, ...]] = (_by_annotation, _not_replicated, _system, _not_safe, _budget)


def may_be_moved(pods: Iterable[Pod], context: DrainContext) -> bool:
    """Whether the autoscaler would evict all of these pods."""
    return all(_may_go(pod, context) for pod in pods)


def _may_go(pod: Pod, context: DrainContext) -> bool:
    return next((answer for rule in _RULES if (answer := rule(pod, context)) is not None), True)
