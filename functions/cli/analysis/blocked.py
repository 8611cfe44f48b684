"""Who keeps nodes: reasons, nodes and money by namespace, by workload, or by a label of the pods.

Each node counts once, with the first thing that keeps it; `also` is how many more nodes an owner keeps that count with
another row. So nodes and money of all rows add up to those of all nodes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from functions.cli.analysis.relaxations import workload_of
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, Unremovable

NAMESPACE: Final = "namespace"
WORKLOAD: Final = "workload"
NOBODY: Final = ""
"""Whose are reasons that are about no pod and no budget of a namespace, and pods that lack the label."""
_STAY: Final = frozenset({Verdict.KEEP, Verdict.WAITING})

Key = tuple[str, str]  # An owner and the word of a reason.


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
    owners = _Owners(snapshot, by)
    own: dict[Key, list[NodeDecision]] = defaultdict(list)
    also: Counter[Key] = Counter()
    for decision in filter(lambda decision: decision.verdict in _STAY, plan.decisions):
        first, *others = dict.fromkeys(owners.keys(decision))
        own[first].append(decision)
        also.update(others)
    rows = [
        BlockedNodes(*key, owners.remedies.get(key[1], ""), len(own[key]), sum(row.cost for row in own[key]), also[key])
        for key in {*own, *also}
    ]
    return BlockedBy(by, tuple(sorted(rows, key=lambda row: (-row.cost, -row.nodes, -row.also, row.owner, row.reason))))


class _Owners:
    """Names the owners of what keeps nodes, and remembers what can be done about each reason."""

    def __init__(self, snapshot: Snapshot, by: str) -> None:
        self._snapshot, self._by = snapshot, by
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self.remedies: dict[str, str] = {}

    def keys(self, decision: NodeDecision) -> Iterator[Key]:
        """Yield owner and reason of all that keeps a node, at least one; of pods their own words."""
        own = [blocker for blocker in decision.blockers if blocker.reason is not Unremovable.BLOCKED_BY_POD]
        for blocker in own:
            self.remedies[blocker.reason.value] = blocker.reason.remedy
            yield self._owner(blocker), blocker.reason.value
        if not own:
            yield NOBODY, decision.reason

    def _owner(self, blocker: Blocker) -> str:
        """Return the owner; a blocker is about `namespace/name` of a pod or a budget, a namespace, or neither."""
        namespace, slash, _ = blocker.object.partition("/")
        pod = self._pods.get(blocker.object)
        if self._by == NAMESPACE:
            is_its_own = pod or blocker.reason is Unremovable.NAMESPACE_RATE
            return namespace if is_its_own or (slash and namespace in self._snapshot.namespaces) else NOBODY
        if pod is None:
            return NOBODY
        return workload_of(self._snapshot, pod) if self._by == WORKLOAD else pod.spec.labels.get(self._by, NOBODY)
