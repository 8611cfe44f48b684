"""Who keeps nodes: reasons, nodes and money by namespace, by workload, or by a label of the pods.

Each node counts once, with the first thing that keeps it; `also` is how many more nodes an owner keeps that count with
another row. So nodes and money of all rows add up to those of all nodes.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from functions.cli.analysis.relaxations import workload_of
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, Unremovable

NAMESPACE: Final = "namespace"
WORKLOAD: Final = "workload"
NOBODY: Final = ""
"""Whose are reasons that are about no pod and no budget of a namespace, and pods that lack the label."""
_STAY: Final = frozenset({Verdict.KEEP, Verdict.WAITING})

_Key = tuple[str, str, str]  # An owner, the word of a reason, and its remedy.


@dataclass(frozen=True, slots=True)
class BlockedNodes:
    """What one owner keeps for one reason; `cost` is micro-dollars an hour at list prices."""

    owner: str
    reason: str
    remedy: str
    nodes: int
    cost: int
    also: int  # Nodes that it keeps as well, and that count with another row.


@dataclass(frozen=True, slots=True)
class BlockedBy:
    """A row for each owner and reason, the most money first; `by` is what owners are."""

    by: str
    rows: tuple[BlockedNodes, ...]

    @property
    def nodes(self) -> int:
        return sum(row.nodes for row in self.rows)

    @property
    def cost(self) -> int:
        return sum(row.cost for row in self.rows)


def blocked_nodes(plan: Plan, snapshot: Snapshot, by: str = NAMESPACE) -> BlockedBy:
    """Return who keeps nodes; `by` is `namespace`, `workload`, or the name of a label of pods such as `team`."""
    owner_of = partial(_owner, snapshot, {pod.key: pod for pod in snapshot.pods}, by)
    own: dict[_Key, list[NodeDecision]] = defaultdict(list)
    also: Counter[_Key] = Counter()
    for decision in filter(lambda decision: decision.verdict in _STAY, plan.decisions):
        first, *others = dict.fromkeys(_keys(decision, owner_of))
        own[first].append(decision)
        also.update(others)
    rows = [BlockedNodes(*key, len(own[key]), sum(row.cost for row in own[key]), also[key]) for key in {*own, *also}]
    return BlockedBy(by, tuple(sorted(rows, key=lambda row: (-row.cost, -row.nodes, -row.also, row.owner, row.reason))))


def _keys(decision: NodeDecision, owner_of: Callable[[Blocker], str]) -> Iterator[_Key]:
    """Yield the key of all that keeps a node, at least one; of pods their own words."""
    own = [blocker for blocker in decision.blockers if blocker.reason is not Unremovable.BLOCKED_BY_POD]
    yield from ((owner_of(blocker), blocker.reason.value, blocker.reason.remedy) for blocker in own)
    if not own:
        yield NOBODY, decision.reason, ""


def _owner(snapshot: Snapshot, pods: Mapping[str, Pod], by: str, blocker: Blocker) -> str:
    """Return the owner; a blocker is about `namespace/name` of a pod or a budget, a namespace, or neither."""
    namespace, slash, _ = blocker.object.partition("/")
    pod = pods.get(blocker.object)
    if by == NAMESPACE:
        is_its_own = pod or blocker.reason is Unremovable.NAMESPACE_RATE
        return namespace if is_its_own or (slash and namespace in snapshot.namespaces) else NOBODY
    if pod is None:
        return NOBODY
    return workload_of(snapshot, pod) if by == WORKLOAD else pod.spec.labels.get(by, NOBODY)
