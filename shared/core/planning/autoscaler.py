"""What the cluster autoscaler asks of one node: its threshold, and the pods that forbid it the node.

It asks no policy, and moves what Ebb would leave (`rules.pods`).
Source: cluster-autoscaler pkg/core/scaledown/eligibility, pkg/simulator (utilization/info.go, drainability/rules),
with GKE's flag that local storage does not matter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.autoscaling import Profile, profile_named
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.resources import GPU
from shared.core.cluster.selectors import PREFER_NO_SCHEDULE, Taint
from shared.core.cluster.snapshot import NodePods, Snapshot
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import REPLICATED
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.core.rules.utilization import Usage, usage

DELETION: Final = timedelta(seconds=90)
"""How long the cloud takes to delete a machine. With evictions and pauses a node takes 135 s, as in recordings."""
EXPENDABLE_BELOW: Final = -10
"""Pods of a lower priority are not there for the autoscaler (expendable-pods-priority-cutoff)."""


def is_expendable(spec: PodClass) -> bool:
    """Whether a pod counts nowhere in the autoscaler: neither in use, nor as one that must move, nor as waiting."""
    return spec.priority < EXPENDABLE_BELOW


def drop_expendable(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as the autoscaler sees it; the same object if no pod is expendable."""
    if not any(is_expendable(pod.spec) for pod in snapshot.pods):
        return snapshot
    return replace(snapshot, pods=tuple(pod for pod in snapshot.pods if not is_expendable(pod.spec)))


def with_announced(snapshot: Snapshot, names_of: Iterable[str]) -> Snapshot:
    wanted = frozenset(names_of)
    return snapshot.with_nodes(tuple(with_announcement(node, wanted=node.name in wanted) for node in snapshot.nodes))


def with_announcement(node: Node, *, wanted: bool) -> Node:
    """Return the node with the autoscaler's announcement or without; the very same where that changes nothing."""
    if wanted is node.is_announced:
        return node
    others = tuple(taint for taint in node.taints if taint.key != names.AUTOSCALER_CANDIDATE_TAINT)
    mine = (Taint(names.AUTOSCALER_CANDIDATE_TAINT, PREFER_NO_SCHEDULE),) if wanted else ()
    return replace(node, taints=(*others, *mine))


def without_announcements(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as autoscaler and scheduler see it: on an announced node is room as on any other."""
    # For the taint is soft. Only Ebb's own plans put nothing there. The same object if no node is announced.
    announced = any(node.is_announced for node in snapshot.nodes)
    return with_announced(snapshot, ()) if announced else snapshot


def context_of(snapshot: Snapshot) -> DrainContext:
    """Return what the rules about pods ask of the cluster: its PDBs. The autoscaler knows no policy."""
    return Situation(snapshot, ClusterState(), Policy()).drain_context("")


def profile_of(snapshot: Snapshot) -> Profile:
    return profile_named(snapshot.profile)


def soonest(snapshot: Snapshot, nodes: Iterable[Node]) -> timedelta:
    return min((snapshot.scale_down(node).unneeded for node in nodes), default=profile_of(snapshot).unneeded)


def is_eligible(node: Node, pods: Sequence[Pod], gate: Fraction) -> bool:
    switched_off = node.annotations.get(names.SCALE_DOWN_DISABLED) == "true"
    if not node.ready or node.outside or switched_off or node.has_taint(names.AUTOSCALER_DELETING_TAINT):
        return False
    counted = [pod for pod in pods if not is_expendable(pod.spec)]
    used = usage(node, pods if len(counted) == len(pods) else NodePods(counted))
    return used is not None and _utilization(used) <= gate


def _utilization(used: Usage) -> Fraction:
    """Return the larger ratio of CPU and memory, DaemonSet pods left out on both sides; of GPUs where it has them."""
    gpu = dict(used.accelerators).get(GPU)
    if gpu is not None:
        return gpu
    rows = ((used.movable_cpu, used.cpu), (used.movable_memory, used.memory))
    offers = ((moving, 1 - (whole - moving)) for moving, whole in rows)
    return max(moving / offered if offered > 0 else Fraction(moving > 0) for moving, offered in offers)


def packs_by_itself(node: Node, situation: Situation) -> bool:
    """Whether the autoscaler packs as far as Ebb would where the node stands, and may empty this one itself."""
    snapshot = situation.snapshot
    rule = snapshot.scale_down(node)
    if not rule.packs or not is_eligible(node, snapshot.pods_by_node[node.name], rule.gate):
        return False
    surging, _ = situation.about_moving(node, surges_of)  # what moves without a gap is not left to it: it makes one
    return not surging and situation.about_moving(node, may_be_moved)


SYSTEM_POD_BLOCKS_FOR: Final = timedelta(hours=1)


def may_be_moved(pods: Iterable[Pod], context: DrainContext) -> bool:
    """Whether the autoscaler would evict all of these pods, if PodDisruptionBudgets let them go."""
    return all(_may_be_moved(pod, context) for pod in pods)


def _may_be_moved(pod: Pod, context: DrainContext) -> bool:
    # In the autoscaler's order: the age of a system pod without a budget counts before `false`.
    wish, owner = pod.spec.annotations.get(names.SAFE_TO_EVICT), pod.spec.owner
    if wish in {"true", "on-completion"}:
        return wish == "true"
    if owner is None or owner.kind not in REPLICATED:
        return False
    if pod.spec.namespace == names.KUBE_SYSTEM and not context.budgets_of(pod.spec):
        return pod.created is None or context.now - pod.created >= SYSTEM_POD_BLOCKS_FOR
    return wish != "false"
