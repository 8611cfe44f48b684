"""What is shown of a plan, made once: the table, JSON, markdown and `ebb explain` all draw this value."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, Self

from functions.cli.analysis.blocked import BlockedBy
from functions.cli.analysis.forecast.scenarios import Committed, Scenarios
from functions.cli.analysis.pools import PoolSummary, pool_summaries, summarize
from functions.cli.errors import near
from functions.cli.input.missing_data import NO_BUDGETS, UNKNOWN_SAVINGS
from functions.cli.input.options import Only, Sort
from functions.cli.input.pricing import PricedNodes
from functions.cli.output.format import WARNING, json_dollars, some
from functions.cli.plan import sentences
from functions.cli.plan.scenarios import DEFAULTS, ScenarioRow, headline, question, rows, steady
from functions.cli.plan.scenarios import sentences as scenario_sentences
from functions.cli.plan.sentences import LegendEntry, legend
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.planning.plan import NodeDecision, Plan, Potential, Verdict
from shared.core.planning.prices import Prices, per_month
from shared.errors import BadInput


class RemovedBy(StrEnum):
    """Who removes a node on the way to the steady state, by its word in JSON."""

    EBB = "ebb"
    AUTOSCALER = "autoscaler"
    STAYS = "stays"


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node. `about` is what stands in its way; `when` is when it may go."""

    decision: NodeDecision
    sentence: str
    """That of its reason; empty where the reason is an order's id."""
    reason: str
    """The word that names the verdict; of a node that a pod keeps the pod's own, with what it is of."""
    about: str
    when: str
    could_go: bool
    removed_by: RemovedBy | None = None

    @property
    def name(self) -> str:
        return self.decision.name

    @property
    def verdict(self) -> str:
        return sentences.VERDICTS[self.decision.verdict]


def _node_views(plan: Plan, could_go: Collection[str]) -> Iterator[NodeView]:
    saved = {order.node: order.saving for order in plan.orders}
    for decision in plan.decisions:
        yield NodeView(
            decision,
            sentence=sentences.of_reason(decision.reason, decision.blockers),
            reason=sentences.reason_of(decision),
            about=sentences.about(decision.blockers),
            when=sentences.when_it_goes(decision, plan.taken_at, saved.get(decision.name, 0)),
            could_go=decision.name in could_go,
        )


def _totals(plan: Plan) -> dict[str, Any]:
    """Return the sums as JSON carries them; `removable` are the nodes whose mark is old enough."""
    marked = [node for node in plan.decisions if node.marked_since is not None]
    removable = [node for node in marked if node.removable_at is not None and node.removable_at <= plan.taken_at]
    return {
        "nodes": len(plan.decisions),
        "pods": plan.pods,
        "pending_pods": plan.pending,
        "orders": len(plan.orders),
        "marked": len(marked),
        "removable": len(removable),
        "cost_per_hour": json_dollars(plan.cost),
        "saving_per_hour": json_dollars(plan.saving),
        "saving_per_month": json_dollars(per_month(plan.saving)),
    }


