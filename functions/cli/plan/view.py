"""What is shown of a plan, made once: the table, the JSON and one node explained are drawn from this value alone.

Numbers are the plan's own (exact ratios, micro-dollars an hour), beside them the sentences that a person reads; the
nodes stand twice, as the plan has them and in groups as a person reads: what goes, what waits, what is going, what
stays. Must not decide anything, and must not know the terminal or a format.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.analysis.pool_summaries import PoolSummary, pool_summaries, whole_cluster
from functions.cli.format import some
from functions.cli.gaps import nothing_of_savings
from functions.cli.plan import sentences
from functions.cli.plan.ladder_rows import LadderRow, headline, rows
from functions.cli.plan.ladder_rows import sentences as ladder_sentences
from functions.cli.plan.legend import LegendEntry, legend
from functions.cli.plan.node_views import NodeView, VerdictGroup, node_views, verdict_groups
from functions.cli.pricing import PricedNodes
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.planning.plan import AtRest, Plan, PlannedOrder, Potential
from shared.core.planning.prices import Prices
from shared.errors import BadInput


@dataclass(frozen=True, slots=True)
class Totals:
    """`pending`: pods without a node; `marked`: nodes with a mark; `removable`: those whose mark is old enough."""

    nodes: int
    pods: int
    pending: int
    orders: int
    marked: int
    removable: int
    cost: int
    saving: int


@dataclass(frozen=True, slots=True)
class LadderView:
    """The ladder as values, and as a person reads it."""

    ladder: Ladder
    rows: tuple[LadderRow, ...]
    sentences: tuple[str, ...]
    headline: str


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as it is shown; `notes` say what it rests on."""

    cluster: str
    taken_at: datetime
    policy_hash: str
    dry_run: bool
    totals: Totals
    nodes: tuple[NodeView, ...]
    groups: tuple[VerdictGroup, ...]
    pools: tuple[PoolSummary, ...]
    whole: PoolSummary
    orders: tuple[PlannedOrder, ...]
    at_rest: AtRest | None
    potential: Potential | None
    legend: tuple[LegendEntry, ...]
    saving: str
    potential_saving: str
    summary: str
    notes: tuple[str, ...] = ()
    partial: str = ""
    """Why no figure is the whole one; empty where all that counts is known."""
    ladder: LadderView | None = None
    """None where no rung could be the whole one."""
    prices: Prices | None = None
    """What all money rests on."""
    priced: PricedNodes | None = None
    """And how these nodes are priced by it."""
    autoscaler: Mapping[str, ScaleDownRule] = field(default_factory=dict)
    """By pool: how the autoscaler takes its nodes away."""

    @property
    def mark(self) -> str:
        """What stands behind the name of each figure that is not the whole one."""
        return " (partial)" if self.partial else ""

    def node(self, name: str) -> NodeView:
        """Return a node, by its name or by an end of it that no other node shares.

        Raises:
            BadInput: no node, or more than one, is meant.
        """
        exact = [each for each in self.nodes if each.name == name]
        found = exact or [each for each in self.nodes if each.name.endswith(name)]
        if len(found) > 1:
            raise BadInput(f"NODE: {name!r} is the end of {some([each.name for each in found])}; write the whole name.")
        if not found:
            raise BadInput(f"NODE: no node {name!r} among the {len(self.nodes):,} of the cluster; see ebb plan.")
        return found[0]


def view_of(plan: Plan, potential: Potential | None = None, notes: Sequence[str] = (), partial: str = "") -> PlanView:
    """Return what is shown of a plan; `potential` is None unless it was asked for."""
    could_go = frozenset(potential.nodes if potential else ())
    nodes = node_views(plan, could_go)
    return PlanView(
        cluster=plan.cluster,
        taken_at=plan.taken_at,
        policy_hash=plan.policy_hash,
        dry_run=plan.dry_run,
        totals=_totals(plan),
        nodes=nodes,
        groups=verdict_groups(nodes, plan.orders),
        pools=pool_summaries(plan.decisions, could_go),
        whole=whole_cluster(plan.decisions, could_go),
        orders=plan.orders,
        at_rest=plan.at_rest,
        potential=potential,
        legend=legend(plan),
        saving=nothing_of_savings(partial) if partial else sentences.saving(plan),
        potential_saving=sentences.potential_saving(plan, potential) if potential else "",
        summary=f"Partial: {nothing_of_savings(partial)}" if partial else sentences.summary(plan),
        notes=tuple(notes),
        partial=partial,
    )


def with_ladder(view: PlanView, ladder: Ladder, whose: str) -> PlanView:
    """Return the view with the ladder, whose headline it ends with; `whose` are the settings at rest."""
    told = headline(ladder, whose, view.taken_at)
    shown = LadderView(ladder, rows(ladder, whose), tuple(ladder_sentences(ladder, view.taken_at)), told)
    decisions, could_go = [node.decision for node in view.nodes], view.potential.nodes if view.potential else ()
    pools = pool_summaries(decisions, could_go, ladder.gone)
    whole = whole_cluster(decisions, could_go, ladder.gone)
    return replace(view, ladder=shown, summary=told, pools=pools, whole=whole)


def _totals(plan: Plan) -> Totals:
    marked = [each for each in plan.decisions if each.marked_since is not None]
    removable = [each for each in marked if each.removable_at is not None and each.removable_at <= plan.taken_at]
    sums = len(plan.orders), len(marked), len(removable), plan.cost, plan.saving
    return Totals(len(plan.decisions), plan.pods, plan.pending, *sums)
