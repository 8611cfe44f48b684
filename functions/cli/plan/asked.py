"""Which of a plan's nodes a person asked to see, and in which order.

Pure: nodes in, nodes out. Must not change what the sums count: they are of the whole plan whatever is shown.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from functions.cli.format import some
from functions.cli.options import Only, Sort
from functions.cli.plan.node_views import NodeView, VerdictGroup
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict
from shared.errors import BadInput

_VERDICTS: Final[Mapping[Only, frozenset[Verdict]]] = {
    Only.ORDER: frozenset({Verdict.ORDER, Verdict.WOULD_ORDER}),
    Only.WAITING: frozenset({Verdict.WAITING}),
    Only.IN_FLIGHT: frozenset({Verdict.IN_FLIGHT}),
    Only.KEEP: frozenset({Verdict.KEEP}),
}
_FULL: Final = Fraction(10**6)
"""What a node without a ratio is sorted as: last."""
_KEYS: Final[Mapping[Sort, Callable[[NodeView], Any]]] = {
    Sort.NAME: lambda node: node.name,
    Sort.COST: lambda node: (-node.decision.cost, node.name),
    Sort.CPU: lambda node: (_FULL if node.decision.cpu_ratio is None else node.decision.cpu_ratio, node.name),
    Sort.MEMORY: lambda node: (_FULL if node.decision.memory_ratio is None else node.decision.memory_ratio, node.name),
    Sort.REASON: lambda node: (node.reason, node.name),
}


@dataclass(frozen=True, slots=True)
class AskedNodes:
    """What a person asked for; with nothing of it the nodes are summed up and not listed."""

    nodes: bool = False
    pools: tuple[str, ...] = ()
    only: tuple[Only, ...] = ()
    sort: Sort | None = None
    top: int | None = None

    @property
    def lists_nodes(self) -> bool:
        return bool(self.nodes or self.pools or self.only or self.sort or self.top)

    def wants(self, node: NodeView) -> bool:
        in_pool = not self.pools or node.decision.pool in self.pools
        return in_pool and (not self.only or any(node.decision.verdict in _VERDICTS[each] for each in self.only))


EVERY_NODE: Final = AskedNodes(nodes=True)


@dataclass(frozen=True, slots=True)
class Shown:
    """The nodes to be listed by verdict, and how many more there are of those asked for."""

    groups: tuple[VerdictGroup, ...]
    more: int
    sort: Sort | None = None

    @property
    def nodes(self) -> tuple[NodeView, ...]:
        return tuple(node for group in self.groups for node in group.nodes)


def shown(view: PlanView, asked: AskedNodes) -> Shown:
    """Return the nodes that were asked for; `top` counts in each verdict."""
    groups = [VerdictGroup(each.verdict, _chosen(each.nodes, asked)) for each in view.groups]
    kept = tuple(VerdictGroup(each.verdict, each.nodes[: asked.top]) for each in groups if each.nodes)
    return Shown(kept, sum(len(each.nodes) for each in groups) - sum(len(each.nodes) for each in kept), asked.sort)


def wanted(view: PlanView, asked: AskedNodes) -> tuple[NodeView, ...]:
    """Return the nodes that were asked for in the plan's own order, unless another was asked for: what a tool reads."""
    return _chosen(view.nodes, asked)[: asked.top]


def _chosen(nodes: Iterable[NodeView], asked: AskedNodes) -> tuple[NodeView, ...]:
    found = [node for node in nodes if asked.wants(node)]
    return tuple(sorted(found, key=_KEYS[asked.sort]) if asked.sort else found)


def check_pools(views: Sequence[PlanView], pools: Sequence[str]) -> None:
    """Check that each pool that was asked for is one of a cluster's.

    Raises:
        BadInput: no cluster has a pool of that name.
    """
    known = {node.decision.pool for view in views for node in view.nodes}
    one = len(views) == 1
    for pool in pools:
        if pool not in known:
            has = some(sorted(known - {""}), 5)
            nowhere = (
                f"the cluster has no pool {pool!r}; it has" if one else f"no cluster has a pool {pool!r}; there are"
            )
            raise BadInput(f"--pool: {nowhere} {has}.")