@dataclass(frozen=True, slots=True)
class ScenariosView:
    values: Scenarios
    rows: tuple[ScenarioRow, ...]
    question: str
    """Why the autoscaler may not have removed what it could; empty if it could remove nothing."""
    steady: str
    notes: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        steady = f"Steady state {self.steady}." if self.steady else ""
        return tuple(filter(None, (self.question, steady, *self.notes)))


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as it is shown; `notes` are its assumptions and limits."""

    plan: Plan
    totals: dict[str, Any]
    nodes: tuple[NodeView, ...]
    pools: tuple[PoolSummary, ...]
    whole: PoolSummary
    potential: Potential | None
    legend: tuple[LegendEntry, ...]
    saving: str
    potential_saving: str
    summary: str
    notes: tuple[str, ...] = ()
    whose: str = DEFAULTS
    """Whose settings of Ebb the plan is made with."""
    partial: str = ""
    """Why no figure is the whole one; empty where all that counts is known."""
    scenarios: ScenariosView | None = None
    """None if the dump lacks pods, or if it was not asked for."""
    prices: Prices | None = None
    priced: PricedNodes | None = None
    committed: Committed | None = None
    """The commitments; None where nothing is committed, so that all money is at list prices."""
    autoscaler: Mapping[str, ScaleDownRule] = field(default_factory=dict)
    """By pool: how the autoscaler takes its nodes away."""
    blocked: BlockedBy | None = None
    """Who keeps nodes; None if the plan is partial."""

    @property
    def summed_up(self) -> Self:
        """The same without its nodes, for who shows many plans in one."""
        plan = replace(self.plan, decisions=(), orders=(), marks={}, savings=None)
        return replace(self, plan=plan, nodes=(), blocked=None)

    @property
    def mark(self) -> str:
        """What stands behind the name of each figure that is not the whole one."""
        return " (partial)" if self.partial else ""

    @property
    def open_points(self) -> tuple[str, ...]:
        """What the rows of the scenarios leave open; without scenarios which commitments are idle now."""
        if self.scenarios or not self.committed:
            return self.scenarios.notes if self.scenarios else ()
        from functions.cli.plan.commitments import idle

        return tuple(idle(self.committed))

    def node(self, name: str) -> NodeView:
        return next(node for node in self.nodes if node.name == name)


def view_of(
    plan: Plan, potential: Potential | None = None, notes: Sequence[str] = (), partial: str = "", whose: str = DEFAULTS
) -> PlanView:
    """Return what is shown of a plan; `potential` is None unless it was asked for."""
    could_go = frozenset(potential.nodes if potential else ())
    return PlanView(
        plan,
        _totals(plan),
        tuple(_node_views(plan, could_go)),
        pools=pool_summaries(plan.decisions, could_go),
        whole=summarize(None, plan.decisions, could_go),
        potential=potential,
        legend=legend(plan),
        saving=UNKNOWN_SAVINGS if partial else sentences.saving(plan),
        potential_saving=sentences.potential_saving(plan, potential) if potential else "",
        summary=f"Partial: {UNKNOWN_SAVINGS}" if partial else sentences.summary(plan),
        notes=tuple(notes),
        whose=whose,
        partial=partial,
    )


MOMENT: Final = "These figures are for the pods of one moment; ebb simulate shows days, which may save more or less."
UNKNOWN_BUDGETS: Final = "PDBs are unknown: fewer nodes may go."


def with_scenarios(view: PlanView, scenarios: Scenarios, *, pools_known: bool = True) -> PlanView:
    unknown = f" {UNKNOWN_BUDGETS}" if f"{WARNING}{NO_BUDGETS}" in view.notes else ""
    summary = f"{headline(scenarios, view.whose, view.plan.taken_at)}{unknown}"
    decisions, could_go = view.plan.decisions, view.potential.nodes if view.potential else ()
    pools = pool_summaries(decisions, could_go, scenarios.gone)
    whole = summarize(None, decisions, could_go, scenarios.gone)
    doubt, by = question(scenarios, view.autoscaler, pools_known=pools_known), steady(scenarios, view.plan.taken_at)
    notes = (*_of_commitments(view, scenarios), *scenario_sentences(scenarios), MOMENT)
    shown = ScenariosView(scenarios, rows(scenarios, view.whose), doubt, by, notes)
    nodes = tuple(replace(node, removed_by=_removed_by(node.decision, scenarios)) for node in view.nodes)
    return replace(view, scenarios=shown, summary=summary, pools=pools, whole=whole, nodes=nodes)


def _of_commitments(view: PlanView, scenarios: Scenarios) -> Iterator[str]:
    if view.committed:
        from functions.cli.plan import commitments

        yield from commitments.sentences(view.committed, scenarios)


_BY_EBB: Final = frozenset({Verdict.IN_FLIGHT, Verdict.ORDER, Verdict.WOULD_ORDER})


def _removed_by(node: NodeDecision, scenarios: Scenarios) -> RemovedBy:
    if node.name not in scenarios.gone:
        return RemovedBy.STAYS
    drained = node.name in scenarios.begins or node.verdict in _BY_EBB
    return RemovedBy.EBB if drained else RemovedBy.AUTOSCALER


_FULL: Final = Fraction(10**6)
_KEYS: Final[Mapping[Sort, Callable[[NodeView], Any]]] = {
    Sort.NAME: lambda node: node.name,
    Sort.COST: lambda node: (-node.decision.cost, node.name),
    Sort.CPU: lambda node: (_FULL if node.decision.cpu_ratio is None else node.decision.cpu_ratio, node.name),
    Sort.MEMORY: lambda node: (_FULL if node.decision.memory_ratio is None else node.decision.memory_ratio, node.name),
    Sort.REASON: lambda node: (node.reason, node.name),
}


@dataclass(frozen=True, slots=True)
class AskedNodes:
    """What a person asked to be listed; by default nodes are summed up and not listed."""

    nodes: bool = False
    pools: tuple[str, ...] = ()
    only: tuple[Only, ...] = ()
    sort: Sort | None = None
    top: int | None = None
    owners: bool = False
    """Whether people are shown who keeps nodes."""

    @property
    def lists_nodes(self) -> bool:
        return bool(self.nodes or self.pools or self.only or self.sort or self.top)

    def choose(self, nodes: Iterable[NodeView]) -> list[NodeView]:
        """Return the nodes that were asked for, in the order given unless another was asked for."""
        found = filter(self._wants, nodes)
        return sorted(found, key=_KEYS[self.sort]) if self.sort else list(found)

    def _wants(self, node: NodeView) -> bool:
        # the words of `Only` are those of verdicts; what a dry run would order counts as ordered
        word = node.decision.verdict.value.removeprefix("would_").replace("_", "-")
        return (not self.pools or node.decision.pool in self.pools) and (not self.only or word in self.only)


EVERY_NODE: Final = AskedNodes(nodes=True)


@dataclass(frozen=True, slots=True)
class Shown:
    """The nodes to be listed, those of one verdict together, and how many more there are of those asked for."""

    nodes: tuple[NodeView, ...]
    more: int
    sort: Sort | None = None


def list_nodes(view: PlanView, request: AskedNodes) -> Shown:
    """Return the nodes by verdict: orders as they were taken and the others sorted, unless another order was asked."""
    taken = {order.node: number for number, order in enumerate(view.plan.orders)}
    found = sorted(view.nodes, key=lambda node: (taken.get(node.name, len(taken)), *_place(node.decision)))
    asked = request.choose(found)
    groups = ([node for node in asked if node.decision.verdict is verdict] for verdict in sentences.VERDICTS)
    shown = tuple(node for own in groups for node in own[: request.top])
    return Shown(shown, len(asked) - len(shown), request.sort)


def _place(decision: NodeDecision) -> tuple[str, ...]:
    due = decision.removable_at.isoformat() if decision.removable_at else ""
    if decision.verdict is Verdict.WAITING:
        return (due, decision.pool, decision.name)
    return (decision.pool, decision.reason, decision.name)


def check_pools(views: Sequence[PlanView], pools: Sequence[str]) -> None:
    """Raise BadInput for a pool that no cluster has."""
    known = {node.decision.pool for view in views for node in view.nodes}
    for pool in pools:
        if pool not in known:
            meant, has = near(pool, known), some(sorted(known - {""}), 5)
            raise BadInput(f"--pool: there is no pool {pool!r}; there are {has}{f'; {meant}' if meant else '.'}")
