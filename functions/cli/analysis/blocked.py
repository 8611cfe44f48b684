"""Who keeps nodes that could go: reasons, nodes and money by namespace, by workload, or by a label of the pods.

Each node counts once, with the first thing that keeps it; `shared` shows how many more nodes an owner keeps that count
with another. So nodes and money of the rows add up to those of all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.metrics import is_missed
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, Unremovable

NAMESPACE: Final = "namespace"
WORKLOAD: Final = "workload"
NOBODY: Final = "-"
"""The owner where no pod and no budget of a namespace keeps the node, or where the pods lack the label."""


@dataclass(frozen=True, slots=True)
class BlockedNodes:
    """What one owner keeps for one reason; `cost` is micro-dollars an hour at list prices."""

    owner: str
    reason: str
    remedy: str
    nodes: int
    cost: int
    shared: int
    """Nodes that it keeps besides, and that count with another owner or reason."""


def blocked_nodes(plan: Plan, snapshot: Snapshot, by: str) -> tuple[BlockedNodes, ...]:
    """Return a row for each owner and reason, the most money first; `by` is a namespace, a workload or a label's name."""
    own: dict[tuple[str, str], list[NodeDecision]] = {}
    others: dict[tuple[str, str], int] = {}
    remedies: dict[str, str] = {}
    owner_of = _owners(snapshot, by)
    proved = frozenset(plan.at_rest.nodes) if plan.at_rest else frozenset()
    for decision in plan.decisions:
        if decision.verdict not in _STAY or not is_missed(decision, proved):
            continue
        keys = dict.fromkeys(_keys(decision, owner_of, remedies))
        first, *rest = keys
        own.setdefault(first, []).append(decision)
        for key in rest:
            others[key] = others.get(key, 0) + 1
    rows = (_row(key, own.get(key, []), others.get(key, 0), remedies) for key in {**own, **others})
    return tuple(sorted(rows, key=lambda row: (-row.cost, -row.nodes, -row.shared, row.owner, row.reason)))


_STAY: Final = frozenset({Verdict.KEEP, Verdict.WAITING})


def _keys(
    decision: NodeDecision, owner_of: Callable[[Blocker], str], remedies: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield owner and reason of all that keeps a node; `remedies` learns what can be done."""
    for blocker in decision.blockers:
        if blocker.reason is not Unremovable.BLOCKED_BY_POD:  # the pods' own words follow
            remedies[blocker.reason.value] = blocker.reason.remedy
            yield owner_of(blocker), blocker.reason.value
    if all(blocker.reason is Unremovable.BLOCKED_BY_POD for blocker in decision.blockers):
        yield NOBODY, decision.reason


def _row(
    key: tuple[str, str], decisions: list[NodeDecision], shared: int, remedies: Mapping[str, str]
) -> BlockedNodes:
    owner, reason = key
    cost = sum(decision.cost for decision in decisions)
    return BlockedNodes(owner, reason, remedies.get(reason, ""), len(decisions), cost, shared)


def _owners(snapshot: Snapshot, by: str) -> Callable[[Blocker], str]:
    """Return what names the owner of a blocker: its object is `namespace/name` of a pod or of a budget, or neither."""
    pods = {pod.key: pod for pod in snapshot.pods}

    def owner(blocker: Blocker) -> str:
        namespace, slash, _ = blocker.object.partition("/")
        pod = pods.get(blocker.object)
        if by == NAMESPACE:
            return namespace if slash and namespace in snapshot.namespaces or pod else NOBODY
        return _of_pod(pod, by) if pod else NOBODY

    return owner


def _of_pod(pod: Pod, by: str) -> str:
    if by == WORKLOAD:
        return pod.spec.workload or pod.key
    return pod.labels.get(by) or NOBODY
