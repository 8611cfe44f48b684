"""Which pods a ReplicaSet deletes first: those on the nodes that go next, by a deletion cost.

A ReplicaSet that is scaled in deletes pods of a lower cost first; only ReplicaSets heed it. So an evening's scale-in
empties the nodes that a drain would empty otherwise (docs/decisions/steer-scale-in.md). Costs leave room between them,
so that few pods are written again.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, is_of_replica_set
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.planning.candidates import AssessedNode
from shared.core.planning.plan import Plan, Verdict
from shared.core.planning.selection import RemovalOrder, Selection
from shared.core.planning.steady_state import Searcher
from shared.core.policy import Policy
from shared.core.reasons import Unremovable
from shared.core.rules.counts import NodeCounts
from shared.core.rules.gates import is_only_paced
from shared.core.rules.pod_costs import has_written_cost
from shared.core.rules.situation import Situation

_is_paced_or_shut: Final = partial(is_only_paced, but_for=Unremovable.OUTSIDE_WINDOWS)
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
    writes: tuple[CostWrite, ...] = ()  # What is taken back first; at most `MOST_WRITES`.
    later: int = 0  # Writes that are left to later passes.
    wanted: Mapping[str, int] = field(default_factory=dict)
    """By pod UID: the cost that pods on nodes that go next should carry."""
    nodes: tuple[str, ...] = ()  # The nodes that those pods are on, the first to go first.
    marked: tuple[str, ...] = ()
    """ReplicaSets on those nodes that are left alone, for people wrote Ebb's own mark into their pod template."""


def steering(plan: Plan, situation: Situation) -> Steering:
    """Return what is to be written after that plan; in dry run only what is taken back."""
    known = situation.snapshot.workloads
    marks = {name for name, workload in known.items() if workload.template_mark}
    carrying = (pod for pod in situation.snapshot.pods if pod.steered)
    ours = [pod for pod in carrying if not is_from_template(pod, known.get(pod.spec.workload, UNKNOWN))]
    if not ours and not plan.next_nodes:
        return Steering()
    standing = _standing(ours)
    moving = (pod for node in in_order(plan.next_nodes, standing) for pod in situation.moving(node))
    there = [pod for pod in moving if _can_be_ranked(pod)]
    unmarked = [pod for pod in there if pod.spec.workload not in marks]
    free = _ranked_by_nobody(situation.snapshot, {pod.spec.workload for pod in unmarked})
    pods = tuple(pod for pod in unmarked if pod.spec.workload in free)[:MOST_STEERED]
    marked = tuple(sorted({pod.spec.workload for pod in there} & marks))
    costs = costs_of(tuple(dict.fromkeys(pod.node for pod in pods)), standing)
    wanted = {pod.uid: costs[pod.node] for pod in pods}
    now = {} if plan.dry_run else wanted
    going = _going(plan, situation.policy)
    kept = {pod.uid for pod in ours if pod.uid in now or pod.node in going}
    back = [CostWrite(pod, None) for pod in ours if pod.uid not in kept or has_written_cost(pod.spec)]
    new = [CostWrite(pod, now[pod.uid]) for pod in pods if pod.uid in now and pod.steered != str(now[pod.uid])]
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
        decision.name
        for decision in plan.decisions
        if decision.verdict in {Verdict.ORDER, Verdict.IN_FLIGHT} and policy.pool(decision.pool).steer_scale_in
    )


def _standing(ours: Iterable[Pod]) -> dict[str, int]:
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


def _can_be_ranked(pod: Pod) -> bool:
    """Whether a scale-in may choose the pod and would do no harm by it."""
    # Which pod of a hard spread goes decides how even its zones stay; the cluster's own pods are not ours.
    spec = pod.spec
    by_replica_set = is_of_replica_set(spec) and spec.namespace != names.KUBE_SYSTEM
    is_spread = any(constraint.topology_key != names.HOSTNAME_LABEL for constraint in spec.hard_spread)
    return by_replica_set and pod.deleting is None and not pod.phase.finished and not is_spread


def _ranked_by_nobody(snapshot: Snapshot, workloads: set[str]) -> frozenset[str]:
    """Return those ReplicaSets of which no pod has a cost of its people's, and which have a choice between nodes."""
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    theirs: set[str] = set()
    for pod in snapshot.pods:
        if pod.spec.workload in workloads and pod.deleting is None and not pod.phase.finished:
            if pod.node:
                nodes[pod.spec.workload].add(pod.node)
            if has_written_cost(pod.spec):
                theirs.add(pod.spec.workload)
    return frozenset(name for name, on in nodes.items() if len(on) > 1) - theirs


