"""Which pods tell their ReplicaSet to give them up first: those on the nodes that go next, by a deletion cost.

A ReplicaSet that is scaled in deletes pods of a lower cost first; only ReplicaSets heed it
(https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost). So an evening's scale-in
empties the nodes that a drain would empty otherwise, and that many pods less have to be moved
(docs/decisions/steer-scale-in.md). Must not write: the planner does, and a cost that people wrote is theirs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.pod_kinds import is_of_replica_set
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.planning.cost_order import HIGHEST, LOWEST, costs_of, in_order
from shared.core.planning.plan import Plan, Verdict
from shared.core.policy import Policy
from shared.core.rules.pod_costs import has_written_cost
from shared.core.rules.situation import Situation

MOST_STEERED: Final = 500
"""Pods that carry our cost at once: of the nodes that go first. What is further off is another plan by then."""
MOST_WRITES: Final = 50
"""A pass: ten a minute at the usual schedule. Kubernetes asks that the annotation be written seldom."""


@dataclass(frozen=True, slots=True)
class CostWrite:
    """One pod to be written; None: what is ours is taken back."""

    pod: Pod
    cost: int | None


@dataclass(frozen=True)
class Steering:
    """What a pass does about deletion costs, and how it stands."""

    writes: tuple[CostWrite, ...] = ()
    """What is taken back first; at most `MOST_WRITES`."""
    later: int = 0
    """Writes that are left to later passes."""
    wanted: Mapping[str, int] = field(default_factory=dict)
    """By pod UID: the cost that pods on nodes that go next should carry."""
    nodes: tuple[str, ...] = ()
    """The nodes that those pods are on, the first to go first."""
    marked: tuple[str, ...] = ()
    """ReplicaSets on those nodes that are left alone, for people wrote Ebb's own mark into their pod template."""


def steering(plan: Plan, situation: Situation) -> Steering:
    """Return what is to be written after that plan; in dry run only what is taken back."""
    known = situation.snapshot.workloads
    marks = {name for name, each in known.items() if each.template_mark}
    carrying = (pod for pod in situation.snapshot.pods if pod.steered)
    ours = [pod for pod in carrying if not is_from_template(pod, known.get(pod.spec.workload, UNKNOWN))]
    if not ours and not plan.next_nodes:
        return Steering()
    standing = _standing(ours)
    there = [
        pod for node in in_order(plan.next_nodes, standing) for pod in situation.moving(node) if _can_be_ranked(pod)
    ]
    pods = _worth_steering([pod for pod in there if pod.spec.workload not in marks], situation.snapshot)
    marked = tuple(sorted({pod.spec.workload for pod in there} & marks))
    costs = costs_of(tuple(dict.fromkeys(pod.node for pod in pods)), standing)
    wanted = {pod.uid: costs[pod.node] for pod in pods}
    now = {} if plan.dry_run else wanted
    going = _going(plan, situation.policy)
    back = [CostWrite(pod, None) for pod in ours if not _stays(pod, now, going)]
    new = [CostWrite(pod, now[pod.uid]) for pod in pods if pod.uid in now and not _has(pod, now[pod.uid])]
    writes = (*back, *new)
    return Steering(writes[:MOST_WRITES], max(0, len(writes) - MOST_WRITES), wanted, tuple(costs), marked)


def is_from_template(pod: Pod, workload: Workload) -> bool:
    """Whether the pod got its mark of ours from its template: people copied it there, and its cost is theirs."""
    return bool(pod.steered) and pod.steered == workload.template_mark


def _going(plan: Plan, policy: Policy) -> frozenset[str]:
    """Return the nodes whose pods are about to be moved: there is nothing to be taken back from those."""
    if plan.dry_run:
        return frozenset()
    return frozenset(
        each.name
        for each in plan.decisions
        if each.verdict in {Verdict.ORDER, Verdict.IN_FLIGHT} and policy.pool(each.pool).steer_scale_in
    )


def _stays(pod: Pod, wanted: Mapping[str, int], going: frozenset[str]) -> bool:
    return not has_written_cost(pod.spec) and (pod.uid in wanted or pod.node in going)


def _has(pod: Pod, cost: int) -> bool:
    return pod.steered == str(cost)


def _standing(ours: Iterable[Pod]) -> dict[str, int]:
    """Return the cost that pods of each node carry by now."""
    found: dict[str, int] = {}
    for pod in ours:
        if (cost := _read(pod.steered)) is not None:
            found[pod.node] = min(cost, found.get(pod.node, HIGHEST))
    return found


def _read(written: str) -> int | None:
    """Return the cost that we wrote; None of what cannot be ours."""
    digits = written.removeprefix("-")
    cost = int(written) if digits.isascii() and digits.isdigit() and len(digits) <= len(str(-LOWEST)) else 0
    return cost if LOWEST <= cost <= HIGHEST else None


def _worth_steering(pods: Sequence[Pod], snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return those of the pods that are to carry our cost, in their order."""
    free = _ranked_by_nobody(snapshot, {pod.spec.workload for pod in pods})
    return tuple(pod for pod in pods if pod.spec.workload in free)[:MOST_STEERED]


def _can_be_ranked(pod: Pod) -> bool:
    """Whether a scale-in may choose the pod and would do no harm by it.

    Which pod of a hard spread goes decides how even its zones stay; and the cluster's own pods are not ours to rank.
    """
    spec = pod.spec
    by_replica_set = is_of_replica_set(spec) and spec.namespace != names.KUBE_SYSTEM
    return by_replica_set and pod.deleting is None and not pod.phase.finished and not _is_spread(spec)


def _is_spread(spec: PodClass) -> bool:
    return any(each.topology_key != names.HOSTNAME_LABEL for each in spec.hard_spread)


def _ranked_by_nobody(snapshot: Snapshot, workloads: set[str]) -> frozenset[str]:
    """Return those ReplicaSets of which no pod bears a cost of its people's, and which have a choice between nodes."""
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    theirs: set[str] = set()
    for pod in _of(snapshot.pods, workloads):
        if pod.node:
            nodes[pod.spec.workload].add(pod.node)
        if has_written_cost(pod.spec):
            theirs.add(pod.spec.workload)
    return frozenset(name for name, on in nodes.items() if len(on) > 1) - theirs


def _of(pods: Iterable[Pod], workloads: set[str]) -> Iterator[Pod]:
    """Return the pods of the workloads that have not ended; each class is asked once."""
    known: dict[int, bool] = {}
    for pod in pods:
        spec = pod.spec
        if id(spec) not in known:
            known[id(spec)] = spec.workload in workloads
        if known[id(spec)] and pod.deleting is None and not pod.phase.finished:
            yield pod