def next_nodes(
    situation: Situation, selection: Selection, rows: Sequence[AssessedNode], counts: NodeCounts, searcher: Searcher
) -> tuple[str, ...]:
    """Return the nodes that go after those taken, in the order of removal."""
    # `counts` are those before anything was taken.
    steered = [pool for pool in situation.snapshot.nodes_by_pool if situation.policy.pool(pool).steer_scale_in]
    if not steered:
        return ()
    for row in selection.taken:
        counts = counts.with_claim(row.node)
    going = selection.simulation.announced.union(row.node.name for row in selection.taken)
    order = RemovalOrder(situation, searcher.savings)
    left = sorted((row for row in rows if row.node.name not in going), key=order)
    # The plan that the pass followed stands, unless a window keeps nodes out.
    able = [row for row in left if row.is_candidate]
    paced = ((counts, row.node, row.reason) for row in able)
    shut = any(_is_paced_or_shut(*asked) and not is_only_paced(*asked) for asked in paced)
    made = None if shut else selection.at_rest
    plan = made or searcher.find_steady_state(
        situation, left, counts, selection.simulation, selection.savings, _is_paced_or_shut
    )
    chosen = frozenset(plan.nodes)
    return tuple(row.node.name for row in left if row.node.pool in steered and row.node.name in chosen)


LOWEST: Final = -1000  # Above what people write who mean a pod to go before all others.
HIGHEST: Final = -1  # Below what a pod counts that has no cost.
NEAR: Final = 5  # No node's place by cost is so many places or more from its place in the plan.


def in_order(planned: Sequence[str], standing: Mapping[str, int]) -> list[str]:
    """Return the nodes as planned, but those that carry a cost before others that go at about the same time."""
    place = {node: index for index, node in enumerate(planned)}
    left, found = list(planned), list[str]()
    while left:
        is_late = len(found) - place[left[0]] >= NEAR - 1
        near = range(1 if is_late else min(NEAR, len(left)))
        found.append(left.pop(min(near, key=lambda index: standing.get(left[index], 0))))
    return found


def costs_of(ordered: Sequence[str], standing: Mapping[str, int]) -> dict[str, int]:
    """Return the cost of each node's pods, rising in that order; at most as many nodes as there are costs."""
    # `standing` is what nodes have by now, within the range. If they leave no room, all begin again in the middle.
    costs = [standing.get(node) for node in ordered]
    kept = _keep_most_costs(costs, room=1)
    if not kept or len(kept) < len(_keep_most_costs(costs, room=0)):
        step = _step(len(ordered))
        start = (LOWEST + HIGHEST - step * (len(ordered) - 1)) // 2
        return {node: start + step * place for place, node in enumerate(ordered)}
    return dict(zip(ordered, _fill_costs(kept, len(ordered)), strict=True))


def _step(nodes: int) -> int:
    """Return how far costs lie apart: half of the range is left to those that come before and behind."""
    return max(1, (HIGHEST - LOWEST + 1) // (2 * nodes + 1))


def _fill_costs(kept: Sequence[tuple[int, int]], nodes: int) -> list[int]:
    """Return all costs, given the places that keep theirs: evenly between two of these, else step by step."""
    (first, least), (last, most), step = kept[0], kept[-1], _step(nodes)
    low = (-1, max(LOWEST - 1, least - step * (first + 1)))
    high = (nodes, min(HIGHEST + 1, most + step * (nodes - last)))
    bounds = pairwise((low, *kept, high))
    found = [
        below + (above - below) * (place - before) // (after - before)
        for (before, below), (after, above) in bounds
        for place in range(before, after)
    ]
    return found[1:]


def _keep_most_costs(costs: Sequence[int | None], *, room: int) -> list[tuple[int, int]]:
    """Return the most places whose costs may stay: they rise, and leave so much room to each between them."""
    # A cost less the room up to its place must never fall: the longest such sequence is found in one walk.
    levels: list[int] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place, cost in enumerate(costs):
        if cost is None or not LOWEST + room * place <= cost <= HIGHEST - room * (len(costs) - 1 - place):
            continue
        length = bisect_right(levels, cost - room * place)
        levels[length : length + 1] = [cost - room * place]
        ends[length : length + 1] = [place]
        before[place] = ends[length - 1] if length else None
    found: list[tuple[int, int]] = []
    last = ends[-1] if ends else None
    while last is not None and (cost := costs[last]) is not None:
        found.append((last, cost))
        last = before[last]
    return found[::-1]
